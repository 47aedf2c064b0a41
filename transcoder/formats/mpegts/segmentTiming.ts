// In charge of: from when to when the streams of one transport stream segment last, and whether media is missing between two of them.
// Not in charge of: packets that are cut, the rest of an HLS source (source/hls/hlsDownload.ts).
import { adtsDuration } from './adts.ts'
import { readPesTimestamps, TICKS_PER_SECOND, ticksBetween } from './clock.ts'
import { concatBytes } from '../concatBytes.ts'
import { continuityCounter, PacketReader, payloadOf, pidOf, isPayloadStart } from './packet.ts'

/** PTS in ticks. */
export interface StreamTiming {
  first: number
  last: number
  /** The longest time from one unit to the next: what the last one may last. 0 where there is only one. */
  step: number
  /** What the last one lasts for certain; null where only the steps before tell. */
  lastStep: number | null
  isSound: boolean
  /** Its last unit says that more bytes belong to it. */
  isOpen: boolean
  /** It begins with the rest of a unit. */
  startsInside: boolean
  /** continuity_counter of its first and last packet (ISO/IEC 13818-1, 2.4.3.3); null where it has no packets. */
  counters: Counters | null
}

interface Counters {
  first: number
  last: number
}

interface StreamState {
  isSound: boolean
  stamps: number[]
  /** Bytes that the unit under way still has to come; −Infinity where it does not say. */
  owes: number
  startsInside: boolean
  /** What there is of the last unit of sound, without its header. */
  unit: Uint8Array[]
}

/** Reads PES headers of pictures and sounds as they pass. */
export class TsTimingReader {
  readonly #packets = new PacketReader()
  readonly #seen = new Map<number, StreamState>()
  readonly #inside = new Set<number>()
  readonly #counters = new Map<number, Counters>()
  #stamps = 0
  #isTooMuch = false

