// In charge of: usage as lines with costs, and the sums of an account.
// Not in charge of: reading it (db/usage.ts), CSV (usageCsv.ts).
import type { AccountUsage, UsageLine } from '#contract/api/usage.ts'
import { USAGE_ITEMS, usageItems } from '#contract/usage/items.ts'
import { MICRO } from '#contract/usage/priceList.ts'
import type { UsageRow } from '../db/usage.ts'

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
export function accountUsage(account: string, rows: readonly UsageRow[]): AccountUsage {
  const sorted = rows.toSorted((a, b) => USAGE_ITEMS.indexOf(a.item) - USAGE_ITEMS.indexOf(b.item))
  const costs = new Map<string, number>()
  for (const row of rows) if (row.currency !== '') costs.set(row.currency, (costs.get(row.currency) ?? 0) + costOf(row))
  return {
    account,
    lines: sorted.map(line),
    costs: [...costs].map(([currency, amount]) => ({ currency, amount: amount / MICRO })),
  }
}

export function usageByAccount(rows: readonly UsageRow[]): AccountUsage[] {
  const byAccount = Map.groupBy(rows, ({ account }) => account)
  return [...byAccount].map(([account, own]) => accountUsage(account, own))
}
