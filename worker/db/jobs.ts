// In charge of: the SQL of jobs, one statement per function, and decoding the JSON of a row into typed values.
// Not in charge of: lists and searches (jobList.ts), task transitions (tasks.ts), the public form
// (contract/api/status.ts).
import type { JobError, Warning } from '#contract/errors.ts'
import type { Estimate, SourceReport } from '#contract/task/dryRunEstimate.ts'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import type { JobState, StartFailure, TaskKind, TaskState } from '#contract/task/lifecycle.ts'
import { MAX_QUEUE_POSITION } from '#contract/limits.ts'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import type { FinishedObject, ProgressPost } from '#contract/task/protocol.ts'
import { MAIN_TASK_OF_JOB } from './tasks.ts'
import type { StoredPoster } from './sourceReports.ts'
import { all, first } from './statement.ts'

/** A row of `jobs` as D1 returns it. */
export interface JobRow {
  id: number
  job_id: string
  account: string
  state: JobState
  config: string
  sealed: string | null
  warnings: string
  error: string | null
  outputs: string | null
  progress: string | null
  estimate: string | null
  priority: number
  created_at: number
  started_at: number | null
  finished_at: number | null
  updated_at: number
  deadline_at: number
  retry_of: number | null
  deleted_at: number | null
  /** 1 = a dry run that is in no list, and is deleted soon after its end. */
  unlisted: 0 | 1
  /** null = created before names were stored. */
  input_name: string | null
  source: string | null
  poster: string | null
  /** Which webhook_url is notified of the end: 0 = none, 1 = the job's own, 2 = that of its API key. */
  webhook: 0 | 1 | 2
}

/** Owner of the webhook_url that is notified of the job's end; null = none. */
export type WebhookOwner = 'job' | 'key' | null
const webhookCodes = { none: 0, job: 1, key: 2 } as const

/** A job with its task (one per job in this version). */
export interface JobWithTaskRow extends JobRow {
  task: string
  kind: TaskKind
  task_state: TaskState
  /** Tasks into which the job is divided; 0 = it is not. */
  parts: number
  survey_parts: number
  attempt: number
  lost: number
  /** Consecutive failures. */
  starts_failed: number
  /** A queued task is not started before this time; milliseconds since 1970. */
  not_before: number
  /** For a waiting task: why its last attempt ended, if a reason was given. */
  lost_to: string | null
  /** For a task whose starts fail: why the latest one did that its events tell. */
  start_failure: StartFailure | null
}

/** One entry of `status.outputs[]` as stored. Its URLs are created at every read. */
export interface StoredOutput {
  path: string
  location: string
  size: number
  sha256: string
  etag: string
  content_type: string
  profile: number | null
  role: FinishedObject['role']
  segments?: { count: number; bytes: number }
  /** Missing for files without media. */
  media?: MediaFacts
}

/** The decoded types of the JSON columns. */
interface Decoded {
  config: JobConfig
  warnings: Warning[]
  error: JobError | null
  /** null = none yet, or removed. */
  outputs: StoredOutput[] | null
  progress: ProgressPost | null
  estimate: Estimate | null
  /** Set once the source was probed. */
  source: SourceReport | null
  poster: StoredPoster | null
  lost_to: JobError | null
}

/** A job and its task with decoded columns. */
export type Job = Omit<JobWithTaskRow, keyof Decoded> & Decoded

export function decodeJob<R extends JobWithTaskRow>(row: R): Omit<R, keyof Decoded> & Decoded {
  const { config, warnings, error, outputs, progress, estimate, source, poster, lost_to: lostTo } = row
  return {
    ...row,
    config: decodeConfig(config),
    warnings: decodeWarnings(warnings),
    error: decodeOptional(error) as JobError | null,
    outputs: decodeOptional(outputs) as StoredOutput[] | null,
    progress: decodeOptional(progress) as ProgressPost | null,
    estimate: decodeOptional(estimate) as Estimate | null,
    source: decodeOptional(source) as SourceReport | null,
    poster: decodePoster(poster),
    lost_to: decodeOptional(lostTo) as JobError | null,
  }
}