  push(chunk: Uint8Array): void {
    if (this.#isTooMuch) return
    for (const packet of this.#packets.push(chunk)) this.#read(packet)
  }

  /** null = nothing can be said. */
  end(): Map<number, StreamTiming> | null {
    for (const packet of this.#packets.end()) this.#read(packet)
    if (this.#isTooMuch) return null
    return new Map(
      [...this.#seen].map(([pid, { isSound, stamps, owes, startsInside, unit }]) => {
        const lastStep = isSound ? adtsDuration(concatBytes(unit)) : null
        const counters = this.#counters.get(pid) ?? null
        return [pid, { ...timingOf(stamps), lastStep, isSound, isOpen: owes > 0, startsInside, counters }]
      }),
    )
  }

  #read(packet: Uint8Array): void {
    const pid = pidOf(packet)
    const payload = payloadOf(packet)
    // It only counts packets with a payload.
    const counter = continuityCounter(packet)
    if (payload.length > 0) this.#counters.set(pid, { first: this.#counters.get(pid)?.first ?? counter, last: counter })
    if (!isPayloadStart(packet)) {
      const seen = this.#seen.get(pid)
      if (seen !== undefined) {
        seen.owes -= payload.length
        // A unit of sound has 64 KiB at most: its length has 16 bits.
        if (seen.isSound && seen.unit.length < MAX_UNIT_PACKETS) seen.unit.push(Uint8Array.from(payload))
      } else if (payload.length > 0) this.#inside.add(pid)
      return
    }
    const id = payload[3] ?? 0
    // stream_id of ISO/IEC 13818-1, table 2-22: audio and video. What else there is may pause.
    if (id < 0xc0 || id > 0xef) return
    const stamps = readPesTimestamps(payload)
    if (stamps === null) return
    const length = (payload[4]! << 8) | payload[5]!
    const owes = length === 0 ? Number.NEGATIVE_INFINITY : length + 6 - payload.length
    this.#stamps += 1
    this.#isTooMuch ||= this.#stamps > MAX_TIMESTAMPS || this.#seen.size > MAX_STREAMS
    if (this.#isTooMuch) {
      this.#seen.clear()
      return
    }
    const isSound = id < 0xe0
    // PES_header_data_length counts from behind itself.
    const unit = isSound ? [Uint8Array.from(payload.subarray(9 + payload[8]!))] : []
    const seen = this.#seen.get(pid)
    if (seen === undefined)
      this.#seen.set(pid, { isSound, stamps: [stamps.pts], owes, startsInside: this.#inside.has(pid), unit })
    else {
      seen.stamps.push(stamps.pts)
      seen.owes = owes
      seen.unit = unit
    }
  }
}

/** Pictures are not in the order in which they are shown; distances to the first one are. */
function timingOf(stamps: readonly number[]): Pick<StreamTiming, 'first' | 'last' | 'step'> {
  const [anchor = 0] = stamps
  const sorted = stamps.map((pts) => ticksBetween(anchor, pts)).toSorted((a, b) => a - b)
  const steps = sorted.map((at, n) => (n === 0 ? 0 : at - sorted[n - 1]!))
  return { first: anchor + sorted[0]!, last: anchor + sorted.at(-1)!, step: Math.max(...steps.slice(-MAX_INTERVALS)) }
}

/** More of both than an hour of anything has; of what has more, nothing is said. */
const MAX_TIMESTAMPS = 500_000
const MAX_STREAMS = 64
const MAX_UNIT_PACKETS = 400
const MAX_INTERVALS = 1000
/** Gaps below these are rounding, a picture that a camera dropped, or one that stands until something moves. */
/** A frame of AAC at 48 kHz and rounding. */
const AUDIO_TOLERANCE_TICKS = 0.025 * TICKS_PER_SECOND
const MIN_AUDIO_GAP_TICKS = 0.05 * TICKS_PER_SECOND
const MIN_VIDEO_GAP_TICKS = 0.1 * TICKS_PER_SECOND
const MIN_VIDEO_ONLY_GAP_TICKS = 0.5 * TICKS_PER_SECOND

/** Seconds that a segment lasts, by its pictures where it has some: units of sound are longer, and less exact. */
function segmentSeconds(spans: ReadonlyMap<number, StreamTiming>): number {
  const pictures = [...spans.values()].filter(({ isSound }) => !isSound)
  const ticks = (pictures.length > 0 ? pictures : [...spans.values()]).map(
    ({ first, last, step }) => last - first + step,
  )
  return Math.max(0, ...ticks) / TICKS_PER_SECOND
}

/**
 * Seconds that lack at the end of a segment which is said to last `seconds`, in front of the `next` of the same stretch; 0 = none.
 * A pause in the time stamps alone is no proof, nor is a playlist that rounds: both must say so. Pictures may pause where sound goes
 * on, unless packets lack of them and none of the sound.
 */
export function missingSeconds(
  spans: ReadonlyMap<number, StreamTiming>,
  seconds: number,
  next: ReadonlyMap<number, StreamTiming>,
): number {
  if (spans.size === 0) return next.size === 0 ? 0 : seconds
  const gaps = [...spans].flatMap(([pid, span]) => {
    const after = next.get(pid)
    if (after === undefined) return []
    const step = span.lastStep ?? Math.max(span.step, after.step)
    const gap = ticksBetween(span.last, after.first) - step
    // Bytes that are announced and do not come in the next segment either.
    if (span.isOpen && !after.startsInside)
      return [{ isSound: true, slack: 0, gap: Math.max(gap, step, MIN_VIDEO_GAP_TICKS), follows: false }]
    const short = seconds * TICKS_PER_SECOND - (span.last - span.first + step)
    // Where the end is exact there is nothing to allow for.
    const slack = span.lastStep === null ? step : 0
    return [{ isSound: span.isSound, slack, gap: short > gap / 2 ? gap : 0, follows: isContinuous(span, after) }]
  })
  const sounds = gaps.filter(({ isSound }) => isSound)
  const cut = sounds.filter(({ gap, slack }) => gap > Math.max(MIN_AUDIO_GAP_TICKS, slack / 2))
  const least = sounds.length === 0 ? MIN_VIDEO_ONLY_GAP_TICKS : MIN_VIDEO_GAP_TICKS
  const pictures = gaps.filter(({ isSound, gap, slack }) => !isSound && gap > Math.max(least, 2 * slack))
  const goesOn = sounds.length > cut.length
  const isCounted = sounds.some((sound) => sound.follows)
  const lost = pictures.filter((picture) => !goesOn || (isCounted && !picture.follows))
  return Math.max(0, ...[...cut, ...lost].map(({ gap }) => gap)) / TICKS_PER_SECOND
}

/** Whether the counter goes on from one segment to the next; many packagers begin anew in each. */
function isContinuous(span: StreamTiming, after: StreamTiming): boolean {
  if (span.counters === null || after.counters === null) return false
  return after.counters.first === ((span.counters.last + 1) & 0xf)
}

/** How far the playlist is from what a segment is: none of it where it rounds. */
export function playlistRounding(spans: ReadonlyMap<number, StreamTiming>, seconds: number): number {
  return Math.abs(seconds - segmentSeconds(spans))
}

/** The same for the last segment of a stretch, whose length only the playlist knows, `rounding` seconds more or less. */
export function missingAtEnd(spans: ReadonlyMap<number, StreamTiming>, seconds: number, rounding: number): number {
  const streams = [...spans.values()]
  const pictures = streams.filter(({ isSound }) => !isSound)
  const step = Math.max(0, ...(pictures.length > 0 ? pictures : streams).map((span) => span.step)) / TICKS_PER_SECOND
  const least = Math.max(MIN_VIDEO_GAP_TICKS / TICKS_PER_SECOND, rounding, step)
  const short = seconds - segmentSeconds(spans)
  if (streams.some(({ isOpen }) => isOpen)) return Math.max(short, step)
  if (streams.some((span) => audioReaches(span, pictures[0]?.first ?? span.first, seconds))) return 0
  return short > least ? short : 0
}

/** A longer sound may be what the playlist counts. Nothing that belongs in front of its last unit comes behind it. */
function audioReaches(span: StreamTiming, from: number, seconds: number): boolean {
  if (!span.isSound || span.lastStep === null) return false
  const lasting = ticksBetween(from, span.last) + span.lastStep
  return Math.abs(lasting - seconds * TICKS_PER_SECOND) < AUDIO_TOLERANCE_TICKS
}
