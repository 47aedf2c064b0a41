// In charge of: ranges of the source that nobody decodes. A demuxer that reads through them gets zeros, and nothing is
// requested: whether it skips them by itself depends on its build and on the sizes of frames.
// Not in charge of: finding them (analysis/skippedBytes.ts), the bytes between them (blockBuffer.ts).
import { lastNotAfter, lastOfRange } from './byteRanges.ts'
import type { ByteRange } from './rangeResponse.ts'

/** One piece of zeros, which is given again and again. */
const ZEROS = new Uint8Array(64 * 1024)

export class SkippedBytes {
  readonly #ranges: readonly ByteRange[]

  /** `ranges`: ascending; they neither overlap nor touch. */
  constructor(ranges: readonly ByteRange[]) {
    this.#ranges = ranges
  }

  /** Zeros from `at` to the end of the range, at most `most`; null = the byte at `at` is not skipped. */
  zerosAt(at: number, most: number): Uint8Array | null {
    const last = lastOfRange(this.#ranges, at)
    return last === null ? null : ZEROS.subarray(0, Math.min(most, last - at + 1))
  }

  /** Where the next skipped byte is, at `at` or after it; Infinity = nowhere. */
  nextFrom(at: number): number {
    const index = lastNotAfter(this.#ranges, at)
    const here = this.#ranges[index]
    if (here !== undefined && here.last >= at) return at
    return this.#ranges[index + 1]?.first ?? Number.POSITIVE_INFINITY
  }

  /** What lies between the ranges. */
  get between(): ByteRange[] {
    return this.#ranges.slice(1).map(({ first }, index) => ({ first: this.#ranges[index]!.last + 1, last: first - 1 }))
  }
}
