// In charge of: the SQL of tasks and slots, one statement per function. Every change of state is one guarded UPDATE: it
// names the state and attempt that were read, so that a second writer changes nothing.
// Not in charge of: which change is right (contract/task/lifecycle.ts).
import { MAIN_TASK } from '#contract/taskId.ts'
import { MAX_JOB_PARTS } from '#contract/limits.ts'
import { jobState, terminal, type TaskLifecycle } from '#contract/task/lifecycle.ts'
import type { StoredEvent } from '#contract/api/events.ts'
import { isHeldBack } from './parts.ts'
import { all, first } from './statement.ts'

export interface TaskRow extends TaskLifecycle {
  id: string
  job: number
  account: string
  slot: number | null
  /** 1 = a plan is stored (findPlan). */
  has_plan: 0 | 1
  priority: number
  not_before: number
  lease_until: number | null
  updated_at: number
  /** Of a part: its main task, and its position from 0. */
  main: string | null
  part: number | null
  job_id: string
  /** 1 = a webhook is sent at the end. */
  webhook: number
}

/** Without the plan: hundreds of parts may wait. */
export type WaitingTask = Pick<TaskRow, 'id' | 'account' | 'kind' | 'main' | 'part'>

/** With what is counted of a change (metrics/transitionTotals.ts). */
export interface CountedTaskRow extends TaskRow {
  /** Stored events, as JSON. */
  timeline: string
  /** Duration of the probed source; null = unknown. */
  source_seconds: number | null
}

/** Joined to `jobs`: the main task of each, and none of its parts. */
export const MAIN_TASK_OF_JOB = `tasks ON tasks.id = jobs.job_id || '-${MAIN_TASK}'`

/** Appends one event (JSON, or null for none) to the timeline, in the statement of the change itself. */
const appendToTimeline = (parameter: string) =>
  `timeline = CASE WHEN ${parameter} IS NULL THEN timeline ELSE json_insert(timeline, '$[#]', json(${parameter})) END`

const columns = `tasks.id, tasks.job, tasks.account, tasks.kind, tasks.state, tasks.attempt, tasks.lost, tasks.excused, tasks.furthest, tasks.evicted, tasks.starts_failed, tasks.slot, tasks.plan IS NOT NULL AS has_plan,
  tasks.priority, tasks.not_before, tasks.lease_until, tasks.updated_at, tasks.main, tasks.part, tasks.parts, tasks.survey_parts, jobs.job_id, jobs.webhook`

export function findTask(db: D1Database, task: string) {
  return first<CountedTaskRow>(
    db,
    `SELECT ${columns}, tasks.timeline, json_extract(jobs.source, '$.duration_seconds') AS source_seconds
       FROM tasks JOIN jobs ON jobs.id = tasks.job WHERE tasks.id = ?1`,
    [task],
  )
}

/** As JSON. Not part of every `TaskRow`: it may be larger than a megabyte, and only transcoders read it. */
export async function findPlan(db: D1Database, task: string): Promise<string | null> {
  return (await first<{ plan: string | null }>(db, `SELECT plan FROM tasks WHERE id = ?1`, [task]))?.plan ?? null
}

export interface TaskChange {
  from: TaskLifecycle
  next: TaskLifecycle
  now: number
  notBefore: number
  leaseUntil: number | null
  slot: number | null
  /** For the timeline. */
  event: StoredEvent | null
}

/** The guarded UPDATE. Returns the row if it was changed, nothing if another writer was first. */
export function updateTask(db: D1Database, task: string, change: TaskChange): D1PreparedStatement {
  const { from, next } = change
  return db
    .prepare(
      `UPDATE tasks SET state = ?2, attempt = ?3, lost = ?4, slot = ?5, not_before = ?6, lease_until = ?7, updated_at = ?8,
         starts_failed = ?13, starts_failed_total = starts_failed_total + (?13 > starts_failed),
         excused = ?14, furthest = ?15, evicted = ?16, parts = ?17, survey_parts = ?18, ${appendToTimeline('?12')}
       WHERE id = ?1 AND state = ?9 AND attempt = ?10 AND lost = ?11
       RETURNING id`,
    )
    .bind(
      task,
      next.state,
      next.attempt,
      next.lost,
      change.slot,
      change.notBefore,
      change.leaseUntil,
      change.now,
      from.state,
      from.attempt,
      from.lost,
      change.event && JSON.stringify(change.event),
      next.starts_failed,
      next.excused,
      next.furthest,
      next.evicted,
      next.parts,
      next.survey_parts,
    )
}

