// In charge of: the SQL of the parts of a divided job, one statement per function.
// Not in charge of: what follows from their states (scheduler/applyEvent.ts), the change of one task (tasks.ts).
import type { JobError } from '#contract/errors.ts'
import type { TaskEvent, TaskState } from '#contract/task/lifecycle.ts'
import { LAST_CHUNK, REST } from '#contract/task/partPositions.ts'
import { MAIN_TASK } from '#contract/taskId.ts'
import { all, first } from './statement.ts'

export interface PartRef {
  id: string
  job_id: string
}

/** Of a part: one that must be stored before it starts is not. */
export const isHeldBack = (part: string) =>
  `EXISTS (SELECT 1 FROM tasks AS divided
         WHERE divided.id = ${part}.main AND ${part}.part = divided.survey_parts + ${REST}
           AND NOT EXISTS (SELECT 1 FROM tasks AS earlier WHERE earlier.main = divided.id
             AND earlier.part = divided.survey_parts + ${LAST_CHUNK} AND earlier.state = 'completed'))`

/** Of a part (`tasks`) of `whole`: its position in `chunks.map` (inMapOrder); null = it takes samples. */
const MAP_POSITION = `CASE WHEN tasks.part >= whole.survey_parts
       THEN (tasks.part - whole.survey_parts + whole.parts - whole.survey_parts - ${REST + 1}) % (whole.parts - whole.survey_parts) END`

/** Of a main task: it has ended. Its parts have no more use, and none may start. */
const hasEnded = (main: string) => `${main}.state IN ('completed', 'failed', 'cancelled')`

/**
 * In one batch after `updateTask`: has no effect unless the main task is now divided by that attempt into that
 * many parts. A repeated message adds nothing, since the ids are given.
 */
export function insertParts(
  db: D1Database,
  main: string,
  attempt: number,
  parts: number,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO tasks (id, job, account, kind, state, priority, not_before, updated_at, timeline, main, part, hurry_at, predicted_seconds)
       WITH RECURSIVE numbers (part) AS (SELECT 0 UNION ALL SELECT part + 1 FROM numbers WHERE part + 1 < ?3)
       SELECT jobs.job_id || '-' || (numbers.part + ${MAIN_TASK + 1}), jobs.id, whole.account, 'part', 'queued', whole.priority, 0, ?4,
         json_array(json_object('type', 'job.created', 'at', CAST(?4 AS INTEGER))), whole.id, numbers.part, whole.hurry_at,
         CASE WHEN whole.parts = whole.survey_parts THEN json_extract(whole.plan, '$.division.samplingSeconds') / whole.parts
           ELSE json_extract(whole.plan, '$.division.seconds') / (whole.parts - whole.survey_parts) END
         FROM tasks AS whole JOIN jobs ON jobs.id = whole.job JOIN numbers
         WHERE whole.id = ?1 AND whole.attempt = ?2 AND whole.state = 'divided' AND whole.parts = ?3
       ON CONFLICT (id) DO NOTHING`,
    )
    .bind(main, attempt, parts, now)
}

/**
 * In one batch after `updateTask`: once the main task has ended, none of its waiting parts starts. Those at work are
 * ended one by one, because each may have used something that counts.
 */
export function cancelWaitingParts(db: D1Database, main: string, now: number): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE tasks SET state = 'cancelled', updated_at = ?2
       WHERE main = ?1 AND state = 'queued'
         AND EXISTS (SELECT 1 FROM tasks AS whole WHERE whole.id = ?1 AND ${hasEnded('whole')})`,
    )
    .bind(main, now)
}

/** Of a job's timeline, which is one row: lost attempts at its parts are not added without end. */
const MOST_EVENTS = 200

