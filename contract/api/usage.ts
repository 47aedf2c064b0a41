// In charge of: the schemas of answers about usage.
// Not in charge of: the items (usage/items.ts). The service imports only the types.
import * as z from 'zod'
import { time } from '../schemaParts.ts'
import { USAGE_ITEMS } from '../usage/items.ts'

const month = z.string().describe('A calendar month in UTC, such as 2026-11.')
const months = z.array(z.string()).describe('Months with usage, newest first.')
const amount = z.number().min(0)

export const usageLine = z.object({
  item: z.enum(USAGE_ITEMS),
  class: z
    .string()
    .describe(
      'Of output_hours: such as `1080p h264`, `audio aac`, `copy`. Of jobs: how they ended. `lost attempts` and `dry runs` are never charged. Otherwise empty.',
    ),
  quantity: amount.describe('In the unit of the item, rounded to 6 decimals.'),
  unit_price: amount.nullable().describe('The price when it was used; null = the service had no price list.'),
  currency: z.string().nullable(),
  cost: amount.nullable().describe('Rounded to 6 decimals, from the exact quantity.'),
})
export type UsageLine = z.infer<typeof usageLine>

const cost = z.object({ currency: z.string(), amount })

export const accountUsage = z.object({
  account: z.string(),
  lines: z.array(usageLine),
  costs: z.array(cost).describe('One for each currency in which something was used; empty without a price list.'),
})
export type AccountUsage = z.infer<typeof accountUsage>

export const spendNotice = z.object({
  percent: z.int(),
  reached_at: time,
  state: z.enum(['pending', 'delivered', 'failed']),
  tries: z.int().min(0),
})

export const usage = z.object({
  month,
  ...accountUsage.shape,
  spend_cap: z
    .object({ amount, spent: amount, currency: z.string(), resets_at: time })
    .nullable()
    .describe('The cap of the current month; null = none.'),
  notices: z.array(spendNotice).describe('Webhooks about the spend cap in this month.'),
  months,
})
export type Usage = z.infer<typeof usage>

export const usageOfAccounts = z.object({ month, accounts: z.array(accountUsage), months })
export type UsageOfAccounts = z.infer<typeof usageOfAccounts>