/**
 * The same for a claim, which also requires a free slot: without one, nothing changes. A part starts only while its
 * main task waits for it, and after the part that it needs.
 */
export function claimTask(db: D1Database, task: string, change: TaskChange): D1PreparedStatement {
  const { from, next } = change
  return db
    .prepare(
      `UPDATE tasks SET state = ?2, attempt = ?3, slot = ?4, lease_until = ?5, updated_at = ?6
       WHERE id = ?1 AND state = ?7 AND attempt = ?8 AND lost = ?9
         AND NOT EXISTS (SELECT 1 FROM slots WHERE k = ?4 AND (task IS NOT NULL OR free_at > ?6))
         AND NOT EXISTS (SELECT 1 FROM slots WHERE task = ?1)
         AND (main IS NULL OR EXISTS (SELECT 1 FROM tasks AS whole WHERE whole.id = tasks.main AND whole.state = 'divided'))
         AND NOT ${isHeldBack('tasks')}
         AND (kind = 'plan' OR (SELECT COUNT(*) FROM slots WHERE slots.account = tasks.account)
           < COALESCE((SELECT max_running FROM accounts WHERE accounts.account = tasks.account), 1000000))
       RETURNING id`,
    )
    .bind(
      task,
      next.state,
      next.attempt,
      change.slot,
      change.leaseUntil,
      change.now,
      from.state,
      from.attempt,
      from.lost,
    )
}

/** In one batch with `claimTask`: occupies the slot only if the claim changed the task. */
export function occupySlot(db: D1Database, task: string, attempt: number, k: number): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO slots (k, task, attempt, account, free_at)
       SELECT ?1, id, attempt, account, 0 FROM tasks WHERE id = ?2 AND attempt = ?3 AND state = 'starting' AND slot = ?1
       ON CONFLICT (k) DO UPDATE SET task = excluded.task, attempt = excluded.attempt, account = excluded.account, free_at = 0
         WHERE slots.task IS NULL`,
    )
    .bind(k, task, attempt)
}

/**
 * A batch continues if its first statement changed nothing because another writer was first. The slot of an attempt
 * that is starting or running must then stay occupied.
 */
const attemptIsOver = `NOT EXISTS (SELECT 1 FROM tasks WHERE id = ?1 AND attempt = ?2 AND state IN ('starting', 'running'))`

/** In one batch after `updateTask`. */
export function releaseSlot(db: D1Database, task: string, attempt: number): D1PreparedStatement {
  return db.prepare(`DELETE FROM slots WHERE task = ?1 AND attempt = ?2 AND ${attemptIsOver}`).bind(task, attempt)
}

/**
 * The same, but the slot stays unavailable until `freeAt`, so that a dead transcoder does not fail every start.
 * `unfitFor`: the divided job whose parts its transcoder cannot make.
 */
export function coolDownSlot(
  db: D1Database,
  task: string,
  attempt: number,
  freeAt: number,
  unfitFor: string | null,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE slots SET task = NULL, attempt = NULL, account = NULL, free_at = ?3, unfit_for = ?4
       WHERE task = ?1 AND attempt = ?2 AND ${attemptIsOver}`,
    )
    .bind(task, attempt, freeAt, unfitFor)
}

export interface JobResult {
  error: string | null
  outputs: string | null
  progress: string | null
  warnings: string | null
  estimate: string | null
}

/**
 * Copies a task's new state to its job, in one batch after `updateTask`. Has no effect unless the task now has the
 * state of `next`, and never changes a job that has ended (I2).
 */
