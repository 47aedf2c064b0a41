// In charge of: the cc_data of each frame of an output (CTA-708-E, 4.3): the byte pairs of both fields at any frame rate.
// Not in charge of: which pairs are sent (schedule608.ts), getting them into frames (captionCarrier.ts).
import { toNumber, type Rational } from '../rational.ts'
import { withParity } from './codes608.ts'
import { PAIRS_PER_SECOND, type SentPair } from './schedule608.ts'

/** By field. */
export type CaptionFields = readonly [Iterable<SentPair>, Iterable<SentPair>]

/** Triplets in a second of CEA-608 and CEA-708 together: 9600 bits per second. The count of a frame has 5 bits. */
const [TRIPLETS_PER_SECOND, MOST_TRIPLETS] = [600, 31]

/** By number; `end` is the first after them, null = all that follow. */
interface Frames {
  first: number
  end: number | null
}

/** Of these frames, no more than the first one after the last pair, which has none; that one alone if they are behind it. */
export function* captionFrames(
  fields: CaptionFields,
  rate: Rational,
  { first, end }: Frames = { first: 0, end: null },
): Generator<Uint8Array> {
  let number = 0
  let last: Uint8Array | null = null
  // From the first frame of the output: which pair is in a frame follows from all frames before it.
  for (const frame of allFrames(fields, rate)) {
    if (end !== null && number >= end) return
    if (number >= first) yield frame
    number += 1
    last = frame
  }
  if (number <= first && last !== null) yield last
}

function* allFrames(fields: CaptionFields, rate: Rational): Generator<Uint8Array> {
  const framesPerSecond = toNumber(rate)
  const count = Math.min(MOST_TRIPLETS, Math.round(TRIPLETS_PER_SECOND / framesPerSecond))
  const readers = fields.map((pairs) => new PairReader(pairs))
  for (let frame = 0; ; frame += 1) {
    const triplets: number[] = []
    const slots = [0, 1].map((field) => slotsOf(frame, field, framesPerSecond))
    const most = Math.max(...slots.map(([from, to]) => to - from))
    for (let index = 0; index < most; index += 1)
      for (const field of [0, 1] as const) {
        const [from, to] = slots[field]!
        if (from + index >= to) continue
        const pair = readers[field]!.at(from + index)
        triplets.push(0xfc | field, withParity(pair >> 8), withParity(pair & 0xff))
      }
    // cc_valid 0.
    while (triplets.length < 3 * count) triplets.push(0xfa, 0, 0)
    yield Uint8Array.from(triplets)
    if (readers.every(({ isAtEnd }) => isAtEnd) && triplets.every((byte, at) => at % 3 === 0 || (byte & 0x7f) === 0))
      return
  }
}

/** The slots of a field that a frame carries. Above 29.97 frames per second field 2 is half a slot later. */
function slotsOf(frame: number, field: number, framesPerSecond: number): [from: number, to: number] {
  const perFrame = PAIRS_PER_SECOND / framesPerSecond
  const shift = perFrame < 0.999 && field === 1 ? 0.5 : 0
  // Quotients that are whole numbers are not exact in floating point.
  const before = (index: number) => Math.max(0, Math.ceil(index * perFrame - shift - 1e-6))
  return [before(frame), before(frame + 1)]
}

class PairReader {
  readonly #pairs: Iterator<SentPair>
  #next: SentPair | undefined

  constructor(pairs: Iterable<SentPair>) {
    this.#pairs = pairs[Symbol.iterator]()
    this.#advance()
  }

  get isAtEnd(): boolean {
    return this.#next === undefined
  }

  /** Slots are asked for in order. */
  at(slot: number): number {
    const next = this.#next
    if (next === undefined || next.slot > slot) return 0
    this.#advance()
    return next.pair
  }

  #advance(): void {
    const { done = false, value } = this.#pairs.next() as IteratorResult<SentPair, undefined>
    this.#next = done ? undefined : value
  }
}
