// In charge of: where decoding begins in the middle of a transport stream: its time stamps are searched for the place, and the
// place for a frame with which decoding can begin.
// Not in charge of: access units (formats/mpegts/videoUnits.ts).
import { isSoughtCodec, type SoughtCodec } from '../formats/mpegts/accessPoint.ts'
import { TICKS_PER_SECOND, wrapTicks } from '../formats/mpegts/clock.ts'
import { videoUnits, type VideoUnit } from '../formats/mpegts/videoUnits.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import { fileStart } from '../plan/streams/outputTiming.ts'

/** Reads bytes of the source, fewer at its end. */
export type ReadBytes = (first: number, count: number) => Promise<Uint8Array>

export interface AccessPoint {
  offset: number
  /** Its decoding time, on ffmpeg's clock of the file. */
  seconds: number
}

/** Holds the beginning of a frame, at the rates of most sources. */
const PROBE_BYTES = 64 * 1024
const MOST_PROBE_BYTES = 4 * 1024 * 1024
const BLOCK_BYTES = 1024 * 1024
/** A search that comes so close to its time reads on from there. */
const NEAR_SECONDS = 3
/** How far back a frame is searched with which decoding can begin. */
const LOOK_BACK_SECONDS = [1, 10, 40] as const
/** Interpolation needs about five; bisection of a terabyte 24. */
const MAX_STEPS = 60
/** Places of the source at which its clock is looked at. */
const LOOKS = 16
/** Streams do not begin at the same time. */
const EARLIER_TICKS = 60 * TICKS_PER_SECOND

interface Place {
  offset: number
  seconds: number
}

export class TransportSearch {
  readonly #read: ReadBytes
  readonly #size: number
  readonly #stream: { pid: number; codec: SoughtCodec }
  readonly #start: number
  readonly #end: number

  /** null = its video has no PID, or a codec whose frames are not known here. */
  static of(read: ReadBytes, size: number, media: MediaInfo): TransportSearch | null {
    const { video } = media
    const start = fileStart(media)
    if (video === null || video.id === null || start === null || !isSoughtCodec(video.codec)) return null
    const seconds = (video.startSeconds ?? start) + (video.durationSeconds ?? media.durationSeconds ?? 0)
    return new TransportSearch(read, size, { pid: video.id, codec: video.codec }, { start, end: seconds })
  }

  private constructor(
    read: ReadBytes,
    size: number,
    stream: { pid: number; codec: SoughtCodec },
    { start, end }: { start: number; end: number },
  ) {
    this.#read = read
    this.#size = size
    this.#stream = stream
    this.#start = start
    this.#end = Math.max(end, start + 1)
  }

  /** Seconds on ffmpeg's clock of the file, which goes on where the 33 bits of the time stamps end. */
  #secondsOf(ticks: number): number {
    const start = wrapTicks(Math.round(this.#start * TICKS_PER_SECOND))
    return this.#start + (wrapTicks(ticks - start + EARLIER_TICKS) - EARLIER_TICKS) / TICKS_PER_SECOND
  }

  /** All frames that are shown from `seconds` on can be decoded from there; null = none was found near it. */
  async accessPointBefore(seconds: number): Promise<AccessPoint | 'beginning' | null> {
    for (const back of LOOK_BACK_SECONDS) {
      const from = await this.placeBefore(seconds - back)
      const found = await this.#lastAccessPoint(from.offset, seconds)
      if (found !== null) return found
      if (from.offset === 0) return 'beginning'
    }
    return null
  }

  /** False if a look at a few places shows that the time stamps jump back. They may jump all the same. */
  async runsOn(): Promise<boolean> {
    // Frames are decoded before they are shown: the first ones before the video begins.
    let last = this.#start - NEAR_SECONDS
    for (let place = 1; place < LOOKS; place += 1) {
      const unit = await this.#unitBehind(Math.floor((this.#size * place) / LOOKS), this.#size)
      if (unit === null) continue
      const seconds = this.#secondsOf(unit.dts)
      if (seconds < last || seconds > this.#end + NEAR_SECONDS) return false
      last = seconds
    }
    return true
  }

  /** A place whose video is a little earlier. */
  async placeBefore(seconds: number): Promise<Place> {
    let low: Place = { offset: 0, seconds: this.#start }
    let high: Place = { offset: this.#size, seconds: this.#end }
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const span = high.offset - low.offset
      if (seconds - low.seconds <= NEAR_SECONDS || span <= PROBE_BYTES) break
      const share = (seconds - NEAR_SECONDS / 2 - low.seconds) / Math.max(high.seconds - low.seconds, NEAR_SECONDS)
      // Every third step halves: bytes and seconds may have little to do with each other.
      const guess = low.offset + Math.floor(span * (step % 3 === 2 ? 0.5 : Math.min(0.98, Math.max(0.02, share))))
      const unit = await this.#unitBehind(guess, high.offset)
      if (unit === null) high = { offset: guess, seconds: high.seconds }
      else if (this.#secondsOf(unit.dts) > seconds) high = { offset: guess, seconds: this.#secondsOf(unit.dts) }
      else low = { offset: guess + unit.offset, seconds: this.#secondsOf(unit.dts) }
    }
    return low
  }

  /** The first that begins between two places. */
  async #unitBehind(offset: number, end: number): Promise<VideoUnit | null> {
    for (let count = PROBE_BYTES; count <= MOST_PROBE_BYTES; count *= 4) {
      const bytes = await this.#read(offset, count)
      const [unit] = videoUnits(bytes, this.#stream)
      if (unit !== undefined) return offset + unit.offset < end ? unit : null
      if (bytes.length < count || offset + count >= end) return null
    }
    return null
  }

  async #lastAccessPoint(from: number, seconds: number): Promise<AccessPoint | null> {
    let found: AccessPoint | null = null
    let count = BLOCK_BYTES
    for (let at = from; ;) {
      const bytes = await this.#read(at, count)
      const isLast = bytes.length < count
      const units = videoUnits(bytes, this.#stream)
      // The next block begins with the last unit, which may be cut off in this one.
      for (const { dts, pts, offset, isExact } of isLast ? units : units.slice(0, -1)) {
        if (this.#secondsOf(dts) > seconds) return found
        if (isExact && this.#secondsOf(pts) <= seconds) found = { offset: at + offset, seconds: this.#secondsOf(dts) }
      }
      if (isLast) return found
      const next = units.length > 1 ? units.at(-1)!.offset : 0
      if (next > 0) at += next
      else if (count >= MOST_PROBE_BYTES) return found
      else count *= 2
    }
  }
}
