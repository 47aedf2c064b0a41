// In charge of: reading usage (`/api/v0/usage`): of one's own account, and of all accounts for holders of the admin key.
// Not in charge of: what counts as usage (transitionUsage.ts).
import { zValidator } from '@hono/zod-validator'
import { Hono, type Context } from 'hono'
import { accepts } from 'hono/accepts'
import * as z from 'zod/mini'
import type { AccountUsage, Usage, UsageOfAccounts, UsageLine } from '#contract/api/usage.ts'
import { MICRO } from '#contract/usage/priceList.ts'
import { findAccount } from '../db/accounts.ts'
import { listSpendNotices } from '../db/spendNotices.ts'
import { findSpending, listUsage, listUsageMonths, listUsageOfAllAccounts, type UsageRow } from '../db/usage.ts'
import { settings } from '../env.ts'
import { authenticate } from '../http/authenticate.ts'
import type { AppEnv } from '../http/context.ts'
import { onInvalidQuery } from '../http/validationErrors.ts'
import { monthEnd, monthOf, previousMonth } from './month.ts'
import { USAGE_ITEMS, usageItems } from '#contract/usage/items.ts'

/** Millionths of the currency. */
function costOf({ item, price, quantity }: UsageRow): number {
  return Math.round((price * quantity) / usageItems[item].per)
}

function line(row: UsageRow): UsageLine {
  const isPriced = row.currency !== ''
  return {
    item: row.item,
    class: row.class,
    quantity: Math.round((row.quantity / usageItems[row.item].per) * 1e6) / 1e6,
    unit_price: isPriced ? row.price / MICRO : null,
    currency: isPriced ? row.currency : null,
    cost: isPriced ? costOf(row) / MICRO : null,
  }
}

/** @param rows of one account */
function accountUsage(account: string, rows: readonly UsageRow[]): AccountUsage {
  const sorted = rows.toSorted((a, b) => USAGE_ITEMS.indexOf(a.item) - USAGE_ITEMS.indexOf(b.item))
  const costs = new Map<string, number>()
  for (const row of rows) if (row.currency !== '') costs.set(row.currency, (costs.get(row.currency) ?? 0) + costOf(row))
  return {
    account,
    lines: sorted.map(line),
    costs: [...costs].map(([currency, amount]) => ({ currency, amount: amount / MICRO })),
  }
}

function usageByAccount(rows: readonly UsageRow[]): AccountUsage[] {
  const byAccount = Map.groupBy(rows, ({ account }) => account)
  return [...byAccount].map(([account, own]) => accountUsage(account, own))
}

const COLUMNS = ['month', 'account', 'item', 'class', 'quantity', 'unit_price', 'currency', 'cost']

export function usageCsv(month: string, accounts: readonly AccountUsage[]): string {
  const rows = accounts.flatMap(({ account, lines }) =>
    lines.map((one) => [
      month,
      account,
      one.item,
      one.class,
      decimal(one.quantity),
      decimal(one.unit_price),
      one.currency ?? '',
      decimal(one.cost),
    ]),
  )
  return [COLUMNS, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

/** Without an exponent. */
function decimal(value: number | null): string {
  return value === null ? '' : value.toFixed(6).replace(/\.0+$|(?<=[1-9])0+$/, '')
}

/**
 * A spreadsheet runs a cell that begins with one of these characters as a formula (OWASP, "CSV injection"). The
 * apostrophe makes it a text. Numbers here are never negative.
 */
export function cell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const query = z.strictObject({
  month: z.optional(z.string().check(z.regex(/^20\d\d-(0[1-9]|1[0-2])$/))),
  format: z.optional(z.enum(['json', 'csv'])),
})
const validQuery = zValidator(
  'query',
  query,
  onInvalidQuery({
    month: { expects: 'a month in UTC, such as 2026-11' },
    format: { expects: 'json or csv', allowed: ['json', 'csv'] },
  }),
)

export const usageRoutes = new Hono<AppEnv>()
  .get('/', authenticate('jobs'), validQuery, async (c) => {
    const { month = monthOf(Date.now()), format } = c.req.valid('query')
    const account = c.get('account')
    const [rows, notices, months, spendCap] = await Promise.all([
      listUsage(c.env.DB, account, month),
      listSpendNotices(c.env.DB, account, month),
      listUsageMonths(c.env.DB, account),
      currentSpendCap(c.env, account),
    ])
    const used = accountUsage(account, rows)
    if (wantsCsv(c, format)) return csvResponse(c, month, [used])
    return c.json({
      month,
      ...used,
      spend_cap: spendCap,
      notices: notices.map(({ percent, created_at: at, state, tries }) => ({
        percent,
        reached_at: new Date(at).toISOString(),
        state,
        tries,
      })),
      months,
    } satisfies Usage)
  })
  .get('/accounts', authenticate('admin'), validQuery, async (c) => {
    const { month = monthOf(Date.now()), format } = c.req.valid('query')
    const accounts = usageByAccount(await listUsageOfAllAccounts(c.env.DB, month))
    if (wantsCsv(c, format)) return csvResponse(c, month, accounts)
    const months = await listUsageMonths(c.env.DB, null)
    return c.json({ month, accounts, months } satisfies UsageOfAccounts)
  })

/** The cap holds now, whatever month is read. */
async function currentSpendCap(env: Env, account: string): Promise<Usage['spend_cap']> {
  const { prices } = settings(env)
  const { spend_cap: cap } = await findAccount(env.DB, account)
  if (prices === null || cap === null) return null
  const month = monthOf(Date.now())
  const [{ spent }] = await findSpending(env.DB, account, [month, previousMonth(month)], prices.currency)
  return {
    amount: cap / MICRO,
    spent: spent / MICRO,
    currency: prices.currency,
    resets_at: new Date(monthEnd(month)).toISOString(),
  }
}

function wantsCsv(c: Context<AppEnv>, format: 'json' | 'csv' | undefined): boolean {
  if (format !== undefined) return format === 'csv'
  const supports = ['application/json', 'text/csv']
  return accepts(c, { header: 'Accept', supports, default: 'application/json' }) === 'text/csv'
}

function csvResponse(c: Context<AppEnv>, month: string, accounts: readonly AccountUsage[]): Response {
  return c.body(usageCsv(month, accounts), 200, {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="usage-${month}.csv"`,
    vary: 'Accept',
  })
}
