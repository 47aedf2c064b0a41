// In charge of: the SQL that ends what is kept of a job: its secrets, its outputs, its rows; and that seals secrets with
// another key.
// Not in charge of: when that happens (worker/reconciler.ts, worker/jobs/purgeJob.ts, worker/admin/resealSecrets.ts).
import type { JobRow } from './jobs.ts'
import { all, run } from './statement.ts'

/** Deletes the sealed credentials of jobs that ended before the given time. */
export async function clearExpiredSecrets(db: D1Database, endedBefore: number, limit: number): Promise<void> {
  await run(
    db,
    `UPDATE jobs SET sealed = NULL
       WHERE id IN (SELECT id FROM jobs WHERE sealed IS NOT NULL AND finished_at < ?1 LIMIT ?2)`,
    [endedBefore, limit],
  )
}

export async function deleteExpiredIdempotencyKeys(
  db: D1Database,
  createdBefore: number,
  limit: number,
): Promise<void> {
  await run(
    db,
    `DELETE FROM idempotency
       WHERE (account, key) IN (SELECT account, key FROM idempotency WHERE created_at < ?1 LIMIT ?2)`,
    [createdBefore, limit],
  )
}

/** Jobs whose outputs in the service's own store have expired. */
export async function listExpiredOutputs(
  db: D1Database,
  endedBefore: number,
  limit: number,
): Promise<Pick<JobRow, 'id' | 'account' | 'job_id'>[]> {
  return all<Pick<JobRow, 'id' | 'account' | 'job_id'>>(
    db,
    `SELECT id, account, job_id FROM jobs WHERE finished_at < ?1 AND outputs IS NOT NULL LIMIT ?2`,
    [endedBefore, limit],
  )
}

/** Called after the objects were deleted, so that no more URLs are created for them. */
export async function clearOutputs(db: D1Database, id: number): Promise<void> {
  await run(db, `UPDATE jobs SET outputs = NULL, poster = NULL WHERE id = ?1`, [id])
}

/** Marks the unlisted dry runs that ended before the given time as deleted. */
export async function deleteUnlistedJobs(
  db: D1Database,
  endedBefore: number,
  now: number,
  limit: number,
): Promise<void> {
  await run(
    db,
    `UPDATE jobs SET deleted_at = ?2 WHERE id IN (
       SELECT id FROM jobs WHERE unlisted = 1 AND finished_at < ?1 AND deleted_at IS NULL LIMIT ?3)`,
    [endedBefore, now, limit],
  )
}

/** Deletes the rows of jobs that ended long ago, with their tasks. Their outputs were removed before. */
export async function deleteOldJobs(db: D1Database, endedBefore: number, limit: number): Promise<void> {
  await run(
    db,
    `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE finished_at < ?1 AND outputs IS NULL LIMIT ?2)`,
    [endedBefore, limit],
  )
}

export async function listDeletedJobs(
  db: D1Database,
  limit: number,
): Promise<Pick<JobRow, 'id' | 'account' | 'job_id' | 'finished_at'>[]> {
  return all<Pick<JobRow, 'id' | 'account' | 'job_id' | 'finished_at'>>(
    db,
    `SELECT id, account, job_id, finished_at FROM jobs WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT ?1`,
    [limit],
  )
}

/** Deletes the job's row with its tasks and secrets. */
export async function deleteJob(db: D1Database, id: number): Promise<void> {
  await run(db, `DELETE FROM jobs WHERE id = ?1 AND deleted_at IS NOT NULL`, [id])
}

interface SealedJob {
  id: number
  account: string
  job_id: string
  sealed: string
  config: string
}

/** Secrets that are not sealed with the given key, in the order of ids. */
export async function listJobsSealedWithOtherKeys(
  db: D1Database,
  keyId: string,
  after: number,
  limit: number,
): Promise<SealedJob[]> {
  return all<SealedJob>(
    db,
    `SELECT id, account, job_id, sealed, config FROM jobs
       WHERE id > ?2 AND sealed IS NOT NULL
         AND json_extract(sealed, '$.kid') <> ?1 ORDER BY id LIMIT ?3`,
    [keyId, after, limit],
  )
}

export async function replaceSealedJob(db: D1Database, before: SealedJob, sealed: string): Promise<void> {
  await run(db, `UPDATE jobs SET sealed = ?3 WHERE id = ?1 AND sealed = ?2`, [before.id, before.sealed, sealed])
}
