// In charge of: start and end of each stream in one transport stream segment, and whether media is missing between two
// segments.
// Not in charge of: truncated packets, other checks of an HLS source (source/hls/hlsDownload.ts).
import { readPesTimestamps, TICKS_PER_SECOND, ticksBetween } from './clock.ts'
import { concatBytes } from '../concatBytes.ts'
import { continuityCounter, PacketReader, payloadOf, pidOf, isPayloadStart } from './packet.ts'

/** PTS in ticks. */
export interface StreamTiming {
  first: number
  last: number
  /** The longest distance between two units: the last one may last as long. 0 where there is only one unit. */
  maxInterval: number
  /** The exact duration of the last unit; null where only earlier distances are known. */
  lastDuration: number | null
  isAudio: boolean
  /** The last unit announces more bytes than arrived. */
  isUnitIncomplete: boolean
  /** The segment begins with the rest of a unit. */
  startsMidUnit: boolean
  /** continuity_counter of its first and last packet (ISO/IEC 13818-1, 2.4.3.3); null where it has no packets. */
  counters: Counters | null
}

interface Counters {
  first: number
  last: number
}

interface StreamState {
  isAudio: boolean
  stamps: number[]
  /** Bytes that the current unit still lacks; −Infinity where it does not state its length. */
  missingBytes: number
  startsMidUnit: boolean
  /** The available bytes of the last audio unit, without its header. */
  unit: Uint8Array[]
}

/** Reads PES headers of audio and video from a stream of bytes. */
export class TsTimingReader {
  readonly #packets = new PacketReader()
  readonly #streams = new Map<number, StreamState>()
  readonly #startedMidUnit = new Set<number>()
  readonly #counters = new Map<number, Counters>()
  #stamps = 0
  #isOverLimit = false

  push(block: Uint8Array): void {
    if (this.#isOverLimit) return
    for (const packet of this.#packets.push(block)) this.#read(packet)
  }

  /** null = the timing is unknown. */
  end(): Map<number, StreamTiming> | null {
    for (const packet of this.#packets.end()) this.#read(packet)
    if (this.#isOverLimit) return null
    return new Map(
      [...this.#streams].map(([pid, { isAudio, stamps, missingBytes, startsMidUnit, unit }]) => {
        const lastDuration = isAudio ? adtsDuration(concatBytes(unit)) : null
        const counters = this.#counters.get(pid) ?? null
        return [
          pid,
          { ...timingOf(stamps), lastDuration, isAudio, isUnitIncomplete: missingBytes > 0, startsMidUnit, counters },
        ]
      }),
    )
  }

  #read(packet: Uint8Array): void {
    const pid = pidOf(packet)
    const payload = payloadOf(packet)
    // continuity_counter counts only packets with a payload.
    const counter = continuityCounter(packet)
    if (payload.length > 0) this.#counters.set(pid, { first: this.#counters.get(pid)?.first ?? counter, last: counter })
    if (!isPayloadStart(packet)) {
      const state = this.#streams.get(pid)
      if (state !== undefined) {
        state.missingBytes -= payload.length
        // An audio unit has 64 KiB at most: its length has 16 bits.
        if (state.isAudio && state.unit.length < MAX_UNIT_PACKETS) state.unit.push(Uint8Array.from(payload))
      } else if (payload.length > 0) this.#startedMidUnit.add(pid)
      return
    }
    const id = payload[3] ?? 0
    // stream_id of ISO/IEC 13818-1, table 2-22: audio and video. Other streams may pause.
    if (id < 0xc0 || id > 0xef) return
    const stamps = readPesTimestamps(payload)
    if (stamps === null) return
    const length = (payload[4]! << 8) | payload[5]!
    const missingBytes = length === 0 ? Number.NEGATIVE_INFINITY : length + 6 - payload.length
    this.#stamps += 1
    this.#isOverLimit ||= this.#stamps > MAX_TIMESTAMPS || this.#streams.size > MAX_STREAMS
    if (this.#isOverLimit) {
      this.#streams.clear()
      return
    }
    const isAudio = id < 0xe0
    // PES_header_data_length counts the bytes after itself.
    const unit = isAudio ? [Uint8Array.from(payload.subarray(9 + payload[8]!))] : []
    const state = this.#streams.get(pid)
    if (state === undefined)
      this.#streams.set(pid, {
        isAudio,
        stamps: [stamps.pts],
        missingBytes,
        startsMidUnit: this.#startedMidUnit.has(pid),
        unit,
      })
    else {
      state.stamps.push(stamps.pts)
      state.missingBytes = missingBytes
      state.unit = unit
    }
  }
}

