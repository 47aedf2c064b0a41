// In charge of: data in PCM: bursts of Dolby E, AC-3 and others (SMPTE ST 337 and 338, IEC 61937), which are full-level noise to
// whoever plays them as sound; and the frames of AC-3 and E-AC-3 in them.
// Not in charge of: decoding the samples (analysis/dataInAudio.ts, analysis/burstFiles.ts), or the frames (ac3.ts).
import { FRAME_HEADER_BYTES, readSyncFrame } from './ac3.ts'

/** Pa and Pb of 16, 20 and 24 bits, at the top of samples of 32. */
const SYNC = [16, 12, 8].map((shift) => {
  const [first, second] = [
    [0xf872, 0x4e1f],
    [0x6f872, 0x54e1f],
    [0x96f872, 0xa54e1f],
  ][(16 - shift) / 4]!
  return [(first! << shift) | 0, (second! << shift) | 0] as const
})
/** ST 338, table 1. */
const NAMES: Readonly<Record<number, string>> = { 1: 'AC-3', 16: 'E-AC-3', 21: 'E-AC-3', 24: 'AC-4', 28: 'Dolby E' }
/** Null data, time stamps and pauses stand between those of another type. */
const BETWEEN = new Set([0, 2, 3])
/** One could be chance. */
const MIN_BURSTS = 2

/** What the samples of a channel, or of two together, hold; null = sound. */
export function dataType(first: Int32Array, second: Int32Array | null): string | null {
  const counts = new Map<number, number>()
  const count = Math.min(first.length, second?.length ?? Infinity)
  for (let at = 0; at + 2 < count; at++) {
    const value = first[at]!
    for (const [pa, pb] of SYNC) {
      if (value !== pa || (second === null ? first[at + 1] : second[at]) !== pb) continue
      const type = (first[at + (second === null ? 2 : 1)]! >>> 16) & 31
      counts.set(type, (counts.get(type) ?? 0) + 1)
    }
  }
  const bursts = [...counts.values()].reduce((sum, each) => sum + each, 0)
  if (bursts < MIN_BURSTS) return null
  const type = [...counts.keys()].find((each) => !BETWEEN.has(each)) ?? 0
  return NAMES[type] ?? `data of type ${type}`
}

/** Their frames can be taken out of the bursts. */
export function isReadable(name: string): boolean {
  return name === NAMES[1] || name === NAMES[21]
}

const READABLE = new Set(Object.entries(NAMES).flatMap(([type, name]) => (isReadable(name) ? [Number(type)] : [])))

/** The frames of one burst. */
export interface Burst {
  /** Pairs of samples before it. */
  at: number
  bytes: Uint8Array
}

/** Pa, Pb, Pc, Pd. */
const PREAMBLE_WORDS = 4
/** IEC 61937-3: the period of E-AC-3, in words of 16 bits. */
const MAX_BURST_BYTES = 4 * 6144

/** Reads the bursts of AC-3 and E-AC-3 in pairs of samples of 32 bits: their words stand in both channels by turns. */
export class BurstReader {
  #rest = new Int32Array()
  #pairs = 0
  /** Pairs of samples that are neither silent nor part of such a burst. */
  others = 0

  /** `samples`: pairs that follow those of the call before. */
  push(samples: Int32Array): Burst[] {
    const words = new Int32Array(this.#rest.length + samples.length)
    words.set(this.#rest)
    words.set(samples, this.#rest.length)
    const found: Burst[] = []
    let at = 0
    while (at + PREAMBLE_WORDS <= words.length) {
      const bits = wordBits(words, at)
      const bytes = bits === null ? null : framesAt(words.subarray(at + PREAMBLE_WORDS), bits)
      if (bytes === 'incomplete') break
      if (bits === null || bytes === null) {
        if (words[at] !== 0 || words[at + 1] !== 0) this.others += 1
        at += 2
        continue
      }
      found.push({ at: this.#pairs + at / 2, bytes })
      at += PREAMBLE_WORDS + 2 * Math.ceil((bytes.length * 4) / bits)
    }
    this.#pairs += at / 2
    this.#rest = words.slice(at)
    return found
  }
}

/** Of a burst of AC-3 or E-AC-3 that begins here; null = none does. */
function wordBits(words: Int32Array, at: number): number | null {
  const size = SYNC.findIndex(([pa, pb]) => words[at] === pa && words[at + 1] === pb)
  return size >= 0 && READABLE.has((words[at + 2]! >>> 16) & 31) ? 16 + 4 * size : null
}

/**
 * AC-3 has one frame in a burst, E-AC-3 may have several. They state their own sizes; what the burst states (Pd) is bits
 * in one standard and bytes in the other. null = no frame.
 */
function framesAt(words: Int32Array, bits: number): Uint8Array | 'incomplete' | null {
  let size = 0
  while (size <= MAX_BURST_BYTES) {
    // Only the headers until it is known that they are right: hostile ones may follow every few bytes.
    const header = unpack(words, bits, size, FRAME_HEADER_BYTES)
    if (header === null) return 'incomplete'
    const frame = readSyncFrame(header)
    if (frame === null) break
    size += frame.bytes
    if (frame.codec === 'ac3') break
  }
  return size === 0 || size > MAX_BURST_BYTES ? null : (unpack(words, bits, 0, size) ?? 'incomplete')
}

/** `size` bytes from byte `from` on, of the bits at the top of each word, one word behind the other; null = there are fewer. */
function unpack(words: Int32Array, bits: number, from: number, size: number): Uint8Array | null {
  if (words.length * bits < (from + size) * 8) return null
  const bytes = new Uint8Array(size)
  let word = Math.floor((from * 8) / bits)
  let count = bits - ((from * 8) % bits)
  let held = (words[word]! >>> (32 - bits)) & (2 ** count - 1)
  for (let at = 0; at < size; at += 1) {
    if (count < 8) {
      word += 1
      held = ((held & ((1 << count) - 1)) << bits) | (words[word]! >>> (32 - bits))
      count += bits
    }
    count -= 8
    bytes[at] = held >>> count
  }
  return bytes
}
