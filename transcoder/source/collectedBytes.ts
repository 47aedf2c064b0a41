// In charge of: bytes of the source that pass by while another reader wants them: they are kept in memory. Nothing is
// requested for them.
// Not in charge of: which bytes these are (analysis/sharedBytes.ts), handing them over (pipeline/division/sharedReading.ts).
import { lastNotAfter } from './byteRanges.ts'
import type { ByteRange } from './rangeResponse.ts'

/** Some bytes of the source in one piece. */
export interface SourceRun {
  first: number
  bytes: Uint8Array
}

/** What one range takes beside its bytes: the index of a file may say that every byte is one. */
const RANGE_BYTES = 256

interface Held {
  /** What follows the bytes that are held. */
  next: number
  pieces: Uint8Array[]
}

export class CollectedBytes {
  readonly #ranges: readonly ByteRange[]
  readonly #held = new Map<number, Held>()
  #left: number

  /** `ranges`: ascending; they do not overlap. No more than `most` bytes of memory are used. */
  constructor(ranges: readonly ByteRange[], most: number) {
    this.#ranges = ranges
    this.#left = most
  }

  /** For `LoopbackServer.observe`. */
  readonly onReader = (first: number): ((bytes: Uint8Array) => void) => {
    let at = first
    return (bytes) => {
      this.#take(at, bytes)
      at += bytes.length
    }
  }

  /** What is held, ascending. A range that was read in part is held up to its first gap. */
  runs(): SourceRun[] {
    return [...this.#held.entries()]
      .toSorted(([a], [b]) => a - b)
      .map(([index, { pieces }]) => ({ first: this.#ranges[index]!.first, bytes: Buffer.concat(pieces) }))
  }

  #take(at: number, bytes: Uint8Array): void {
    const end = at + bytes.length
    const before = lastNotAfter(this.#ranges, at)
    for (let index = Math.max(0, before); index < this.#ranges.length; index += 1) {
      const range = this.#ranges[index]!
      if (range.first >= end) return
      const known = this.#held.get(index)
      const held = known ?? { next: range.first, pieces: [] }
      const until = Math.min(end, range.last + 1)
      const needed = until - held.next + (known === undefined ? RANGE_BYTES : 0)
      if (at > held.next || until <= held.next || needed > this.#left) continue
      // A copy: the piece would keep all that arrived with it.
      held.pieces.push(Uint8Array.from(bytes.subarray(held.next - at, until - at)))
      this.#left -= needed
      held.next = until
      this.#held.set(index, held)
    }
  }
}
