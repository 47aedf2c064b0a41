// In charge of: the rows of uploaded files. One statement per function; times in milliseconds since 1970.
// Not in charge of: their bytes (R2, under `key`).
import type { JobState } from '#contract/task/lifecycle.ts'
import { addTotalsIfChanged } from './metricTotals.ts'
import { Totals } from '../util/totals.ts'
import { normalizeSearchText } from './searchText.ts'
import { all, first } from './statement.ts'

export interface UploadRow {
  number: number
  account: string
  /** Object in the service's bucket. */
  key: string
  name: string
  content_type: string
  /** Bytes; null while receiving. */
  size: number | null
  /** As in the HTTP header, with quotes; null while receiving. */
  etag: string | null
  state: 'receiving' | 'ready'
  created_at: number
  expires_at: number
  /** Id and name of the upload token that was used; null = an API key was used. */
  token: string | null
  token_name: string | null
}

/** An upload with the newest job that reads it, if there is one that is not deleted. */
export interface ListedUploadRow extends UploadRow {
  job: number | null
  job_id: string | null
  job_state: JobState | null
  /** When the job ended. */
  finished_at: number | null
  poster: string | null
}

export interface NewUpload extends Pick<
  UploadRow,
  'account' | 'key' | 'name' | 'content_type' | 'created_at' | 'expires_at'
> {
  keyId: string
  /** Number of bytes that the client announced. */
  announcedBytes: number
  /** Limit for the account's stored bytes, unless its row sets another; null = no limit. */
  maxStored: number | null
  /** Id of the upload token that is used. */
  token: string | null
}

/** Stored bytes, including uploads in progress, and their limits; null = no limit. */
export interface StoredByteTotals {
  account: number
  account_maximum: number | null
  key: number
  key_maximum: number | null
  /** When the key was revoked; null = in use, or a key from the configuration. */
  key_revoked: number | null
}

const columns = 'number, account, key, name, content_type, size, etag, state, created_at, expires_at, token, token_name'

const bytes = 'COALESCE(SUM(COALESCE(size, announced)), 0)'
/** Stored bytes and limits for ?1 = account, ?2 = key, ?3 = default limit. */
const storedBytesSql = {
  account: `(SELECT ${bytes} FROM uploads WHERE account = ?1)`,
  account_maximum: `COALESCE((SELECT max_stored_upload_bytes FROM accounts WHERE account = ?1), ?3)`,
  key: `(SELECT ${bytes} FROM uploads WHERE account = ?1 AND key_id = ?2)`,
  key_maximum: `(SELECT max_stored_upload_bytes FROM api_keys WHERE id = ?2)`,
  key_revoked: `(SELECT revoked_at FROM api_keys WHERE id = ?2)`,
}

/**
 * The row is inserted before the first byte, so that the reconciler finds what a crash leaves. The limits are checked
 * inside the INSERT, so that concurrent requests cannot exceed them. A revoked key that is still in an isolate's cache
 * stores nothing.
 * → the number of the upload; null if it would exceed a limit of the account or the key, the key is revoked, or the
 * token has expired or has no files left
 */
export async function insertUpload(db: D1Database, upload: NewUpload): Promise<number | null> {
  const row = await first<{ number: number }>(
    db,
    `INSERT INTO uploads (account, key_id, announced, key, name, sought, content_type, state, created_at, expires_at, token, token_name)
       SELECT ?1, ?2, ?4, ?5, ?6, ?11, ?7, 'receiving', ?8, ?9, ?10, (SELECT name FROM upload_tokens WHERE id = ?10)
       WHERE (${storedBytesSql.account_maximum} IS NULL OR ${storedBytesSql.account} + ?4 <= ${storedBytesSql.account_maximum})
         AND (${storedBytesSql.key_maximum} IS NULL OR ${storedBytesSql.key} + ?4 <= ${storedBytesSql.key_maximum})
         AND ${storedBytesSql.key_revoked} IS NULL
         AND (?10 IS NULL OR EXISTS (
           SELECT 1 FROM upload_tokens WHERE id = ?10 AND files < max_files AND expires_at > ?8))
       RETURNING number`,
    [
      upload.account,
      upload.keyId,
      upload.maxStored,
      upload.announcedBytes,
      upload.key,
      upload.name,
      upload.content_type,
      upload.created_at,
      upload.expires_at,
      upload.token,
      normalizeSearchText(upload.name),
    ],
  )
  return row?.number ?? null
}

export async function sumStoredBytes(
  db: D1Database,
  { account, keyId, maxStored }: Pick<NewUpload, 'account' | 'keyId' | 'maxStored'>,
): Promise<StoredByteTotals> {
  const columns = Object.entries(storedBytesSql).map(([name, sql]) => `${sql} AS ${name}`)
  const row = await first<StoredByteTotals>(db, `SELECT ${columns.join(', ')}`, [account, keyId, maxStored])
  if (!row) throw new Error('SELECT returned no row')
  return row
}