export function updateJobFromTask(
  db: D1Database,
  task: TaskRow,
  next: TaskLifecycle,
  now: number,
  end: JobResult,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE jobs SET state = ?2, updated_at = ?3,
         started_at = CASE WHEN ?2 = 'running' THEN COALESCE(started_at, ?3) ELSE started_at END,
         finished_at = CASE WHEN ?4 THEN ?3 ELSE finished_at END,
         error = COALESCE(?5, error), outputs = COALESCE(?6, outputs), progress = COALESCE(?7, progress),
         warnings = COALESCE(?8, warnings), estimate = COALESCE(?13, estimate)
       WHERE id = ?1 AND state IN ('queued', 'running', 'committing')
         AND EXISTS (SELECT 1 FROM tasks WHERE id = ?9 AND state = ?10 AND attempt = ?11 AND lost = ?12)`,
    )
    .bind(
      task.job,
      jobState(next),
      now,
      terminal[next.state] ? 1 : 0,
      end.error,
      end.outputs,
      end.progress,
      end.warnings,
      task.id,
      next.state,
      next.attempt,
      next.lost,
      end.estimate,
    )
}

export interface KnownSlot {
  k: number
  busy: 0 | 1
  /** The divided job whose parts its transcoder could not make a short time ago. */
  unfit_for: string | null
}

/** Then a slot is tried again: its transcoder may be a new one. */
const UNFIT_MS = 5 * 60_000

export function decodePlan(plan: string | null): unknown {
  return plan === null ? null : (JSON.parse(plan) as unknown)
}

/**
 * The first plan that was stored stays, and all later attempts use it, unless one replaces it. Returns the stored plan,
 * or null for a stale attempt, and for a part, which follows the plan of its main task.
 */
export async function savePlan(
  db: D1Database,
  task: string,
  attempt: number,
  plan: string,
  replaces: boolean,
  now: number,
): Promise<{ plan: unknown } | null> {
  const event: StoredEvent = { type: 'job.planned', at: now, attempt }
  const row = await first<{ plan: string }>(
    db,
    `UPDATE tasks SET plan = CASE WHEN ?5 THEN ?3 ELSE COALESCE(plan, ?3) END,
         timeline = CASE WHEN plan IS NULL THEN json_insert(timeline, '$[#]', json(?4)) ELSE timeline END
       WHERE id = ?1 AND attempt = ?2 AND state = 'running' AND main IS NULL RETURNING plan`,
    [task, attempt, plan, JSON.stringify(event), replaces ? 1 : 0],
  )
  return row && { plan: decodePlan(row.plan) }
}

/**
 * The slots that have a row. busy = 1: occupied, or cooling down after a failed start. busy = 0: free, but their last
 * start failed; those that failed longest ago come first. All other slots are free.
 */
export async function listKnownSlots(db: D1Database, now: number): Promise<KnownSlot[]> {
  return all(
    db,
    `SELECT k, task IS NOT NULL OR free_at > ?1 AS busy, CASE WHEN free_at > ?2 THEN unfit_for END AS unfit_for
       FROM slots ORDER BY free_at, k`,
    [now, now - UNFIT_MS],
  )
}

/** A job that names no end time hurries, too, once it has waited for half of the time after which it would be ended. */
const HURRY_AFTER_MS = 12 * 3600_000

/** Among the candidates of one account (listWaitingTasks). */
const ownOrder = `CASE WHEN kind = 'plan' THEN -1 WHEN remaining = 0 THEN 0 WHEN hurries THEN 1 ELSE remaining + 1 END, since, job, part`

/**
 * Waiting tasks in the order in which they should start: by priority; then fair share by weight: an account's nth
 * waiting task comes after the (n − 1)th of every other account, counting running tasks too; then the account whose
 * last start was longest ago, so that accounts take turns when there is a single slot; then the longest waiting time.
 *
 * Among an account's own tasks, those of divided jobs come first, of the job with the fewest unfinished parts, so that
 * what was begun ends before more is begun; its parts by their numbers, also one that was lost, but none before the part
 * that it needs. The start of a part is a start of its account.
 *
 * Before parts come the tasks of jobs that hurry, because half of the time is over until the end that their client wants
 * (`hurry_at`). Among these, the longest waiting time decides, so that none is overtaken again and again. Before these comes
 * what only has to be put together, and first of all dry runs, which take seconds and for which people wait.
 *
 * The waiting time of a task that was returned to the queue starts anew (that of a part is its job's), and its account counts as served until then,
 * so that a task that is lost again and again does not take the turns of others. No account gets more than its
 * `max_running`; its further tasks do not block others.
 */
export function listWaitingTasks(db: D1Database, now: number, limit: number): Promise<WaitingTask[]> {
  return all<WaitingTask>(db, inOrder(`max_running IS NULL OR busy + nth <= max_running`), [now, limit])
}

/** The same of dry runs alone, for slots that take nothing else: `max_running` counts what keeps others from transcoders. */
export function listWaitingDryRuns(db: D1Database, now: number, limit: number): Promise<WaitingTask[]> {
  return all<WaitingTask>(db, inOrder(`tasks.kind = 'plan'`), [now, limit])
}

const inOrder = (which: string) => `WITH begun AS (
         SELECT part.main, whole.updated_at AS since, SUM(part.state <> 'completed') AS unfinished,
           MAX(CASE WHEN part.attempt > 0 THEN part.updated_at ELSE 0 END) AS served
         FROM tasks AS part JOIN tasks AS whole ON whole.id = part.main
         WHERE part.main IN (SELECT main FROM tasks INDEXED BY tasks_waiting WHERE state = 'queued' AND main IS NOT NULL) AND whole.state = 'divided'
         GROUP BY part.main
       ), candidates AS (
         SELECT tasks.id, tasks.account, tasks.priority, tasks.not_before, COALESCE(begun.since, tasks.updated_at) AS since, tasks.job, tasks.part, tasks.kind,
           COALESCE(tasks.hurry_at, COALESCE(begun.since, tasks.updated_at) + ${HURRY_AFTER_MS}) <= ?1 AS hurries,
           CASE WHEN tasks.parts > 0 THEN 0 ELSE COALESCE(begun.unfinished, ${MAX_JOB_PARTS + 1}) END AS remaining,
           MAX(CASE WHEN tasks.attempt > 0 AND tasks.parts = 0 THEN tasks.updated_at ELSE 0 END, COALESCE(begun.served, 0)) AS served
         FROM tasks LEFT JOIN begun ON begun.main = tasks.main
         WHERE tasks.state = 'queued' AND (tasks.main IS NULL OR begun.main IS NOT NULL) AND NOT ${isHeldBack('tasks')}
       ), waiting AS (
         SELECT id, account, not_before, since,
           ROW_NUMBER() OVER (PARTITION BY account, priority ORDER BY ${ownOrder}) AS place,
           ROW_NUMBER() OVER (PARTITION BY account ORDER BY not_before > ?1, priority DESC, ${ownOrder}) AS nth,
           MAX(served) OVER (PARTITION BY account) AS given_back
         FROM candidates
       ), shares AS (
         SELECT owner.account, COALESCE(accounts.weight, 1) AS weight, accounts.max_running,
           (SELECT COUNT(*) FROM slots WHERE slots.account = owner.account) AS busy,
           COALESCE((SELECT MAX(started_at) FROM jobs
             WHERE jobs.account = owner.account AND started_at IS NOT NULL), 0) AS started
         FROM (SELECT DISTINCT account FROM waiting) AS owner LEFT JOIN accounts ON accounts.account = owner.account
       )
       SELECT tasks.id, tasks.account, tasks.kind, tasks.main, tasks.part FROM waiting JOIN shares ON shares.account = waiting.account
         JOIN tasks ON tasks.id = waiting.id
       WHERE waiting.not_before <= ?1 AND (${which})
       ORDER BY tasks.priority DESC, (busy + place) / weight, MAX(started, given_back), since, tasks.job, tasks.part
       LIMIT ?2`

/**
 * Tasks whose start may have been lost (queue message, consumer), and tasks unchanged in D1 for a long time. Those come
 * last: a divided job is unchanged for hours, and starts must not wait behind many of them.
 */
export async function listUnattendedTasks(
  db: D1Database,
  now: number,
  startMs: number,
  quietMs: number,
  limit: number,
): Promise<Pick<TaskRow, 'id' | 'job_id' | 'attempt' | 'state' | 'lease_until'>[]> {
  return all<Pick<TaskRow, 'id' | 'job_id' | 'attempt' | 'state' | 'lease_until'>>(
    db,
    `SELECT tasks.id, jobs.job_id, tasks.attempt, tasks.state, tasks.lease_until FROM tasks JOIN jobs ON jobs.id = tasks.job
       WHERE tasks.state IN ('starting', 'running', 'divided', 'committing')
         AND tasks.updated_at < CASE tasks.state WHEN 'starting' THEN ?1 ELSE ?2 END
       ORDER BY tasks.state <> 'starting', tasks.updated_at, tasks.id LIMIT ?3`,
    [now - startMs, now - quietMs, limit],
  )
}

/** The events of a job so far. */
export async function findTimeline(
  db: D1Database,
  jobId: string,
): Promise<{ timeline: StoredEvent[]; finished_at: number | null } | null> {
  const row = await first<{ timeline: string; finished_at: number | null }>(
    db,
    `SELECT tasks.timeline, jobs.finished_at FROM jobs JOIN ${MAIN_TASK_OF_JOB}
       WHERE jobs.job_id = ?1 AND jobs.deleted_at IS NULL`,
    [jobId],
  )
  return row && { ...row, timeline: JSON.parse(row.timeline) as StoredEvent[] }
}
