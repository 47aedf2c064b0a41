// In charge of: reading usage (`/api/v0/usage`): of one's own account, and of all accounts for holders of the admin key.
// Not in charge of: what counts as usage (transitionUsage.ts).
import { zValidator } from '@hono/zod-validator'
import { Hono, type Context } from 'hono'
import { accepts } from 'hono/accepts'
import * as z from 'zod/mini'
import type { AccountUsage, Usage, UsageOfAccounts } from '#contract/api/usage.ts'
import { MICRO } from '#contract/usage/priceList.ts'
import { findAccount } from '../db/accounts.ts'
import { listSpendNotices } from '../db/spendNotices.ts'
import { findSpending, listUsage, listUsageMonths, listUsageOfAllAccounts } from '../db/usage.ts'
import { settings } from '../env.ts'
import { authenticate } from '../http/authenticate.ts'
import type { AppEnv } from '../http/context.ts'
import { onInvalidQuery } from '../http/validationErrors.ts'
import { monthEnd, monthOf, previousMonth } from './month.ts'
import { usageCsv } from './usageCsv.ts'
import { accountUsage, usageByAccount } from './usageLines.ts'

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
