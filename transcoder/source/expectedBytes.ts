// In charge of: the bytes of the source that an attempt will need, where its index says it: nothing else is read ahead.
// Not in charge of: finding them (analysis/expectedBytes.ts), reading (sourceReader.ts).
import type { ByteRange } from './rangeResponse.ts'

/** Bytes of a block. Every read of a store costs time and money, and a block may be read for one sample of it. */
const BLOCK_BYTES = 256 * 1024
/** Blocks that are requested before their time: what is between them is skipped, so that each is a request of its own. */
const BLOCKS_AHEAD = 8
/** Two tracks whose samples lie apart are read alternately. */
const BLOCKS_KEPT = 32

/** Ranges are ascending, and they neither overlap nor touch. */
export class ExpectedBytes {
  readonly #ranges: readonly ByteRange[]

  constructor(ranges: readonly ByteRange[]) {
    this.#ranges = ranges
  }

  /** The last byte of the range in which this byte is; null = it is not expected. */
  lastFrom(at: number): number | null {
    const range = this.#ranges[lastNotAfter(this.#ranges, at)]
    return range !== undefined && range.last >= at ? range.last : null
  }

  get blocks(): ByteRange[] {
    return this.#ranges.flatMap(({ first, last }) =>
      Array.from({ length: Math.ceil((last - first + 1) / BLOCK_BYTES) }, (_, block) => ({
        first: first + block * BLOCK_BYTES,
        last: Math.min(last, first + (block + 1) * BLOCK_BYTES - 1),
      })),
    )
  }
}

/** -1 = none begins there or before. */
function lastNotAfter(ranges: readonly ByteRange[], at: number): number {
  let [low, high] = [-1, ranges.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (ranges[middle]!.first <= at) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * Many small ranges, in memory. ffmpeg opens a connection for each of them, so that what is requested ahead must outlive
 * its reader.
 */
export class ExpectedBlocks {
  readonly #blocks: readonly ByteRange[]
  readonly #fetch: (range: ByteRange) => Promise<Uint8Array>
  /** The one that was read last is the last. */
  readonly #held = new Map<number, Promise<Uint8Array>>()

  constructor(expected: ExpectedBytes, fetch: (range: ByteRange) => Promise<Uint8Array>) {
    this.#blocks = expected.blocks
    this.#fetch = fetch
  }

  /** The bytes from `at` to the end of its block; null = they are not expected. */
  async read(at: number): Promise<Uint8Array | null> {
    const index = lastNotAfter(this.#blocks, at)
    const block = this.#blocks[index]
    if (block === undefined || block.last < at) return null
    const bytes = this.#hold(index)
    for (let ahead = 1; ahead <= BLOCKS_AHEAD && index + ahead < this.#blocks.length; ahead += 1)
      if (!this.#held.has(index + ahead)) void this.#hold(index + ahead)
    for (const old of this.#held.keys()) {
      if (this.#held.size <= BLOCKS_KEPT) break
      this.#held.delete(old)
    }
    return (await bytes).subarray(at - block.first)
  }

  #hold(index: number): Promise<Uint8Array> {
    const bytes = this.#held.get(index) ?? this.#fetch(this.#blocks[index]!)
    this.#held.delete(index)
    this.#held.set(index, bytes)
    // Reported where it is read; then it is requested again.
    bytes.catch(() => this.#held.get(index) === bytes && this.#held.delete(index))
    return bytes
  }
}
