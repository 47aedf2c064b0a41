// In charge of: the cc_data of each frame of an output (CTA-708-E, 4.3): the byte pairs of both fields, and
// packets of CEA-708, at any frame rate.
// Not in charge of: which pairs are sent (schedule608.ts), getting them into frames (captionCarrier.ts).
import { toNumber, type Rational } from '../rational.ts'
import { withParity } from './codes608.ts'
import { PAIRS_PER_SECOND, type SentPair } from './schedule608.ts'
import type { SentService } from './sentPackets.ts'

/** By field. */
export type CaptionFields = readonly [Iterable<SentPair>, Iterable<SentPair>]

/** Triplets in a second of CEA-608 and CEA-708 together: 9600 bits per second. The count of a frame has 5 bits. */
const [TRIPLETS_PER_SECOND, MOST_TRIPLETS] = [600, 31]

/** What is sent in the frames of an output. */
export interface SentCaptions {
  fields: CaptionFields
  services?: Iterable<SentService>
}

/** By number; `end` is the first after them, null = all that follow. */
interface Frames {
  first: number
  end: number | null
}

/**
 * The captions of these frames, up to the first frame after the last pair: that frame carries no pair. If the frames begin
 * after it, only that frame is returned.
 */
export function* captionFrames(
  sent: SentCaptions,
  rate: Rational,
  { first, end }: Frames = { first: 0, end: null },
): Generator<Uint8Array> {
  let number = 0
  let last: Uint8Array | null = null
  // From the first frame of the output: which pair is in a frame follows from all frames before it.
  for (const frame of allFrames(sent, rate)) {
    if (end !== null && number >= end) return
    if (number >= first) yield frame
    number += 1
    last = frame
  }
  if (number <= first && last !== null) yield last
}

function* allFrames({ fields, services = [] }: SentCaptions, rate: Rational): Generator<Uint8Array> {
  const framesPerSecond = toNumber(rate)
  const count = Math.min(MOST_TRIPLETS, Math.round(TRIPLETS_PER_SECOND / framesPerSecond))
  const readers = fields.map((pairs) => new PairReader(pairs))
  const packets = new Lookahead(services)
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
    const isEmpty = triplets.every((byte, at) => at % 3 === 0 || (byte & 0x7f) === 0)
    const hasServices = addServices(triplets, count, packets, (frame + EARLY) / framesPerSecond)
    // cc_valid 0.
    while (triplets.length < 3 * count) triplets.push(0xfa, 0, 0)
    yield Uint8Array.from(triplets)
    if (isEmpty && !hasServices && readers.every(({ isAtEnd }) => isAtEnd) && packets.next === undefined) return
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

/** A frame has what is complete up to half a frame after its time. */
const EARLY = 0.5

/** cc_valid with cc_type 3, the start of a packet, and with 2. */
const [PACKET_START, PACKET_DATA] = [0xff, 0xfe]

function addServices(triplets: number[], count: number, packets: Lookahead<SentService>, until: number): boolean {
  const before = triplets.length
  for (let { next } = packets; next !== undefined && next.time <= until; { next } = packets) {
    if (triplets.length >= 3 * count) break
    triplets.push(next.isStart ? PACKET_START : PACKET_DATA, next.pair >> 8, next.pair & 0xff)
    packets.advance()
  }
  return triplets.length > before
}

class Lookahead<T> {
  readonly #items: Iterator<T>
  next: T | undefined

  constructor(items: Iterable<T>) {
    this.#items = items[Symbol.iterator]()
    this.advance()
  }

  advance(): void {
    const { done = false, value } = this.#items.next() as IteratorResult<T, undefined>
    this.next = done ? undefined : value
  }
}

class PairReader {
  readonly #pairs: Lookahead<SentPair>

  constructor(pairs: Iterable<SentPair>) {
    this.#pairs = new Lookahead(pairs)
  }

  get isAtEnd(): boolean {
    return this.#pairs.next === undefined
  }

  /** Slots are asked for in order. */
  at(slot: number): number {
    const { next } = this.#pairs
    if (next === undefined || next.slot > slot) return 0
    this.#pairs.advance()
    return next.pair
  }
}
