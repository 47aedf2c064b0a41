// In charge of: the SQL of shares. One statement per function.
// Not in charge of: tokens (shares/shareAccess.ts), the public form (shares/shareRoutes.ts).
import { decodeJob, selectJobWithTask, type Job, type JobWithTaskRow } from './jobs.ts'
import { all, first, run } from './statement.ts'

export interface ShareRow {
  id: string
  job: number
  title: string
  /** Milliseconds since 1970. */
  created_at: number
  expires_at: number
  /** Null = anyone who has the address may watch. */
  password_hash: string | null
}

/**
 * @returns false if the job has `maximum` valid shares or was deleted meanwhile. Counted inside the INSERT, so that
 * concurrent requests cannot exceed the limit.
 */
export async function insertShare(db: D1Database, share: ShareRow, maximum: number): Promise<boolean> {
  const row = await first(
    db,
    `INSERT INTO shares (id, job, title, created_at, expires_at, password_hash)
       SELECT ?1, ?2, ?3, ?4, ?5, ?7 WHERE (SELECT COUNT(*) FROM shares WHERE job = ?2 AND expires_at > ?4) < ?6
         AND EXISTS (SELECT 1 FROM jobs WHERE id = ?2 AND deleted_at IS NULL)
       RETURNING id`,
    [share.id, share.job, share.title, share.created_at, share.expires_at, maximum, share.password_hash],
  )
  return row !== null
}

/** Valid shares, newest first. */
export async function listShares(db: D1Database, job: number, now: number, limit: number): Promise<ShareRow[]> {
  return all<ShareRow>(
    db,
    `SELECT * FROM shares WHERE job = ?1 AND expires_at > ?2 ORDER BY created_at DESC, id LIMIT ?3`,
    [job, now, limit],
  )
}

/** @returns false if the job has no such share */
export async function deleteShare(db: D1Database, job: number, id: string): Promise<boolean> {
  return (await first(db, `DELETE FROM shares WHERE job = ?1 AND id = ?2 RETURNING id`, [job, id])) !== null
}

/** A valid share with its job, if the job has outputs and is not deleted. One round trip. */
export async function findSharedJobRow(
  db: D1Database,
  id: string,
  now: number,
): Promise<{ share: ShareRow; job: Job } | null> {
  const [shares, jobs] = await db.batch([
    db.prepare(`SELECT * FROM shares WHERE id = ?1 AND expires_at > ?2`).bind(id, now),
    db
      .prepare(
        `${selectJobWithTask} WHERE jobs.id = (SELECT job FROM shares WHERE id = ?1)
         AND jobs.state = 'completed' AND jobs.deleted_at IS NULL AND jobs.outputs IS NOT NULL`,
      )
      .bind(id),
  ])
  const share = shares?.results[0] as ShareRow | undefined
  const job = jobs?.results[0] as JobWithTaskRow | undefined
  return share && job ? { share, job: decodeJob(job) } : null
}

export async function deleteExpiredShares(db: D1Database, expiredBefore: number, limit: number): Promise<void> {
  await run(db, `DELETE FROM shares WHERE id IN (SELECT id FROM shares WHERE expires_at < ?1 LIMIT ?2)`, [
    expiredBefore,
    limit,
  ])
}