/** It was validated when stored. The addresses in it are authenticated with the credentials (secrets/vault.ts). */
export function decodeConfig(text: string): JobConfig {
  return JSON.parse(text) as JobConfig
}

export function decodeWarnings(text: string): Warning[] {
  return JSON.parse(text) as Warning[]
}

export function decodePoster(text: string | null): StoredPoster | null {
  return decodeOptional(text) as StoredPoster | null
}

function decodeOptional(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}

export interface NewJobRow {
  jobId: string
  account: string
  config: string
  sealed: string
  warnings: string
  priority: number
  now: number
  deadlineAt: number
  /** From then on its tasks come first in its account; null = it names no end time. */
  hurryAt: number | null
  /** Public id of the job that is retried. */
  retryOf: number | null
  webhook: WebhookOwner
  /** Display name of the source. */
  inputName: string
  /** The text that a search examines (searchText.ts). */
  searchText: string
  /** Maximum number of active jobs of the account, unless its row sets another. */
  maxActive: number
  /** The same, for what is left of the account's spend cap; null = no such limit. */
  maxAffordable: number | null
  isUnlisted: boolean
}

const activeJobLimit = (account: string, fallback: string, affordable: string) =>
  `min(COALESCE((SELECT max_active_jobs FROM accounts WHERE account = ${account}), ${fallback}), COALESCE(${affordable}, 1e9))`

/** Counted inside the INSERT, and only up to the limit, so that concurrent requests cannot exceed it. */
const withinActiveJobs = (account: string, fallback: string, affordable: string) => `(
    SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE account = ${account} AND finished_at IS NULL
      LIMIT CAST(${activeJobLimit(account, fallback, affordable)} AS INTEGER))
  ) < ${activeJobLimit(account, fallback, affordable)}`

/**
 * Inserts the job's row, unless the account has too many active jobs. With an idempotency key, only if the key's row
 * names this job, so that of 50 concurrent requests only one inserts.
 */
export function insertJob(db: D1Database, job: NewJobRow, idempotencyKey: string | null): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO jobs (job_id, account, state, config, sealed, warnings, priority, created_at, updated_at, deadline_at, retry_of, webhook, input_name, sought, unlisted)
       SELECT ?1, ?2, 'queued', ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?10, ?11, ?13, ?14, ?16
       WHERE (?9 IS NULL OR EXISTS (SELECT 1 FROM idempotency WHERE account = ?2 AND key = ?9 AND job_id = ?1))
         AND ${withinActiveJobs('?2', '?12', '?15')}
       RETURNING id`,
    )
    .bind(
      job.jobId,
      job.account,
      job.config,
      job.sealed,
      job.warnings,
      job.priority,
      job.now,
      job.deadlineAt,
      idempotencyKey,
      job.retryOf,
      webhookCodes[job.webhook ?? 'none'],
      job.maxActive,
      job.inputName,
      job.searchText,
      job.maxAffordable,
      job.isUnlisted ? 1 : 0,
    )
}

/** The job's main task; inserted only if the job was. */
export function insertTask(db: D1Database, job: NewJobRow, task: string, kind: TaskKind): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO tasks (id, job, account, kind, state, priority, not_before, updated_at, timeline, hurry_at)
       SELECT ?1, id, account, ?3, 'queued', priority, 0, created_at,
         json_array(json_object('type', 'job.created', 'at', created_at)), ?4 FROM jobs WHERE job_id = ?2`,
    )
    .bind(task, job.jobId, kind, job.hurryAt)
}

/** The client's own names and values; inserted only if the job was, and deleted with its row. */
export function insertMetadata(db: D1Database, jobId: string, metadata: Record<string, string>): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO job_metadata (job, account, name, value)
       SELECT jobs.id, jobs.account, given.key, given.value FROM jobs, json_each(?2) AS given WHERE jobs.job_id = ?1`,
    )
    .bind(jobId, JSON.stringify(metadata))
}

export function insertIdempotency(
  db: D1Database,
  job: NewJobRow,
  key: string,
  fingerprint: string,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO idempotency (account, key, fingerprint, job_id, warnings, created_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE ${withinActiveJobs('?1', '?7', '?8')}
       ON CONFLICT (account, key) DO NOTHING`,
    )
    .bind(job.account, key, fingerprint, job.jobId, job.warnings, job.now, job.maxActive, job.maxAffordable)
}

