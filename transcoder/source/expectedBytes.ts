// In charge of: the bytes of the source that an attempt will need, where its index says it: nothing else is read ahead.
// Not in charge of: finding them, reading (sourceReader.ts).
import { lastOfRange } from './byteRanges.ts'
import type { ByteRange } from './rangeResponse.ts'

/** Ranges are ascending, and they neither overlap nor touch. */
export class ExpectedBytes {
  readonly #ranges: readonly ByteRange[]

  constructor(ranges: readonly ByteRange[]) {
    this.#ranges = ranges
  }

  /** The last byte of the range in which this byte is; null = it is not expected. */
  lastFrom(at: number): number | null {
    return lastOfRange(this.#ranges, at)
  }
}
