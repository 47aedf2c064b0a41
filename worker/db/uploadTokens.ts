// In charge of: the SQL of upload tokens, one statement per function. Triggers count the uploads of each token
// (migrations/0001_init.sql).
// Not in charge of: whether another upload may begin (uploads.ts).
import { first, run } from './statement.ts'

export interface UploadTokenRow {
  id: string
  account: string
  key_id: string
  /** For a key from the configuration, which has no row; else null. */
  key_hash: string | null
  name: string
  /** Limit for each file. */
  max_bytes: number
  max_files: number
  files: number
  created_at: number
  expires_at: number
}

/** A token with the current state of its key: `revoked_at` is also set if the key has expired. */
export interface UploadTokenWithKey extends UploadTokenRow {
  revoked_at: number | null
  requests_per_minute: number | null
}

export function findUploadToken(db: D1Database, id: string, now: number): Promise<UploadTokenWithKey | null> {
  return first<UploadTokenWithKey>(
    db,
    `SELECT upload_tokens.*, api_keys.requests_per_minute,
         COALESCE(api_keys.revoked_at, CASE WHEN api_keys.expires_at <= ?2 THEN api_keys.expires_at END) AS revoked_at
       FROM upload_tokens LEFT JOIN api_keys ON api_keys.id = upload_tokens.key_id WHERE upload_tokens.id = ?1`,
    [id, now],
  )
}

/**
 * Counted inside the INSERT, so that concurrent requests cannot exceed the limit. A revoked key that is still in an
 * isolate's cache cannot create a token.
 * → false if there are too many tokens, or the key is revoked
 */
export async function insertUploadToken(
  db: D1Database,
  token: Omit<UploadTokenRow, 'files'>,
  maximum: number,
): Promise<boolean> {
  const row = await first(
    db,
    `INSERT INTO upload_tokens (id, account, key_id, key_hash, name, max_bytes, max_files, created_at, expires_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
       WHERE (SELECT COUNT(*) FROM (SELECT 1 FROM upload_tokens WHERE account = ?2 LIMIT ?10)) < ?10
         AND (SELECT revoked_at FROM api_keys WHERE id = ?3) IS NULL
       RETURNING id`,
    [
      token.id,
      token.account,
      token.key_id,
      token.key_hash,
      token.name,
      token.max_bytes,
      token.max_files,
      token.created_at,
      token.expires_at,
      maximum,
    ],
  )
  return row !== null
}

/** Whether that upload was begun with that token. */
export async function isUploadOfToken(db: D1Database, number: number, id: string): Promise<boolean> {
  return (await first(db, `SELECT 1 FROM uploads WHERE number = ?1 AND token = ?2`, [number, id])) !== null
}

/** Uploads made with the token stay. → false if the account has no such token */
export async function deleteUploadToken(db: D1Database, account: string, id: string): Promise<boolean> {
  const row = await first(db, `DELETE FROM upload_tokens WHERE id = ?1 AND account = ?2 RETURNING id`, [id, account])
  return row !== null
}

export async function deleteExpiredUploadTokens(db: D1Database, now: number, limit: number): Promise<void> {
  await run(
    db,
    `DELETE FROM upload_tokens WHERE id IN (SELECT id FROM upload_tokens WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)`,
    [now, limit],
  )
}
