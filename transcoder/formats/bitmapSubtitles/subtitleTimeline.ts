// In charge of: from when to when each image of a bitmap subtitle stream is shown in the outputs.
// Not in charge of: decoding the images (dvbDecoder.ts, pgsDecoder.ts), drawing them (subtitleArea.ts).
import type { DisplaySet, SubtitleImage } from './displaySet.ts'

export const TICKS_PER_SECOND = 90_000
/**
 * A subtitle belongs to the first frame that is not earlier than its time. Containers round both times: Matroska to whole
 * milliseconds.
 */
const ROUNDING_SECONDS = 0.002

export interface ShownSubtitle extends Pick<DisplaySet, 'canvas'> {
  /** Seconds of the outputs; the images are shown in the first frame that is not earlier. */
  start: number
  /** The first frame that is not earlier is without them; null = they are shown to the end of the outputs. */
  end: number | null
  /** At least one. */
  images: SubtitleImage[]
}

export interface OutputClock {
  /** Seconds on the clock of the source at which the outputs begin. */
  startSeconds: number
  /** Length of the outputs; null = not known. */
  seconds: number | null
  /** After this many ticks the clock of the packets begins again. */
  clockPeriod: number
}

export class SubtitleTimeline {
  readonly #clock: OutputClock
  /** Time of the last packet. It goes on counting where the clock of the packets begins again. */
  #ticks: number
  #shown: { start: number; timeout: number; set: DisplaySet } | null = null
  #last = Number.NEGATIVE_INFINITY

  constructor(clock: OutputClock) {
    this.#clock = clock
    this.#ticks = clock.startSeconds * TICKS_PER_SECOND
  }

  /** Returns what the set replaces. */
  push(ticks: number, set: DisplaySet): ShownSubtitle[] {
    const { clockPeriod, startSeconds } = this.#clock
    // The time that is nearest to the packet before.
    this.#ticks = ticks + Math.round((this.#ticks - ticks) / clockPeriod) * clockPeriod
    // Not earlier than what has been said already: damaged packets may go back.
    const time = Math.max(this.#last, this.#ticks / TICKS_PER_SECOND - startSeconds)
    this.#last = time
    const timeout = set.timeoutSeconds === null ? Number.POSITIVE_INFINITY : time + set.timeoutSeconds
    if (this.#shown !== null && this.#shown.timeout >= time && isSame(this.#shown.set, set)) {
      this.#shown.timeout = timeout
      return []
    }
    const before = this.#close(time)
    this.#shown = set.images.length === 0 ? null : { start: time, timeout, set }
    return before
  }

  end(): ShownSubtitle[] {
    return this.#close(Number.POSITIVE_INFINITY)
  }

  #close(time: number): ShownSubtitle[] {
    if (this.#shown === null) return []
    const { start, timeout, set } = this.#shown
    this.#shown = null
    const { seconds } = this.#clock
    const shownFrom = Math.max(0, start - ROUNDING_SECONDS)
    const until = Math.min(time, timeout) - ROUNDING_SECONDS
    if (until <= shownFrom || (seconds !== null && shownFrom >= seconds)) return []
    const isToEnd = until === Number.POSITIVE_INFINITY || (seconds !== null && until >= seconds)
    return [{ canvas: set.canvas, images: set.images, start: shownFrom, end: isToEnd ? null : until }]
  }
}

/** Streams repeat what is shown, for receivers that have just been switched on. */
function isSame(one: DisplaySet, other: DisplaySet): boolean {
  return (
    one.canvas.width === other.canvas.width &&
    one.canvas.height === other.canvas.height &&
    one.images.length === other.images.length &&
    one.images.every((image, index) => isSameImage(image, other.images[index]!))
  )
}

function isSameImage(one: SubtitleImage, other: SubtitleImage): boolean {
  return (
    (['x', 'y', 'width', 'height'] as const).every((key) => one[key] === other[key]) &&
    sameBytes(one.pixels, other.pixels) &&
    sameBytes(one.palette, other.palette)
  )
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one === other || (one.length === other.length && one.every((byte, index) => byte === other[index]))
}