export function findIdempotency(db: D1Database, account: string, key: string) {
  return first<{ fingerprint: string; job_id: string; warnings: string }>(
    db,
    `SELECT fingerprint, job_id, warnings FROM idempotency WHERE account = ?1 AND key = ?2`,
    [account, key],
  )
}

const taskColumns = `tasks.id AS task, tasks.kind, tasks.state AS task_state, tasks.attempt, tasks.lost, tasks.starts_failed, tasks.not_before, tasks.parts, tasks.survey_parts,
  CASE WHEN tasks.state = 'queued' AND tasks.lost > 0 THEN json_extract(tasks.timeline, '$[#-1].error') END AS lost_to,
  CASE WHEN tasks.starts_failed > 0 THEN json_extract(tasks.timeline, '$[#-1].starts.reason') END AS start_failure`
/** By its name: of a divided job, hundreds of parts have the same `job`. */
const joinTasks = `FROM jobs JOIN ${MAIN_TASK_OF_JOB}`
/** Whole rows of jobs with their tasks; a WHERE follows. */
export const selectJobWithTask = `SELECT jobs.*, ${taskColumns} ${joinTasks}`

/**
 * How many queued tasks come before this one, read in the same round trip; null for a task that is not queued. The
 * count has a limit: D1 executes one statement at a time, and clients poll their waiting jobs.
 */
const queuePosition = `CASE WHEN tasks.state = 'queued' AND tasks.parts = 0 THEN (
    SELECT COUNT(*) FROM (
      SELECT 1 FROM tasks AS other WHERE other.state = 'queued' AND other.main IS NULL AND other.priority > tasks.priority
      UNION ALL
      SELECT 1 FROM tasks AS other
        WHERE other.state = 'queued' AND other.main IS NULL AND other.priority = tasks.priority AND other.job < tasks.job
      LIMIT ${MAX_QUEUE_POSITION}))
  END AS position`

/** Another account's job looks like a missing one (I16). */
export async function findJob(
  db: D1Database,
  account: string,
  id: number,
): Promise<(Job & { position: number | null }) | null> {
  const row = await first<JobWithTaskRow & { position: number | null }>(
    db,
    `SELECT jobs.*, ${taskColumns}, ${queuePosition} ${joinTasks} WHERE jobs.id = ?1 AND jobs.account = ?2 AND jobs.deleted_at IS NULL`,
    [id, account],
  )
  return row && decodeJob(row)
}

export async function findJobByJobId(db: D1Database, jobId: string): Promise<Job | null> {
  const row = await first<JobWithTaskRow>(db, `${selectJobWithTask} WHERE jobs.job_id = ?1`, [jobId])
  return row && decodeJob(row)
}

/** Only until the job has ended: a final state never changes (I2). */
/** @returns false if another attempt of the job has changed the warnings meanwhile, or the job has ended */
export async function updateWarnings(
  db: D1Database,
  jobId: string,
  before: string,
  warnings: string,
): Promise<boolean> {
  const row = await first(
    db,
    `UPDATE jobs SET warnings = ?3
       WHERE job_id = ?1 AND finished_at IS NULL AND json(warnings) = ?2 RETURNING id`,
    [jobId, before, warnings],
  )
  return row !== null
}

export async function listOverdueJobs(db: D1Database, now: number, limit: number): Promise<{ task: string }[]> {
  return all<{ task: string }>(
    db,
    `SELECT tasks.id AS task ${joinTasks}
       WHERE jobs.finished_at IS NULL AND jobs.state IN ('queued', 'running') AND jobs.deadline_at < ?1 LIMIT ?2`,
    [now, limit],
  )
}

/** Hides the job from all clients. Only for a job that has ended. @returns true if there was one */
export async function markJobDeleted(db: D1Database, account: string, id: number, now: number): Promise<boolean> {
  const row = await first(
    db,
    `UPDATE jobs SET deleted_at = ?3
       WHERE id = ?1 AND account = ?2 AND state IN ('completed', 'failed', 'cancelled') AND deleted_at IS NULL
       RETURNING id`,
    [id, account, now],
  )
  return row !== null
}
