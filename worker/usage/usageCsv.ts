// In charge of: usage as CSV (RFC 4180).
// Not in charge of: its content (usageLines.ts).
import type { AccountUsage } from '#contract/api/usage.ts'

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
