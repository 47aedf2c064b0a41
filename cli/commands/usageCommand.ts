// In charge of: `usage`, and `spend-cap` of an account.
// Not in charge of: what counts as usage (docs/usage.md).
import type { AccountUsage, UsageLine } from '#contract/api/usage.ts'
import type { Client } from '../../client/nodeClient.ts'
import type { CommandResult } from '../commandResult.ts'
import { UsageError } from '../cliErrors.ts'
import { table } from '../text/table.ts'

export interface UsageFlags {
  month?: string
  accounts?: boolean
  csv?: boolean
}

export async function usageCommand(
  client: Client,
  { month, accounts = false, csv = false }: UsageFlags,
  width: number | null,
): Promise<CommandResult> {
  if (csv) {
    const text = await client.usageCsv({ month, allAccounts: accounts })
    // The last line ends with the line break that is printed.
    return { document: { csv: text }, text: text.replace(/\r\n$/, '\r') }
  }
  if (accounts) {
    const document = await client.usageOfAccounts({ month })
    const shown = document.accounts.map((each) =>
      [`${each.account}, ${document.month}`, linesOf(each, width)].join('\n'),
    )
    return { document, text: shown.join('\n\n') }
  }
  const document = await client.usage({ month })
  const cap = document.spend_cap
  const sums = [
    ...document.costs.map(({ currency, amount }) => `Cost: ${amount.toFixed(2)} ${currency}`),
    ...(cap === null ? [] : [`Spent this month: ${cap.spent.toFixed(2)} of ${cap.amount.toFixed(2)} ${cap.currency}`]),
  ]
  return { document, text: [linesOf(document, width), ...sums].filter((each) => each !== '').join('\n') }
}

function linesOf({ lines }: AccountUsage, width: number | null): string {
  if (lines.length === 0) return ''
  const columns = [
    { title: 'ITEM' },
    { title: 'CLASS', flexible: true },
    { title: 'QUANTITY', right: true },
    { title: 'PRICE', right: true },
    { title: 'COST', right: true },
    { title: 'CURRENCY' },
  ] as const
  return table(columns, lines.map(rowOf), width)
}

function rowOf({ item, class: usageClass, quantity, unit_price: price, cost, currency }: UsageLine): string[] {
  const spell = (value: number | null): string => (value === null ? '' : String(value))
  return [item, usageClass, spell(quantity), spell(price), spell(cost), currency ?? '']
}

export async function spendCapCommand(
  client: Client,
  [account = '', amount = '']: readonly string[],
  { webhook }: { webhook?: string },
): Promise<CommandResult> {
  const cap = amount === 'none' ? null : Number(amount)
  if (amount.trim() === '' || Number.isNaN(cap)) throw new UsageError(`"${amount}" is neither an amount nor none.`)
  const document = await client.setSpendCap(account, { spend_cap: cap, spend_webhook_url: webhook ?? null })
  return {
    document,
    text: cap === null ? `${account} has no spend cap.` : `${account} may spend ${cap} in a calendar month (UTC).`,
  }
}
