// In charge of: many small ranges of the source, requested before their time and kept in memory: one after the other, each
// would wait for its answer.
// Not in charge of: which ranges these are (skippedBytes.ts), requests (sourceReader.ts).
import { lastNotAfter } from './byteRanges.ts'
import type { ByteRange } from './rangeResponse.ts'

/** Bytes of a block. Every read of a store costs time and money, and a block may be read for one sample of it. */
const BLOCK_BYTES = 256 * 1024
/** Blocks that are requested before their time. */
const BLOCKS_AHEAD = 8
/** Two tracks whose samples lie apart are read alternately. */
const BLOCKS_KEPT = 32

export class BlockBuffer {
  readonly #blocks: readonly ByteRange[]
  readonly #fetch: (range: ByteRange) => Promise<Uint8Array>
  /** The one that was read last is the last. */
  readonly #held = new Map<number, Promise<Uint8Array>>()

  /** `ranges`: ascending; they do not overlap. */
  constructor(ranges: readonly ByteRange[], fetch: (range: ByteRange) => Promise<Uint8Array>) {
    this.#blocks = ranges.flatMap(inBlocks)
    this.#fetch = fetch
  }

  /** The bytes from `at` to the end of its block; null = they are in none of the ranges. */
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

function inBlocks({ first, last }: ByteRange): ByteRange[] {
  return Array.from({ length: Math.ceil((last - first + 1) / BLOCK_BYTES) }, (_, block) => ({
    first: first + block * BLOCK_BYTES,
    last: Math.min(last, first + (block + 1) * BLOCK_BYTES - 1),
  }))
}
