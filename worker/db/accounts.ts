// In charge of: the SQL of accounts: their limits, and which webhook secret is current. One statement per function.
import { all, first, run } from './statement.ts'

export interface AccountRow {
  account: string
  max_active_jobs: number | null
  max_running: number | null
  max_stored_upload_bytes: number | null
  weight: number
  webhook_generation: number
  webhook_rotated_at: number | null
  /** Millionths of the currency in a month; null = no cap. */
  spend_cap: number | null
  /** Notified when most of the cap is spent. */
  spend_webhook_url: string | null
}

/** An account without a row has the defaults. */
export async function findAccount(db: D1Database, account: string): Promise<AccountRow> {
  const row = await first<AccountRow>(db, `SELECT * FROM accounts WHERE account = ?1`, [account])
  return (
    row ?? {
      account,
      max_active_jobs: null,
      max_running: null,
      max_stored_upload_bytes: null,
      weight: 1,
      webhook_generation: 0,
      webhook_rotated_at: null,
      spend_cap: null,
      spend_webhook_url: null,
    }
  )
}

export async function listAccounts(db: D1Database): Promise<AccountRow[]> {
  return all<AccountRow>(db, `SELECT * FROM accounts ORDER BY account LIMIT 1000`)
}

export async function updateQuotas(
  db: D1Database,
  account: string,
  quotas: Pick<AccountRow, 'max_active_jobs' | 'max_running' | 'max_stored_upload_bytes' | 'weight'>,
): Promise<void> {
  await run(
    db,
    `INSERT INTO accounts (account, max_active_jobs, max_running, weight, max_stored_upload_bytes)
       VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (account) DO UPDATE
       SET max_active_jobs = ?2, max_running = ?3, weight = ?4, max_stored_upload_bytes = ?5`,
    [account, quotas.max_active_jobs, quotas.max_running, quotas.weight, quotas.max_stored_upload_bytes],
  )
}

export function updateSpendCap(
  db: D1Database,
  account: string,
  { spend_cap: cap, spend_webhook_url: url }: Pick<AccountRow, 'spend_cap' | 'spend_webhook_url'>,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO accounts (account, spend_cap, spend_webhook_url) VALUES (?1, ?2, ?3)
       ON CONFLICT (account) DO UPDATE SET spend_cap = ?2, spend_webhook_url = ?3`,
    )
    .bind(account, cap, url)
}

/** @returns the number of the new secret */
export async function rotateWebhookSecret(db: D1Database, account: string, now: number): Promise<number> {
  const row = await first<{ webhook_generation: number }>(
    db,
    `INSERT INTO accounts (account, webhook_generation, webhook_rotated_at) VALUES (?1, 1, ?2)
       ON CONFLICT (account) DO UPDATE SET webhook_generation = webhook_generation + 1, webhook_rotated_at = ?2
       RETURNING webhook_generation`,
    [account, now],
  )
  if (!row) throw new Error('INSERT INTO accounts returned no row')
  return row.webhook_generation
}
