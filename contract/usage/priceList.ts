// In charge of: the operator's price list: USAGE_PRICES as text, its problems, and the price of a quantity.
// Not in charge of: when a price is applied (worker/usage/).
import { DRY_RUNS, LOST_ATTEMPTS, type UsageItem } from './items.ts'

/** Costs are whole numbers of millionths of the currency. */
export const MICRO = 1_000_000

export interface PriceList {
  /** ISO 4217. */
  currency: string
  /** Millionths of the currency for an hour, by class. */
  outputHour: Readonly<Record<string, number>>
  /** Prices of the other items. */
  others: Readonly<Partial<Record<UsageItem, number>>>
}

/** The members of USAGE_PRICES, and what each is the price of. */
const members: Readonly<Record<string, UsageItem>> = {
  source_hour: 'source_hours',
  cpu_hour: 'cpu_hours',
  gb_in: 'gb_in',
  gb_out: 'gb_out',
  still: 'stills',
  job: 'jobs',
}
const KNOWN = ['currency', 'output_hour', ...Object.keys(members)]
const DEFAULT = 'default'
const CLASS = /^(default|copy|audio( [a-z0-9_]{1,20})?|\d{3,4}p( [a-z0-9_]{1,20})?)$/
const MAX_PRICE = 1_000_000

/** @returns the list, or the rest of a sentence that begins with the name of the variable */
export function parsePriceList(text: string): PriceList | { problem: string } {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    return { problem: 'must be a JSON object such as {"currency":"EUR","output_hour":{"default":0.5}}' }
  }
  if (!isObject(given)) return { problem: 'must be a JSON object' }
  const unknown = Object.keys(given).find((name) => !KNOWN.includes(name))
  if (unknown !== undefined) return { problem: `: ${quoted(unknown)} is unknown; known are ${KNOWN.join(', ')}` }
  const { currency, output_hour: outputs = {}, ...others } = given
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency))
    return { problem: ': currency must be three capital letters (ISO 4217), like EUR' }
  if (!isObject(outputs)) return { problem: ': output_hour must be an object of prices by class' }
  for (const name of Object.keys(outputs))
    if (!CLASS.test(name))
      return {
        problem: `: output_hour has no class ${quoted(name)}; classes are like "1080p h264", "1080p", "audio aac", "audio", "copy" and "default"`,
      }
  const wrong = [
    ...Object.entries(outputs).map(([name, price]) => [`output_hour.${name}`, price] as const),
    ...Object.entries(others),
  ].find(([, price]) => !isPrice(price))
  if (wrong) return { problem: `: ${wrong[0]} must be a number from 0 to ${MAX_PRICE} with at most 6 decimals` }
  return {
    currency,
    outputHour: Object.fromEntries(Object.entries(outputs).map(([name, price]) => [name, toMicro(Number(price))])),
    others: Object.fromEntries(Object.entries(others).map(([name, price]) => [members[name], toMicro(Number(price))])),
  }
}

/** Millionths of the currency for one hour, gigabyte or piece. The most specific class that has a price counts. */
export function unitPrice(prices: PriceList | null, item: UsageItem, usageClass: string): number {
  if (prices === null || usageClass === LOST_ATTEMPTS || usageClass === DRY_RUNS) return 0
  if (item !== 'output_hours') return prices.others[item] ?? 0
  const [kind = ''] = usageClass.split(' ')
  const { outputHour } = prices
  return outputHour[usageClass] ?? outputHour[kind] ?? outputHour[DEFAULT] ?? 0
}

export function toMicro(amount: number): number {
  return Math.round(amount * MICRO)
}

/** At most six decimals, and small enough to be stored exactly. */
export function isMoney(amount: number, maximum: number): boolean {
  const micro = amount * MICRO
  return amount >= 0 && amount <= maximum && Math.abs(micro - Math.round(micro)) < 1e-3
}

function isPrice(price: unknown): boolean {
  return typeof price === 'number' && isMoney(price, MAX_PRICE)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 40))
}