/** Counts the uploads of a replaced key for its successor. In one batch with the revocation of the old key. */
export function transferUploads(db: D1Database, from: string, to: string, account: string): D1PreparedStatement {
  return db.prepare('UPDATE uploads SET key_id = ? WHERE key_id = ? AND account = ?').bind(to, from, account)
}

/** → false if the row was deleted (it expired while the upload was being received). */
export async function markUploadReady(
  db: D1Database,
  number: number,
  ready: { name: string; content_type: string; size: number; etag: string; expires_at: number },
): Promise<boolean> {
  const update = db
    .prepare(
      `UPDATE uploads SET state = 'ready', name = ?, sought = ?, content_type = ?, size = ?, etag = ?, expires_at = ?
       WHERE number = ? AND state = 'receiving' RETURNING number`,
    )
    .bind(
      ready.name,
      normalizeSearchText(ready.name),
      ready.content_type,
      ready.size,
      ready.etag,
      ready.expires_at,
      number,
    )
  const { series } = new Totals().add('uploaded_bytes_total', {}, ready.size)
  const [updated] = await db.batch([update, addTotalsIfChanged(db, 'uploads', series)])
  return (updated?.results.length ?? 0) > 0
}

/** A complete upload of that account that has not expired, else null. */
export async function findUpload(
  db: D1Database,
  account: string,
  number: number,
  now: number,
): Promise<(UploadRow & { size: number; etag: string }) | null> {
  return first<UploadRow & { size: number; etag: string }>(
    db,
    `SELECT ${columns} FROM uploads WHERE number = ? AND account = ? AND state = 'ready' AND expires_at > ?`,
    [number, account, now],
  )
}

export interface UploadFilter {
  state: UploadRow['state'] | null
  /** Only uploads that were made with this token. */
  token: string | null
  /** Only names that contain this text. */
  search: string | null
  /** Only numbers below this one: the cursor. */
  before: number | null
  limit: number
}

/** Newest first, without expired ones. */
export async function listUploads(
  db: D1Database,
  account: string,
  filter: UploadFilter,
  now: number,
): Promise<ListedUploadRow[]> {
  return all<ListedUploadRow>(
    db,
    `SELECT listed.*, jobs.id AS job, jobs.job_id, jobs.state AS job_state, jobs.finished_at, jobs.poster
       FROM (SELECT ${columns}, last_job FROM uploads
         WHERE account = ?1 AND number < ?2 AND expires_at > ?3 AND (?4 IS NULL OR state = ?4)
           AND (?6 IS NULL OR instr(sought, ?6) > 0) ${filter.token === null ? '' : 'AND token = ?7'}
         ORDER BY number DESC LIMIT ?5) AS listed
       LEFT JOIN jobs ON jobs.id = listed.last_job AND jobs.deleted_at IS NULL
       ORDER BY listed.number DESC`,
    [
      account,
      filter.before ?? Number.MAX_SAFE_INTEGER,
      now,
      filter.state,
      filter.limit,
      filter.search === null ? null : normalizeSearchText(filter.search),
      ...(filter.token === null ? [] : [filter.token]),
    ],
  )
}

/** Remembers a job as the newest one of its uploads. In one batch with the job. */
export function markUploadsUsed(db: D1Database, numbers: readonly number[], jobId: string): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE uploads SET last_job = (SELECT id FROM jobs WHERE job_id = ?1)
       WHERE number IN (SELECT value FROM json_each(?2)) AND EXISTS (SELECT 1 FROM jobs WHERE job_id = ?1)`,
    )
    .bind(jobId, JSON.stringify(numbers))
}

/** An upload of that account in any state, or null. */
export async function findAnyUpload(db: D1Database, account: string, number: number): Promise<UploadRow | null> {
  return first<UploadRow>(db, `SELECT ${columns} FROM uploads WHERE number = ? AND account = ?`, [number, account])
}

/** → the key of the object that must be deleted, or null if that account has no such upload. */
export async function deleteUpload(db: D1Database, account: string, number: number): Promise<string | null> {
  const row = await first<{ key: string }>(db, 'DELETE FROM uploads WHERE number = ? AND account = ? RETURNING key', [
    number,
    account,
  ])
  return row?.key ?? null
}

/** Expired uploads, oldest first, for the reconciler: it deletes the object, then the row. */
export async function listExpiredUploads(
  db: D1Database,
  now: number,
  limit: number,
): Promise<Pick<UploadRow, 'number' | 'account' | 'key' | 'state'>[]> {
  return all<Pick<UploadRow, 'number' | 'account' | 'key' | 'state'>>(
    db,
    'SELECT number, account, key, state FROM uploads WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
    [now, limit],
  )
}
