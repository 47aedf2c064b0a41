// In charge of: the SQL of API keys, one statement a function.

export interface KeyRow {
  id: string
  account: string
  label: string
  scopes: string
  hash: string
  created_at: number
  last_used_at: number | null
  revoked_at: number | null
  /** Null = the deployment's default. */
  requests_per_minute: number | null
  /** Of the key's jobs: higher starts first. */
  priority: number
}

export function findKey(db: D1Database, id: string) {
  return db.prepare(`SELECT * FROM api_keys WHERE id = ?1`).bind(id).first<KeyRow>()
}

export async function listKeys(db: D1Database): Promise<KeyRow[]> {
  const { results } = await db.prepare(`SELECT * FROM api_keys ORDER BY created_at DESC LIMIT 1000`).all<KeyRow>()
  return results
}

export async function insertKey(db: D1Database, key: Omit<KeyRow, 'last_used_at' | 'revoked_at'>): Promise<void> {
  await db
    .prepare(`INSERT INTO api_keys (id, account, label, scopes, hash, created_at, requests_per_minute, priority)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`)
    .bind(key.id, key.account, key.label, key.scopes, key.hash, key.created_at, key.requests_per_minute, key.priority)
    .run()
}

export async function revokeKey(db: D1Database, id: string, now: number): Promise<boolean> {
  const row = await db
    .prepare(`UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ?2) WHERE id = ?1 RETURNING id`)
    .bind(id, now)
    .first()
  return row !== null
}

/** At most one write an hour and key: last use is for people, not for accounting. */
export async function touchKey(db: D1Database, id: string, now: number): Promise<void> {
  await db
    .prepare(
      `UPDATE api_keys SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2 - 3600000)`,
    )
    .bind(id, now)
    .run()
}
