// In charge of: the SQL of tasks and slots, one statement a function. Every change of state is one guarded UPDATE:
// it names the state and fence that it saw, so a second writer changes nothing.
// Not in charge of: which change is right (contract/task/lifecycle.ts).
import type { TaskLifecycle } from '#contract/task/lifecycle.ts'
import { jobState, terminal } from '#contract/task/lifecycle.ts'
import type { StoredEvent } from '#contract/api/events.ts'

export interface TaskRow extends TaskLifecycle {
  id: string
  job: number
  account: string
  slot: number | null
  plan: string | null
  priority: number
  not_before: number
  lease_until: number | null
  updated_at: number
  job_id: string
  /** 1 = somebody wants to be told of the end. */
  webhook: number
}

/** Adds one event (JSON, or null for none) to the timeline, in the statement that makes it happen. */
const appendToTimeline = (parameter: string) =>
  `timeline = CASE WHEN ${parameter} IS NULL THEN timeline ELSE json_insert(timeline, '$[#]', json(${parameter})) END`

const columns = `tasks.id, tasks.job, tasks.account, tasks.kind, tasks.state, tasks.attempt, tasks.lost, tasks.starts_failed, tasks.slot, tasks.plan,
  tasks.priority, tasks.not_before, tasks.lease_until, tasks.updated_at, jobs.job_id, jobs.webhook`