/** Frames do not arrive in presentation order, so their times are sorted by distance to the first. */
function timingOf(stamps: readonly number[]): Pick<StreamTiming, 'first' | 'last' | 'maxInterval'> {
  const [anchor = 0] = stamps
  const sorted = stamps.map((pts) => ticksBetween(anchor, pts)).toSorted((a, b) => a - b)
  const steps = sorted.map((at, n) => (n === 0 ? 0 : at - sorted[n - 1]!))
  return {
    first: anchor + sorted[0]!,
    last: anchor + sorted.at(-1)!,
    maxInterval: Math.max(...steps.slice(-MAX_INTERVALS)),
  }
}

/** More than an hour of any stream has. A segment with more is not measured. */
const MAX_TIMESTAMPS = 500_000
const MAX_STREAMS = 64
const MAX_UNIT_PACKETS = 400
const MAX_INTERVALS = 1000
/** A frame of AAC at 48 kHz, and rounding. */
const AUDIO_TOLERANCE_TICKS = 0.025 * TICKS_PER_SECOND
/** Smaller gaps are rounding, a frame that a camera dropped, or a still frame that lasts until something moves. */
const MIN_AUDIO_GAP_TICKS = 0.05 * TICKS_PER_SECOND
const MIN_VIDEO_GAP_TICKS = 0.1 * TICKS_PER_SECOND
const MIN_VIDEO_ONLY_GAP_TICKS = 0.5 * TICKS_PER_SECOND

/** Duration of a segment in seconds, measured by its video where it has some: audio units are longer and less exact. */
function segmentSeconds(timings: ReadonlyMap<number, StreamTiming>): number {
  const videoStreams = [...timings.values()].filter(({ isAudio }) => !isAudio)
  const ticks = (videoStreams.length > 0 ? videoStreams : [...timings.values()]).map(
    ({ first, last, maxInterval }) => last - first + maxInterval,
  )
  return Math.max(0, ...ticks) / TICKS_PER_SECOND
}

/**
 * Seconds of media missing at the end of a segment that should last `seconds`, before the `next` one of the same
 * discontinuity period; 0 = none. A gap in the time stamps alone is no proof, nor is a rounded duration in the
 * playlist: both must indicate it. Video may pause while audio continues, unless only video packets are missing.
 */
export function missingSeconds(
  timings: ReadonlyMap<number, StreamTiming>,
  seconds: number,
  next: ReadonlyMap<number, StreamTiming>,
): number {
  if (timings.size === 0) return next.size === 0 ? 0 : seconds
  const gaps = [...timings].flatMap(([pid, timing]) => {
    const after = next.get(pid)
    if (after === undefined) return []
    const maxInterval = timing.lastDuration ?? Math.max(timing.maxInterval, after.maxInterval)
    const gap = ticksBetween(timing.last, after.first) - maxInterval
    // The unit announces bytes that the next segment does not contain either.
    if (timing.isUnitIncomplete && !after.startsMidUnit)
      return [{ isAudio: true, slack: 0, gap: Math.max(gap, maxInterval, MIN_VIDEO_GAP_TICKS), follows: false }]
    const short = seconds * TICKS_PER_SECOND - (timing.last - timing.first + maxInterval)
    // An exact end needs no tolerance.
    const slack = timing.lastDuration === null ? maxInterval : 0
    return [{ isAudio: timing.isAudio, slack, gap: short > gap / 2 ? gap : 0, follows: isContinuous(timing, after) }]
  })
  const audioGaps = gaps.filter(({ isAudio }) => isAudio)
  const cut = audioGaps.filter(({ gap, slack }) => gap > Math.max(MIN_AUDIO_GAP_TICKS, slack / 2))
  const least = audioGaps.length === 0 ? MIN_VIDEO_ONLY_GAP_TICKS : MIN_VIDEO_GAP_TICKS
  const videoStreams = gaps.filter(({ isAudio, gap, slack }) => !isAudio && gap > Math.max(least, 2 * slack))
  const goesOn = audioGaps.length > cut.length
  const isCounted = audioGaps.some((audio) => audio.follows)
  const lost = videoStreams.filter((picture) => !goesOn || (isCounted && !picture.follows))
  return Math.max(0, ...[...cut, ...lost].map(({ gap }) => gap)) / TICKS_PER_SECOND
}

