// In charge of: the SQL of twins: second tasks at the last parts of a divided job, one statement per function.
// Not in charge of: which part gets one (scheduler/straggler.ts), what both mean for their job (parts.ts).
import type { TaskState } from '#contract/task/lifecycle.ts'
import { REST } from '#contract/task/partPositions.ts'
import { MAIN_TASK, TWIN_ATTEMPT, TWIN_TASKS } from '#contract/taskId.ts'
import { isHeldBack, type PartRef } from './parts.ts'
import { all } from './statement.ts'

/** Of one job, so that transcoders which are all slow do not encode everything twice. */
const MAX_TWINS = 4

export interface ChunkRow {
  id: string
  part: number
  twin: 0 | 1
  state: TaskState
  attempt: number
  /** Of a running attempt: when it asked for its task. */
  updated_at: number
  /** Of a completed task: how long the attempt took that stored the chunk, in milliseconds. */
  took: number | null
}

/** A task waits, of any job, and could use a slot now or soon. */
const IS_WANTED = `EXISTS (SELECT 1 FROM tasks AS waiting WHERE waiting.state = 'queued' AND NOT ${isHeldBack('waiting')})`

/** The tasks that encode the chunks of a divided job; none while any task waits for a slot. */
export function listChunks(db: D1Database, main: string): Promise<ChunkRow[]> {
  return all<ChunkRow>(
    db,
    `SELECT tasks.id, tasks.part, tasks.twin, tasks.state, tasks.attempt, tasks.updated_at,
         CASE WHEN tasks.state = 'completed' THEN tasks.updated_at - json_extract(tasks.timeline, '$[#-2].at') END AS took
       FROM tasks JOIN tasks AS whole ON whole.id = tasks.main
       WHERE tasks.main = ?1 AND whole.state = 'divided' AND NOT ${IS_WANTED}
         AND tasks.part >= whole.survey_parts AND tasks.part <> whole.survey_parts + ${REST}
       ORDER BY tasks.part, tasks.twin`,
    [main],
  )
}

/**
 * It starts at once, or not at all: a twin never waits, so it takes no slot that anything else could use. Nothing is
 * inserted if the part was stored or lost meanwhile, has a twin, or the slot or the account has no room for one.
 */
export function insertTwin(
  db: D1Database,
  of: { id: string; attempt: number },
  slot: number,
  leaseUntil: number,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO tasks (id, job, account, kind, state, attempt, slot, lease_until, priority, not_before, updated_at, timeline, main, part, twin, hurry_at)
       SELECT jobs.job_id || '-' || (tasks.part + ${MAIN_TASK + 1 + TWIN_TASKS}), tasks.job, tasks.account, 'part', 'starting', ${TWIN_ATTEMPT}, ?3, ?4,
         tasks.priority, 0, ?5, json_array(json_object('type', 'job.created', 'at', CAST(?5 AS INTEGER))), tasks.main, tasks.part, 1, tasks.hurry_at
         FROM tasks JOIN jobs ON jobs.id = tasks.job JOIN tasks AS whole ON whole.id = tasks.main
         WHERE tasks.id = ?1 AND tasks.attempt = ?2 AND tasks.state = 'running' AND tasks.twin = 0 AND whole.state = 'divided'
           AND NOT ${IS_WANTED}
           AND NOT EXISTS (SELECT 1 FROM slots WHERE k = ?3 AND (task IS NOT NULL OR free_at > ?5))
           AND (SELECT COUNT(*) FROM slots WHERE slots.account = tasks.account)
             < COALESCE((SELECT max_running FROM accounts WHERE accounts.account = tasks.account), 1000000)
           AND (SELECT COUNT(*) FROM tasks AS other WHERE other.main = whole.id AND other.twin = 1) < ${MAX_TWINS}
       ON CONFLICT (id) DO NOTHING RETURNING id`,
    )
    .bind(of.id, of.attempt, slot, leaseUntil, now)
}

/** The other task at a part that this one has stored, unless it has ended. */
export function listOpenTwins(db: D1Database, task: string): Promise<PartRef[]> {
  return all<PartRef>(
    db,
    `SELECT other.id, jobs.job_id FROM tasks JOIN tasks AS other ON other.main = tasks.main AND other.part = tasks.part
       JOIN jobs ON jobs.id = other.job
       WHERE tasks.id = ?1 AND tasks.state = 'completed' AND other.id <> tasks.id AND other.state IN ('queued', 'starting', 'running')`,
    [task],
  )
}