export function findTask(db: D1Database, task: string) {
  return db
    .prepare(`SELECT ${columns} FROM tasks JOIN jobs ON jobs.id = tasks.job WHERE tasks.id = ?1`)
    .bind(task)
    .first<TaskRow>()
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

/** The guarded UPDATE. Returns the row when this caller made the change, nothing when another was first. */
export function updateTask(db: D1Database, task: string, change: TaskChange): D1PreparedStatement {
  const { from, next } = change
  return db
    .prepare(
      `UPDATE tasks SET state = ?2, attempt = ?3, lost = ?4, slot = ?5, not_before = ?6, lease_until = ?7, updated_at = ?8,
         starts_failed = ?13, ${appendToTimeline('?12')}
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
    )
}

/** The same for a claim, which also needs the slot to be free: full slots change nothing. */
export function claimTask(db: D1Database, task: string, change: TaskChange): D1PreparedStatement {
  const { from, next } = change
  return db
    .prepare(
      `UPDATE tasks SET state = ?2, attempt = ?3, slot = ?4, lease_until = ?5, updated_at = ?6
       WHERE id = ?1 AND state = ?7 AND attempt = ?8 AND lost = ?9
         AND NOT EXISTS (SELECT 1 FROM slots WHERE k = ?4 AND (task IS NOT NULL OR free_at > ?6))
         AND NOT EXISTS (SELECT 1 FROM slots WHERE task = ?1)
         AND (SELECT COUNT(*) FROM slots WHERE slots.account = tasks.account)
           < COALESCE((SELECT max_running FROM accounts WHERE accounts.account = tasks.account), 1000000)
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

/** In one batch with `claimTask`: takes the slot only where the claim took the task. */
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
 * A batch goes on where its first statement changed nothing because another was first: the slot of an attempt that turns
 * out to be starting or running stays its own.
 */
const attemptIsOver = `NOT EXISTS (SELECT 1 FROM tasks WHERE id = ?1 AND attempt = ?2 AND state IN ('starting', 'running'))`

/** In one batch behind `changeTask`. */
export function releaseSlot(db: D1Database, task: string, attempt: number): D1PreparedStatement {
  return db.prepare(`DELETE FROM slots WHERE task = ?1 AND attempt = ?2 AND ${attemptIsOver}`).bind(task, attempt)
}

/** The same, but not offered before `freeAt`, so that a dead transcoder does not eat every start. */
export function coolDownSlot(db: D1Database, task: string, attempt: number, freeAt: number): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE slots SET task = NULL, attempt = NULL, account = NULL, free_at = ?3
       WHERE task = ?1 AND attempt = ?2 AND ${attemptIsOver}`,
    )
    .bind(task, attempt, freeAt)
}

export interface JobResult {
  error: string | null
  outputs: string | null
  progress: string | null
  warnings: string | null
  estimate: string | null
}

/**
 * Mirrors a task's new state on its job, in one batch behind `changeTask`: it changes nothing unless the task now is
 * what `next` says, and never a job that has ended (I2).
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
      jobState(next.state),
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

/** Not part of every `TaskRow`: a plan may have more than a megabyte, and only transcoders read it. */
export function decodePlan(plan: string | null): unknown {
  return plan === null ? null : (JSON.parse(plan) as unknown)
}

/** The first plan that was written wins: every later attempt is given that one. Returns it, or null for a stale attempt. */
export async function savePlan(
  db: D1Database,
  task: string,
  attempt: number,
  plan: string,
  now: number,
): Promise<{ plan: unknown } | null> {
  const event: StoredEvent = { type: 'job.planned', at: now, attempt }
  const row = await db
    .prepare(
      `UPDATE tasks SET plan = COALESCE(plan, ?3),
         timeline = CASE WHEN plan IS NULL THEN json_insert(timeline, '$[#]', json(?4)) ELSE timeline END
       WHERE id = ?1 AND attempt = ?2 AND state = 'running' RETURNING plan`,
    )
    .bind(task, attempt, plan, JSON.stringify(event))
    .first<{ plan: string }>()
  return row && { plan: decodePlan(row.plan) }
}

/** Slots that are taken or resting. */
export async function listBusySlots(db: D1Database, now: number): Promise<number[]> {
  const { results } = await db
    .prepare(`SELECT k FROM slots WHERE task IS NOT NULL OR free_at > ?1`)
    .bind(now)
    .all<{ k: number }>()
  return results.map((row) => row.k)
}

/**
 * Waiting tasks in the order in which they should start: priority first; then fair share by weight, where an account's nth
 * waiting task stands behind everybody's (n − 1)th, counting what already runs; then the account whose last start lies
 * longest back, so that accounts take turns where there is a single slot; then who has waited longest.
 *
 * A task that was given back has waited since then, not since it was made, and its account was served until then: what is
 * lost again and again does not take the turns of others. No account gets more than its `max_running`; what stands
 * behind that does not keep others waiting.
 */
export async function listWaitingTasks(db: D1Database, now: number, limit: number): Promise<TaskRow[]> {
  const { results } = await db
    .prepare(
      `WITH waiting AS (
         SELECT id, account, not_before,
           ROW_NUMBER() OVER (PARTITION BY account, priority ORDER BY updated_at, job) AS place,
           ROW_NUMBER() OVER (PARTITION BY account ORDER BY not_before > ?1, priority DESC, updated_at, job) AS nth,
           MAX(CASE WHEN attempt > 0 THEN updated_at ELSE 0 END) OVER (PARTITION BY account) AS given_back
         FROM tasks WHERE state = 'queued'
       ), shares AS (
         SELECT owner.account, COALESCE(accounts.weight, 1) AS weight, accounts.max_running,
           (SELECT COUNT(*) FROM slots WHERE slots.account = owner.account) AS busy,
           COALESCE((SELECT MAX(started_at) FROM jobs
             WHERE jobs.account = owner.account AND started_at IS NOT NULL), 0) AS started
         FROM (SELECT DISTINCT account FROM waiting) AS owner LEFT JOIN accounts ON accounts.account = owner.account
       )
       SELECT ${columns} FROM waiting JOIN shares ON shares.account = waiting.account
         JOIN tasks ON tasks.id = waiting.id JOIN jobs ON jobs.id = tasks.job
       WHERE waiting.not_before <= ?1 AND (max_running IS NULL OR busy + nth <= max_running)
       ORDER BY tasks.priority DESC, (busy + place) / weight, MAX(started, given_back), tasks.updated_at, tasks.job
       LIMIT ?2`,
    )
    .bind(now, limit)
    .all<TaskRow>()
  return results
}

/** Tasks whose start may be lost (the queue message, the consumer), and tasks that D1 has not seen change for long. */
export async function listUnattendedTasks(
  db: D1Database,
  now: number,
  startMs: number,
  quietMs: number,
  limit: number,
): Promise<Pick<TaskRow, 'id' | 'job_id' | 'attempt' | 'state' | 'lease_until'>[]> {
  const { results } = await db
    .prepare(
      `SELECT tasks.id, jobs.job_id, tasks.attempt, tasks.state, tasks.lease_until FROM tasks JOIN jobs ON jobs.id = tasks.job
       WHERE tasks.state IN ('starting', 'running', 'committing')
         AND tasks.updated_at < CASE tasks.state WHEN 'starting' THEN ?1 ELSE ?2 END
       LIMIT ?3`,
    )
    .bind(now - startMs, now - quietMs, limit)
    .all<Pick<TaskRow, 'id' | 'job_id' | 'attempt' | 'state' | 'lease_until'>>()
  return results
}

/** What has happened to a job so far. */
export async function findTimeline(
  db: D1Database,
  jobId: string,
): Promise<{ timeline: StoredEvent[]; finished_at: number | null } | null> {
  const row = await db
    .prepare(
      `SELECT tasks.timeline, jobs.finished_at FROM jobs JOIN tasks ON tasks.job = jobs.id
       WHERE jobs.job_id = ?1 AND jobs.deleted_at IS NULL`,
    )
    .bind(jobId)
    .first<{ timeline: string; finished_at: number | null }>()
  return row && { ...row, timeline: JSON.parse(row.timeline) as StoredEvent[] }
}