/** Whether the counter continues from one segment to the next. Many packagers restart it in each segment. */
function isContinuous(timing: StreamTiming, after: StreamTiming): boolean {
  if (timing.counters === null || after.counters === null) return false
  return after.counters.first === ((timing.counters.last + 1) & 0xf)
}

/** Difference in seconds between the playlist's duration of a segment and the measured one. */
export function playlistRounding(timings: ReadonlyMap<number, StreamTiming>, seconds: number): number {
  return Math.abs(seconds - segmentSeconds(timings))
}

/**
 * Missing seconds of the last segment of a discontinuity period, whose duration only the playlist states, within
 * `rounding` seconds.
 */
export function missingAtEnd(timings: ReadonlyMap<number, StreamTiming>, seconds: number, rounding: number): number {
  const streams = [...timings.values()]
  const videoStreams = streams.filter(({ isAudio }) => !isAudio)
  const maxInterval =
    Math.max(0, ...(videoStreams.length > 0 ? videoStreams : streams).map((timing) => timing.maxInterval)) /
    TICKS_PER_SECOND
  const least = Math.max(MIN_VIDEO_GAP_TICKS / TICKS_PER_SECOND, rounding, maxInterval)
  const short = seconds - segmentSeconds(timings)
  if (streams.some(({ isUnitIncomplete }) => isUnitIncomplete)) return Math.max(short, maxInterval)
  if (streams.some((timing) => audioReaches(timing, videoStreams[0]?.first ?? timing.first, seconds))) return 0
  return short > least ? short : 0
}

/** The playlist may count audio that is longer than the video. If audio reaches the stated end, nothing is missing. */
function audioReaches(timing: StreamTiming, from: number, seconds: number): boolean {
  if (!timing.isAudio || timing.lastDuration === null) return false
  const lasting = ticksBetween(from, timing.last) + timing.lastDuration
  return Math.abs(lasting - seconds * TICKS_PER_SECOND) < AUDIO_TOLERANCE_TICKS
}

/** sampling_frequency_index of ISO/IEC 14496-3, table 1.18, in Hz. */
const RATES = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350]
/** With spectral band replication the header states half of the sample rate. The duration is the same. */
const SAMPLES = 1024
const HEADER_BYTES = 7

/**
 * Duration in ticks of the frames in `bytes`, which begin with one; null for other data, and where the last frame is
 * incomplete.
 */
export function adtsDuration(bytes: Uint8Array): number | null {
  let ticks = 0
  let at = 0
  while (at + HEADER_BYTES <= bytes.length) {
    const rate = RATES[(bytes[at + 2]! >> 2) & 0xf]
    const length = ((bytes[at + 3]! & 3) << 11) | (bytes[at + 4]! << 3) | (bytes[at + 5]! >> 5)
    // Sync word of twelve ones, and layer 0.
    if (bytes[at] !== 0xff || (bytes[at + 1]! & 0xf6) !== 0xf0 || rate === undefined || length < HEADER_BYTES)
      return null
    const blocks = (bytes[at + 6]! & 3) + 1
    ticks += (blocks * SAMPLES * TICKS_PER_SECOND) / rate
    at += length
  }
  return at === bytes.length && at > 0 ? Math.round(ticks) : null
}
