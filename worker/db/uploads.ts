// In charge of: the rows of uploaded files. One function per statement; times in milliseconds since 1970.
// Not in charge of: their bytes (R2, under `key`).

export interface UploadRow {
  number: number
  account: string
  /** Object in the service's bucket. */
  key: string
  name: string
  content_type: string
  /** Bytes; null while receiving. */
  size: number | null
  /** As in the HTTP header, quotes included; null while receiving. */
  etag: string | null
  state: 'receiving' | 'ready'
  created_at: number
  expires_at: number
  /** Id and name of the upload token that brought it; null = an API key did. */
  token: string | null
  token_name: string | null
}

export interface NewUpload extends Pick<
  UploadRow,
  'account' | 'key' | 'name' | 'content_type' | 'created_at' | 'expires_at'
> {
  keyId: string
  /** Bytes that are to come. */
  announced: number
  /** Bytes that the account's uploads may take, unless its own row says otherwise; null = no bound. */
  maxStored: number | null
  /** Id of the upload token that brings it. */
  token: string | null
}

/** Bytes that stored uploads take, those on their way included, and may take; null = no bound. */
export interface StoredByteTotals {
  account: number
  account_maximum: number | null
  key: number
  key_maximum: number | null
  /** When the key was revoked; null = it is in use, or one of the configuration. */
  key_revoked: number | null
}

const columns = 'number, account, key, name, content_type, size, etag, state, created_at, expires_at, token, token_name'

const bytes = 'COALESCE(SUM(COALESCE(size, announced)), 0)'
/** Of ?1, the account, ?2, the key, and ?3, the default: what is stored and what may be. */
const storedBytesSql = {
  account: `(SELECT ${bytes} FROM uploads WHERE account = ?1)`,
  account_maximum: `COALESCE((SELECT max_stored_upload_bytes FROM accounts WHERE account = ?1), ?3)`,
  key: `(SELECT ${bytes} FROM uploads WHERE account = ?1 AND key_id = ?2)`,
  key_maximum: `(SELECT max_stored_upload_bytes FROM api_keys WHERE id = ?2)`,
  key_revoked: `(SELECT revoked_at FROM api_keys WHERE id = ?2)`,
}

/**
 * The row is there before the first byte, so that a sweep finds what a crash leaves behind. Counted in the statement that
 * inserts: no race exceeds a bound, and a revoked key that an isolate still trusts stores nothing.
 * → the number of the upload; null where its bytes would be more than the account's or the key's may be, the key is revoked,
 * or the token has ended or has been used for all of its files
 */
export async function insertUpload(db: D1Database, upload: NewUpload): Promise<number | null> {
  const row = await db
    .prepare(
      `INSERT INTO uploads (account, key_id, announced, key, name, content_type, state, created_at, expires_at, token, token_name)
       SELECT ?1, ?2, ?4, ?5, ?6, ?7, 'receiving', ?8, ?9, ?10, (SELECT name FROM upload_tokens WHERE id = ?10)
       WHERE (${storedBytesSql.account_maximum} IS NULL OR ${storedBytesSql.account} + ?4 <= ${storedBytesSql.account_maximum})
         AND (${storedBytesSql.key_maximum} IS NULL OR ${storedBytesSql.key} + ?4 <= ${storedBytesSql.key_maximum})
         AND ${storedBytesSql.key_revoked} IS NULL
         AND (?10 IS NULL OR EXISTS (
           SELECT 1 FROM upload_tokens WHERE id = ?10 AND files < max_files AND expires_at > ?8))
       RETURNING number`,
    )
    .bind(
      upload.account,
      upload.keyId,
      upload.maxStored,
      upload.announced,
      upload.key,
      upload.name,
      upload.content_type,
      upload.created_at,
      upload.expires_at,
      upload.token,
    )
    .first<{ number: number }>()
  return row?.number ?? null
}

