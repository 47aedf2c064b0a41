// In charge of: whether the segments of a period last as long as their playlist says; each is checked when the next one
// is known.
// Not in charge of: reading time stamps (formats/mpegts/segmentTiming.ts, formats/mp4/fragmentTiming.ts).
import { TaskError } from '#contract/taskError.ts'
import {
  missingAtEnd,
  missingSeconds,
  playlistRounding,
  type StreamTiming,
} from '../../formats/mpegts/segmentTiming.ts'

/** By stream number. null = the timing of this segment is unknown. */
export type Timings = ReadonlyMap<number, StreamTiming> | null

export class ContinuityCheck {
  #previous: { n: number; seconds: number; spans: Timings } | null = null
  /** The largest error of the playlist so far, in seconds; null = no segment could be compared yet. */
  #rounding: number | null = null
  readonly #rounds: boolean

  /** `rounds`: the playlist has whole numbers. */
  constructor(rounds: boolean) {
    this.#rounds = rounds
  }

  /** `n` is the number of the segment, from 1. Throws source_incomplete if the previous one was truncated. */
  push(n: number, seconds: number, timings: Timings): void {
    const before = this.#previous
    if (before !== null && before.spans !== null && timings !== null) {
      requireComplete(before.n, missingSeconds(before.spans, before.seconds, timings))
      if (before.spans.size > 0)
        this.#rounding = Math.max(this.#rounding ?? 0, playlistRounding(before.spans, before.seconds))
    }
    this.#previous = { n, seconds, spans: timings }
  }

  /** Call after the last segment. Throws source_incomplete if it was truncated. */
  end(): void {
    if (this.#previous === null) return
    const { n, seconds, spans: timings } = this.#previous
    // Nothing can be checked if the timing is unknown, or if no stream was readable in this segment or any before it.
    if (timings === null || (timings.size === 0 && this.#rounding === null)) return
    // RFC 8216, 4.3.2.1: the nearest whole number or the next.
    const usual = this.#rounds ? 1 : 0
    requireComplete(n, missingAtEnd(timings, seconds, this.#rounding ?? usual))
  }
}

function requireComplete(n: number, lacking: number): void {
  if (lacking <= 0) return
  const why = `Segment ${n} of the source is cut: ${lacking.toFixed(2)} s that the playlist announces are missing.`
  throw new TaskError('source_incomplete', why, { details: { segment: n, lacking_seconds: lacking } })
}
