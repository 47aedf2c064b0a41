// In charge of: finding a byte in a list of ranges.
// Not in charge of: what the ranges mean (expectedBytes.ts, skippedBytes.ts).
import type { ByteRange } from './rangeResponse.ts'

/** The last range that begins there or before. `ranges`: ascending. -1 = none. */
export function lastNotAfter(ranges: readonly ByteRange[], at: number): number {
  let [low, high] = [-1, ranges.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (ranges[middle]!.first <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** The last byte of the range in which this byte is; null = it is in none. */
export function lastOfRange(ranges: readonly ByteRange[], at: number): number | null {
  const range = ranges[lastNotAfter(ranges, at)]
  return range !== undefined && range.last >= at ? range.last : null
}
