// In charge of: refusing jobs of an account whose spend cap is reached.
// Not in charge of: setting the cap (admin/accountRoutes.ts), what was spent (db/usage.ts).
import { MICRO } from '#contract/usage/priceList.ts'
import { findSpending } from '../db/usage.ts'
import { settings } from '../env.ts'
import { RequestError } from '../http/requestError.ts'
import { monthEnd, monthOf, previousMonth } from './month.ts'

export interface SpendingLimit {
  /** How many jobs may be unfinished at once; null = any number. */
  maxUnfinished: number | null
  /** Why one more job is refused; null = not because of the cap. */
  refusal: () => Promise<RequestError | null>
}

/**
 * What a job costs is known when it ends. So that many jobs at once do not exceed the cap by far, each unfinished job is
 * assumed to cost as much as the account's completed jobs of this month did on average, or those of last month: what is
 * left of the cap is enough for a number of jobs, and no more may be unfinished. Without completed jobs there is no such
 * number.
 * @returns null for an account without a cap
 * @throws RequestError 402 once the cap is reached
 */
export async function spendingLimit(env: Env, account: string): Promise<SpendingLimit | null> {
  const found = await readSpending(env, account)
  if (found === null) return null
  if (found.spent >= found.cap) throw capReached(found)
  return {
    maxUnfinished: maxUnfinished(found),
    // Other jobs may have been created or ended meanwhile.
    refusal: async () => {
      const now = await readSpending(env, account)
      if (now === null) return null
      const limit = maxUnfinished(now)
      return now.spent >= now.cap || (limit !== null && now.unfinished >= limit) ? capReached(now) : null
    },
  }
}

function maxUnfinished({ cap, spent, average }: SpendingNow): number | null {
  return average > 0 ? Math.ceil((cap - spent) / average) : null
}

async function readSpending(env: Env, account: string): Promise<SpendingNow | null> {
  const { prices } = settings(env)
  if (prices === null) return null
  const { currency } = prices
  const month = monthOf(Date.now())
  const months = [month, previousMonth(month)] as const
  const [{ cap, spent, completed, unfinished }, before] = await findSpending(env.DB, account, months, currency)
  if (cap === null) return null
  const average = completed > 0 ? spent / completed : before.completed > 0 ? before.spent / before.completed : 0
  return { cap, spent, average, unfinished, currency, month }
}

/** Amounts in millionths of the currency. */
interface SpendingNow {
  cap: number
  spent: number
  /** Cost of a completed job; 0 = unknown. */
  average: number
  unfinished: number
  currency: string
  month: string
}

function capReached({ cap, spent, average, unfinished, currency, month }: SpendingNow): RequestError {
  const expected = Math.round(average * unfinished)
  const resetsAt = new Date(monthEnd(month)).toISOString()
  const money = (micro: number): string => `${(micro / MICRO).toFixed(2)} ${currency}`
  const what =
    spent >= cap
      ? `This account has spent ${money(spent)} this month, and its spend cap is ${money(cap)}.`
      : `This account has spent ${money(spent)} this month. Its unfinished jobs are expected to cost ${money(expected)} more, which reaches its spend cap of ${money(cap)}.`
  return new RequestError(
    'spend_cap_reached',
    `${what} The next month begins at ${resetsAt}; an administrator can raise the cap. Accepted jobs continue, and dry runs are allowed.`,
    {
      details: {
        spend_cap: cap / MICRO,
        spent: spent / MICRO,
        expected: expected / MICRO,
        unfinished_jobs: unfinished,
        currency,
        resets_at: resetsAt,
      },
    },
  )
}