export async function sumStoredBytes(
  db: D1Database,
  { account, keyId, maxStored }: Pick<NewUpload, 'account' | 'keyId' | 'maxStored'>,
): Promise<StoredByteTotals> {
  const columns = Object.entries(storedBytesSql).map(([name, sql]) => `${sql} AS ${name}`)
  const row = await db
    .prepare(`SELECT ${columns.join(', ')}`)
    .bind(account, keyId, maxStored)
    .first<StoredByteTotals>()
  if (!row) throw new Error('SELECT returned no row')
  return row
}

/** What a replaced key sent counts for the one in its place. In one batch with its revocation: nothing comes in between. */
export function transferUploads(db: D1Database, from: string, to: string, account: string): D1PreparedStatement {
  return db.prepare('UPDATE uploads SET key_id = ? WHERE key_id = ? AND account = ?').bind(to, from, account)
}

/** → false where the row is gone (swept while it was being received). */
export async function markUploadReady(
  db: D1Database,
  number: number,
  ready: { name: string; content_type: string; size: number; etag: string; expires_at: number },
): Promise<boolean> {
  const row = await db
    .prepare(
      `UPDATE uploads SET state = 'ready', name = ?, content_type = ?, size = ?, etag = ?, expires_at = ?
       WHERE number = ? AND state = 'receiving' RETURNING number`,
    )
    .bind(ready.name, ready.content_type, ready.size, ready.etag, ready.expires_at, number)
    .first()
  return row !== null
}

/** A complete upload of that account that has not expired, else null. */
export async function findUpload(
  db: D1Database,
  account: string,
  number: number,
  now: number,
): Promise<(UploadRow & { size: number; etag: string }) | null> {
  return db
    .prepare(`SELECT ${columns} FROM uploads WHERE number = ? AND account = ? AND state = 'ready' AND expires_at > ?`)
    .bind(number, account, now)
    .first<UploadRow & { size: number; etag: string }>()
}

export interface UploadFilter {
  state: UploadRow['state'] | null
  /** Only what that upload token brought. */
  token: string | null
  /** Only numbers below this one: the cursor. */
  before: number | null
  limit: number
}

/** Newest first; those whose time is over are not there any more. */
export async function listUploads(
  db: D1Database,
  account: string,
  filter: UploadFilter,
  now: number,
): Promise<UploadRow[]> {
  const { results } = await db
    .prepare(
      `SELECT ${columns} FROM uploads
       WHERE account = ?1 AND number < ?2 AND expires_at > ?3
         AND (?4 IS NULL OR state = ?4) ${filter.token === null ? '' : 'AND token = ?6'}
       ORDER BY number DESC LIMIT ?5`,
    )
    .bind(
      account,
      filter.before ?? Number.MAX_SAFE_INTEGER,
      now,
      filter.state,
      filter.limit,
      ...(filter.token === null ? [] : [filter.token]),
    )
    .all<UploadRow>()
  return results
}

/** An upload of that account in whatever state, or null. */
export async function findAnyUpload(db: D1Database, account: string, number: number): Promise<UploadRow | null> {
  return db
    .prepare(`SELECT ${columns} FROM uploads WHERE number = ? AND account = ?`)
    .bind(number, account)
    .first<UploadRow>()
}

/** → the key of the object that is to be deleted, or null where that account has no such upload. */
export async function deleteUpload(db: D1Database, account: string, number: number): Promise<string | null> {
  const row = await db
    .prepare('DELETE FROM uploads WHERE number = ? AND account = ? RETURNING key')
    .bind(number, account)
    .first<{ key: string }>()
  return row?.key ?? null
}

/** Uploads whose time is over, oldest first, for the sweep: delete the object, then the row. */
export async function listExpiredUploads(
  db: D1Database,
  now: number,
  limit: number,
): Promise<Pick<UploadRow, 'number' | 'account' | 'key' | 'state'>[]> {
  const { results } = await db
    .prepare('SELECT number, account, key, state FROM uploads WHERE expires_at <= ? ORDER BY expires_at LIMIT ?')
    .bind(now, limit)
    .all<Pick<UploadRow, 'number' | 'account' | 'key' | 'state'>>()
  return results
}
