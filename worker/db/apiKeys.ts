// In charge of: the SQL of API keys. One statement per function.
import { all, first, run } from './statement.ts'

/** The address that an administrator set for an API key. */
export interface KeyWebhook {
  keyId: string
  /** Without its query. */
  redacted: string
  /** The full address, sealed, if it has a query. */
  sealed: string | null
}

export interface ApiKeyRow {
  id: string
  account: string
  label: string
  scopes: string
  hash: string
  created_at: number
  last_used_at: number | null
  revoked_at: number | null
  /** Null = never. */
  expires_at: number | null
  /** Null = the deployment's default. */
  requests_per_minute: number | null
  /** Priority of the key's jobs: higher starts first. */
  priority: number
  /** Limit for the uploads of this key; null = only the account's limit. */
  max_stored_upload_bytes: number | null
  /** Notified of the end of jobs that have no webhook_url of their own. Stored without its query. */
  webhook_url: string | null
  /** The full address, if it has a query. */
  webhook_sealed: string | null
}

/** Columns that can be changed while a key is in use. */
const changeableColumns = [
  'label',
  'requests_per_minute',
  'priority',
  'max_stored_upload_bytes',
  'webhook_url',
  'webhook_sealed',
] as const

/** A missing column stays unchanged. */
export type ApiKeyChange = { [name in (typeof changeableColumns)[number]]?: ApiKeyRow[name] | undefined }

export function isKeyUsable({ revoked_at: revoked, expires_at: end }: ApiKeyRow, now: number): boolean {
  return revoked === null && (end === null || now < end)
}

export function findApiKey(db: D1Database, id: string) {
  return first<ApiKeyRow>(db, `SELECT * FROM api_keys WHERE id = ?1`, [id])
}

export async function listApiKeys(db: D1Database): Promise<ApiKeyRow[]> {
  return all<ApiKeyRow>(db, `SELECT * FROM api_keys ORDER BY created_at DESC LIMIT 1000`)
}

export async function insertApiKey(db: D1Database, key: Omit<ApiKeyRow, 'last_used_at' | 'revoked_at'>): Promise<void> {
  await run(
    db,
    `INSERT INTO api_keys (id, account, label, scopes, hash, created_at, requests_per_minute, priority,
         max_stored_upload_bytes, webhook_url, webhook_sealed, expires_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`,
    [
      key.id,
      key.account,
      key.label,
      key.scopes,
      key.hash,
      key.created_at,
      key.requests_per_minute,
      key.priority,
      key.max_stored_upload_bytes,
      key.webhook_url,
      key.webhook_sealed,
      key.expires_at,
    ],
  )
}

/**
 * Sets only the given columns, so that a concurrent change or resealing of the address is not undone.
 * @returns the key after the change; null when it is revoked or missing
 */
export function updateApiKey(db: D1Database, id: string, change: ApiKeyChange): Promise<ApiKeyRow | null> {
  const given = changeableColumns.filter((name) => change[name] !== undefined)
  const set = ['id = ?1', ...given.map((name, n) => `${name} = ?${n + 2}`)].join(', ')
  return first<ApiKeyRow>(db, `UPDATE api_keys SET ${set} WHERE id = ?1 AND revoked_at IS NULL RETURNING *`, [
    id,
    ...given.map((name) => change[name] ?? null),
  ])
}

/** Keys whose address was sealed with another vault key, in the order of ids. */
export async function listApiKeysSealedWithOtherKeys(
  db: D1Database,
  keyId: string,
  after: string,
  limit: number,
): Promise<ApiKeyRow[]> {
  return all<ApiKeyRow>(
    db,
    `SELECT * FROM api_keys
       WHERE id > ?2 AND webhook_sealed IS NOT NULL AND json_extract(webhook_sealed, '$.kid') <> ?1
       ORDER BY id LIMIT ?3`,
    [keyId, after, limit],
  )
}

export async function replaceSealedApiKey(db: D1Database, before: ApiKeyRow, sealed: string | null): Promise<void> {
  await run(db, `UPDATE api_keys SET webhook_sealed = ?3 WHERE id = ?1 AND webhook_sealed = ?2`, [
    before.id,
    before.webhook_sealed,
    sealed,
  ])
}

/** Returns a row if the key exists. */
export function revokeApiKey(db: D1Database, id: string, now: number): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ?2), webhook_sealed = NULL WHERE id = ?1 RETURNING id`,
    )
    .bind(id, now)
}

export async function markKeyUsed(db: D1Database, id: string, now: number): Promise<void> {
  await run(db, `UPDATE api_keys SET last_used_at = ?2 WHERE id = ?1`, [id, now])
}