/** In one batch after `updateTask` of a part: an attempt that was lost stands in the timeline of the job, too, once. */
export function addLostPart(db: D1Database, part: string, attempt: number): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE tasks AS whole SET timeline = json_insert(whole.timeline, '$[#]',
           json_set(json_extract(tasks.timeline, '$[#-1]'), '$.of', tasks.id, '$.part', ${MAP_POSITION}))
         FROM tasks
         WHERE tasks.id = ?1 AND json_extract(tasks.timeline, '$[#-1].type') = 'attempt.lost'
           AND json_extract(tasks.timeline, '$[#-1].attempt') = ?2
           AND whole.id = tasks.main AND whole.state = 'divided' AND json_array_length(whole.timeline) < ${MOST_EVENTS}
           AND NOT EXISTS (SELECT 1 FROM json_each(whole.timeline) AS known
             WHERE json_extract(known.value, '$.of') = ?1 AND json_extract(known.value, '$.attempt') = ?2)`,
    )
    .bind(part, attempt)
}

/** Parts that have not ended. */
export function listOpenParts(db: D1Database, main: string): Promise<PartRef[]> {
  return all<PartRef>(
    db,
    `SELECT tasks.id, jobs.job_id FROM tasks JOIN jobs ON jobs.id = tasks.job
       WHERE tasks.main = ?1 AND tasks.state IN ('queued', 'starting', 'running') ORDER BY tasks.part`,
    [main],
  )
}

/** Parts of which an attempt was started: they may have stored something. */
export async function listBegunParts(db: D1Database, main: string): Promise<string[]> {
  const rows = await all<{ id: string }>(db, `SELECT id FROM tasks WHERE main = ?1 AND attempt > 0 ORDER BY part`, [
    main,
  ])
  return rows.map(({ id }) => id)
}

/** The build of ffmpeg with which all parts of a divided job are made; null = its plan names none. */
export async function findPlannedBuild(db: D1Database, main: string): Promise<string | null> {
  const row = await first<{ build: string | null }>(
    db,
    `SELECT json_extract(plan, '$.engine.build') AS build FROM tasks WHERE id = ?1`,
    [main],
  )
  return row?.build ?? null
}

/** `division` of the plan of a divided job, as JSON. */
export function selectDivision(db: D1Database, main: string): D1PreparedStatement {
  return db.prepare(`SELECT json_extract(plan, '$.division') AS division FROM tasks WHERE id = ?1`).bind(main)
}

/**
 * When a transcoder was last at work on a part of this job, in milliseconds since 1970; before the first, when the job
 * was divided. A part whose last start failed says nothing about it.
 */
export async function findLastWork(db: D1Database, main: string, now: number): Promise<number> {
  const row = await first<{ at: number }>(
    db,
    `SELECT MAX(whole.updated_at, COALESCE(
         (SELECT MAX(CASE WHEN part.state = 'running' THEN ?2 ELSE part.updated_at END) FROM tasks AS part
           WHERE part.main = ?1 AND part.state <> 'starting' AND part.attempt > 0 AND part.starts_failed = 0), 0)) AS at
       FROM tasks AS whole WHERE whole.id = ?1`,
    [main, now],
  )
  return row?.at ?? now
}

const PART_STATES = `SELECT state, attempt FROM tasks WHERE main = ?1 ORDER BY part`

interface PartState {
  state: TaskState
  attempt: number
}

/** The parts of a divided job in their order. */
export async function listPartStates(db: D1Database, main: string): Promise<PartState[]> {
  return all(db, PART_STATES, [main])
}

/** What the plan of a divided job says of its division, with the same names. */
interface PlannedDivision {
  chunks?: number[]
  seconds?: number
  samplingSeconds?: number
}

/** The same in one request with the division in its plan. */
export async function readParts(
  db: D1Database,
  main: string,
): Promise<{ states: PartState[]; division: PlannedDivision }> {
  const [states, plans] = await db.batch([db.prepare(PART_STATES).bind(main), selectDivision(db, main)])
  const [plan] = plans!.results as { division: string | null }[]
  return {
    states: states!.results as PartState[],
    division: plan?.division == null ? {} : (JSON.parse(plan.division) as PlannedDivision),
  }
}

/** The attempt that stored a part; null = none has. */
export async function findStoredAttempt(db: D1Database, main: string, part: number): Promise<number | null> {
  const row = await first<{ attempt: number }>(
    db,
    `SELECT attempt FROM tasks WHERE main = ?1 AND part = ?2 AND state = 'completed'`,
    [main, part],
  )
  return row?.attempt ?? null
}

/** What the states of its parts mean for a divided main task; null = the parts are not done yet. */
export async function findEventOfParts(db: D1Database, main: string): Promise<TaskEvent | null> {
  interface Row {
    attempt: number
    parts: number
    completed: number
    failed: number
    part: number | null
    error: string | null
  }
  // With the only MIN of a query, SQLite takes the columns beside it from the row of the minimum.
  const row = await first<Row>(
    db,
    `SELECT whole.attempt, whole.parts, SUM(tasks.state = 'completed') AS completed, SUM(tasks.state = 'failed') AS failed,
         MIN(CASE WHEN tasks.state = 'failed' THEN tasks.part END), ${MAP_POSITION} AS part,
         json_extract(tasks.timeline, '$[#-1].error') AS error
       FROM tasks AS whole JOIN tasks ON tasks.main = whole.id
       WHERE whole.id = ?1 AND whole.state = 'divided' GROUP BY whole.id`,
    [main],
  )
  if (row === null) return null
  if (row.failed > 0) {
    const error = row.error === null ? null : (JSON.parse(row.error) as JobError)
    return { type: 'part_failed', error: ofPart(row.part, error ?? { code: 'internal', message: 'It failed.' }) }
  }
  return row.completed === row.parts ? { type: 'parts_done', attempt: row.attempt } : null
}

/** `part`: in `chunks.map`; null = it takes samples. */
function ofPart(part: number | null, error: JobError): JobError {
  const place = part === null ? 'A part that takes samples' : `Part ${part}`
  return { ...error, message: `${place}: ${error.message}`, details: { ...error.details, part } }
}

/** Divided main tasks that could go on or have to fail: the request that ended their last part died before it said so. */
export function listSettledMains(db: D1Database, limit: number): Promise<PartRef[]> {
  return all<PartRef>(
    db,
    `SELECT tasks.id, jobs.job_id FROM tasks JOIN jobs ON jobs.id = tasks.job
       WHERE tasks.state IN ('starting', 'running', 'divided', 'committing') AND tasks.state = 'divided'
         AND (NOT EXISTS (SELECT 1 FROM tasks AS part WHERE part.main = tasks.id AND part.state <> 'completed')
           OR EXISTS (SELECT 1 FROM tasks AS part WHERE part.main = tasks.id AND part.state = 'failed'))
       LIMIT ?1`,
    [limit],
  )
}

/** Parts that outlived their main task: the request that ended it died before it ended them, or they were given back. */
export function listOrphanedParts(db: D1Database, limit: number): Promise<PartRef[]> {
  // By name: completed parts are kept, and an index of all parts would read every one of them.
  const orphans = (index: string, states: string) =>
    `SELECT tasks.id, jobs.job_id FROM tasks INDEXED BY ${index} JOIN jobs ON jobs.id = tasks.job
       JOIN tasks AS whole ON whole.id = tasks.main
       WHERE ${states} AND tasks.main IS NOT NULL AND ${hasEnded('whole')}`
  return all<PartRef>(
    db,
    `${orphans('tasks_waiting', `tasks.state = 'queued'`)} UNION ALL
     ${orphans('tasks_at_work', `tasks.state IN ('starting', 'running', 'divided', 'committing')`)} LIMIT ?1`,
    [limit],
  )
}
