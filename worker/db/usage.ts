// In charge of: the SQL of what accounts used in a month. One statement per function.
// Not in charge of: what a job uses (usage/transitionUsage.ts), the webhooks about a spend cap (spendNotices.ts).
import { usageItems, type UsageItem } from '#contract/usage/items.ts'
import { all } from './statement.ts'

export interface UsageRow {
  account: string
  item: UsageItem
  class: string
  /** '' = there was no price list. */
  currency: string
  /** Millionths of the currency for one hour, gigabyte or piece. */
  price: number
  /** Milliseconds, bytes or pieces. */
  quantity: number
}

/** One amount that a transition adds. */
export type UsedAmount = Omit<UsageRow, 'account'>

/**
 * In one batch, directly behind the statement that is counted, or behind others that add nothing unless that one changed
 * something: a repeated message, or a writer that was second, adds nothing. So everything is counted exactly once.
 */
export function addUsageIfChanged(
  db: D1Database,
  account: string,
  month: string,
  amounts: readonly UsedAmount[],
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO usage (account, month, item, class, currency, price, quantity)
       SELECT ?1, ?2, value ->> 'item', value ->> 'class', value ->> 'currency', value ->> 'price', value ->> 'quantity'
         FROM json_each(?3) WHERE changes() > 0
       ON CONFLICT (account, month, item, class, currency, price)
       DO UPDATE SET quantity = usage.quantity + excluded.quantity`,
    )
    .bind(account, month, JSON.stringify(amounts))
}

const perUnit = `CASE item ${Object.entries(usageItems)
  .map(([item, { per }]) => `WHEN '${item}' THEN ${per}`)
  .join(' ')} END`

/** What an account spent in a month, in millionths of a currency. The parameters are SQL expressions. */
export const spentIn = (account: string, month: string, currency: string) =>
  `COALESCE((SELECT CAST(ROUND(SUM(CAST(price AS REAL) * quantity / ${perUnit})) AS INTEGER) FROM usage
    WHERE account = ${account} AND month = ${month} AND currency = ${currency}), 0)`

const ORDER = 'ORDER BY account, item, class, currency, price'
const COLUMNS = 'account, item, class, currency, price, quantity'

export function listUsage(db: D1Database, account: string, month: string): Promise<UsageRow[]> {
  return all<UsageRow>(db, `SELECT ${COLUMNS} FROM usage WHERE account = ?1 AND month = ?2 ${ORDER}`, [account, month])
}

export function listUsageOfAllAccounts(db: D1Database, month: string): Promise<UsageRow[]> {
  return all<UsageRow>(db, `SELECT ${COLUMNS} FROM usage WHERE month = ?1 ${ORDER}`, [month])
}

/** Months with any usage, newest first; of all accounts if none is named. */
export async function listUsageMonths(db: D1Database, account: string | null): Promise<string[]> {
  const sql = `SELECT DISTINCT month FROM usage ${account === null ? '' : 'WHERE account = ?1'} ORDER BY month DESC LIMIT 120`
  return (await all<{ month: string }>(db, sql, account === null ? [] : [account])).map(({ month }) => month)
}

export interface Spending {
  /** Millionths of the currency; null = no cap. */
  cap: number | null
  spent: number
  /** Completed jobs of the month. */
  completed: number
  /** Jobs that have not ended. */
  unfinished: number
}

const completedIn = (account: string, month: string, currency: string) =>
  `COALESCE((SELECT SUM(quantity) FROM usage WHERE account = ${account} AND month = ${month} AND currency = ${currency}
    AND item = 'jobs' AND class = 'completed'), 0)`

/** Of two months, the current one first. */
export async function findSpending(
  db: D1Database,
  account: string,
  [current, previous]: readonly [current: string, previous: string],
  currency: string,
): Promise<[Spending, Spending]> {
  const rows = await all<Spending>(
    db,
    // Without a cap, nothing is counted.
    `SELECT accounts.spend_cap AS cap, ${spentIn('?1', 'months.value', '?3')} AS spent,
       ${completedIn('?1', 'months.value', '?3')} AS completed,
       (SELECT COUNT(*) FROM jobs WHERE account = ?1 AND finished_at IS NULL) AS unfinished
     FROM accounts, json_each(?2) AS months
     WHERE accounts.account = ?1 AND accounts.spend_cap IS NOT NULL ORDER BY months.key`,
    [account, JSON.stringify([current, previous]), currency],
  )
  const none = { cap: null, spent: 0, completed: 0, unfinished: 0 }
  return [rows[0] ?? none, rows[1] ?? none]
}
