// In charge of: many ranges of the source, requested before their time and kept in memory: one after the other, each would
// wait for its answer.
// Not in charge of: which ranges these are (skippedBytes.ts), requests (sourceReader.ts).
import { lastNotAfter } from './byteRanges.ts'
import type { ByteRange } from './rangeResponse.ts'

/**
 * Bytes of the largest block. Every request costs time in all that it passes; where frames are small, nearly all of the
 * source lies between the ranges that are skipped.
 */
const BLOCK_BYTES = 2 * 1024 * 1024
/** What is requested before its time: at most this many blocks, with at most this many bytes, but at least one block. */
const AHEAD = { blocks: 8, bytes: 6 * 1024 * 1024 }
/** Two tracks whose samples lie apart are read alternately. */
const KEPT = { blocks: 32, bytes: 16 * 1024 * 1024 }

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
    for (const ahead of this.#behind(index)) if (!this.#held.has(ahead)) void this.#hold(ahead)
    this.#forget()
    return (await bytes).subarray(at - block.first)
  }

  *#behind(index: number): Generator<number> {
    let bytes = 0
    for (let ahead = index + 1; ahead <= Math.min(index + AHEAD.blocks, this.#blocks.length - 1); ahead += 1) {
      bytes += lengthOf(this.#blocks[ahead]!)
      if (bytes > AHEAD.bytes && ahead > index + 1) return
      yield ahead
    }
  }

  #forget(): void {
    let bytes = [...this.#held.keys()].reduce((sum, index) => sum + lengthOf(this.#blocks[index]!), 0)
    for (const old of this.#held.keys()) {
      if (this.#held.size <= KEPT.blocks && bytes <= KEPT.bytes) return
      bytes -= lengthOf(this.#blocks[old]!)
      this.#held.delete(old)
    }
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

function lengthOf({ first, last }: ByteRange): number {
  return last - first + 1
}

function inBlocks({ first, last }: ByteRange): ByteRange[] {
  return Array.from({ length: Math.ceil(lengthOf({ first, last }) / BLOCK_BYTES) }, (_, block) => ({
    first: first + block * BLOCK_BYTES,
    last: Math.min(last, first + (block + 1) * BLOCK_BYTES - 1),
  }))
}
