// In charge of: the SQL of webhooks about a spend cap. One statement per function.
// Not in charge of: sending them (webhooks/webhookScheduler.ts).
import { Totals } from '../util/totals.ts'
import { addTotalsIfChanged } from './metricTotals.ts'
import { all } from './statement.ts'
import { spentIn } from './usage.ts'
import type { DeliveryAttempt } from './webhooks.ts'

/** Percentages of the cap that are announced. */
export const NOTICE_PERCENTAGES = [80, 100] as const

interface StoredNotice {
  id: string
  account: string
  month: string
  percent: number
  /** Millionths of the currency. */
  cap: number
  spent: number
  currency: string
  state: 'pending' | 'delivered' | 'failed'
  tries: number
  next_at: number
  log: string
  created_at: number
  updated_at: number
}

export type SpendNotice = Omit<StoredNotice, 'log'> & { log: DeliveryAttempt[] }

/**
 * After a statement that changed usage or cap, in its batch: a notice for each percentage that has been reached. Only the
 * first writer inserts it: one for each month, cap and percentage. Returns the rows that were inserted.
 */
export function insertSpendNotices(
  db: D1Database,
  account: string,
  month: string,
  currency: string,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO spend_notices (id, account, month, percent, cap, spent, currency, state, next_at, created_at, updated_at)
       SELECT ?1 || '_' || reached.value, found.account, ?3, reached.value, found.cap, found.spent, ?4, 'pending', ?5, ?5, ?5
       FROM (SELECT account, spend_cap AS cap, ${spentIn('?2', '?3', '?4')} AS spent FROM accounts
               WHERE account = ?2 AND spend_cap IS NOT NULL AND spend_webhook_url IS NOT NULL) AS found,
         json_each('[${NOTICE_PERCENTAGES.join(',')}]') AS reached
       WHERE found.spent * 100 >= found.cap * reached.value
       ON CONFLICT (account, month, percent, cap) DO NOTHING
       RETURNING id`,
    )
    .bind(`msg_${crypto.randomUUID()}`, account, month, currency, now)
}

function decode(row: StoredNotice): SpendNotice {
  return { ...row, log: JSON.parse(row.log) as DeliveryAttempt[] }
}

export async function listSpendNotices(db: D1Database, account: string, month: string): Promise<SpendNotice[]> {
  const sql = `SELECT * FROM spend_notices WHERE account = ?1 AND month = ?2 ORDER BY created_at, percent LIMIT 100`
  return (await all<StoredNotice>(db, sql, [account, month])).map(decode)
}

export async function listPendingNotices(db: D1Database, account: string): Promise<SpendNotice[]> {
  const sql = `SELECT * FROM spend_notices WHERE state = 'pending' AND account = ?1 ORDER BY next_at LIMIT 100`
  return (await all<StoredNotice>(db, sql, [account])).map(decode)
}

/** Stores the result of one try. Has no effect if another try was first. */
export async function recordNoticeAttempt(
  db: D1Database,
  before: SpendNotice,
  after: { state: SpendNotice['state']; nextAt: number; log: DeliveryAttempt[]; now: number },
): Promise<void> {
  const update = db
    .prepare(
      `UPDATE spend_notices SET state = ?2, tries = tries + 1, next_at = ?3, log = ?4, updated_at = ?5
       WHERE id = ?1 AND state = 'pending' AND tries = ?6`,
    )
    .bind(before.id, after.state, after.nextAt, JSON.stringify(after.log), after.now, before.tries)
  const result = after.state === 'pending' ? 'postponed' : after.state
  const { series } = new Totals().add('webhook_tries_total', { result })
  await db.batch([update, addTotalsIfChanged(db, 'webhooks', series)])
}

/** Accounts whose notices are overdue: the alarm of their scheduler may have been lost. */
export async function listAccountsWithOverdueNotices(
  db: D1Database,
  dueBefore: number,
  limit: number,
): Promise<string[]> {
  const sql = `SELECT DISTINCT account FROM spend_notices WHERE state = 'pending' AND next_at < ?1 LIMIT ?2`
  return (await all<{ account: string }>(db, sql, [dueBefore, limit])).map(({ account }) => account)
}
