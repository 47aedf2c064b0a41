// In charge of: whether the segments of a stretch last as long as their playlist says, each judged by the one that follows it.
// Not in charge of: reading time stamps (formats/mpegts/segmentTiming.ts, formats/mp4/fragmentTiming.ts).
import { TaskError } from '#contract/taskError.ts'
import {
  missingAtEnd,
  missingSeconds,
  playlistRounding,
  type StreamTiming,
} from '../../formats/mpegts/segmentTiming.ts'

/** By the number of the stream. null = nothing can be said about this segment. */
export type Timings = ReadonlyMap<number, StreamTiming> | null

export class ContinuityCheck {
  #before: { n: number; seconds: number; spans: Timings } | null = null
  /** The most that the playlist was wrong by until now, in seconds; null = nothing to tell it from. */
  #rounding: number | null = null
  readonly #rounds: boolean | undefined

  /** `rounds`: its playlist writes whole numbers; undefined = not known. */
  constructor(rounds: boolean | undefined) {
    this.#rounds = rounds
  }

  /** `n` is the number of the segment, from 1. Throws source_incomplete where the one before it was cut. */
  push(n: number, seconds: number, spans: Timings): void {
    const before = this.#before
    if (before !== null && before.spans !== null && spans !== null) {
      requireComplete(before.n, missingSeconds(before.spans, before.seconds, spans))
      if (before.spans.size > 0)
        this.#rounding = Math.max(this.#rounding ?? 0, playlistRounding(before.spans, before.seconds))
    }
    this.#before = { n, seconds, spans }
  }

  /** Nothing follows. Throws source_incomplete where the last segment was cut. */
  end(): void {
    if (this.#before === null) return
    const { n, seconds, spans } = this.#before
    // Of streams that this cannot read nothing is known, but that they were there before.
    if (spans === null || (spans.size === 0 && this.#rounding === null)) return
    // RFC 8216, 4.3.2.1: the nearest whole number or the next.
    const usual = (this.#rounds ?? Number.isInteger(seconds)) ? 1 : 0
    requireComplete(n, missingAtEnd(spans, seconds, this.#rounding ?? usual))
  }
}

function requireComplete(n: number, lacking: number): void {
  if (lacking <= 0) return
  const why = `Segment ${n} of the source is cut: ${lacking.toFixed(2)} s that the playlist announces are missing.`
  throw new TaskError('source_incomplete', why, { details: { segment: n, lacking_seconds: lacking } })
}
