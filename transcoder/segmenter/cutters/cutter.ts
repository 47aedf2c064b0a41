// In charge of: where segments end, and what a cutter says while it cuts.
// Not in charge of: cutting (fmp4/, ts/), where the pieces go (transcoder/segmenter).
import type { Rational } from '../../formats/rational.ts'

/** Where the segments of one presentation end, counted in the pictures of one of its video renditions. */
export interface Cadence {
  /** Pictures of a full segment. */
  segmentFrames: number
  /** Segments also end before these pictures. Ascending; the grid of full segments stays where it is (segmentEnd). */
  spliceFrames: readonly number[]
  frameRate: Rational
}

/** A grid's boundary nearer to a splice point than this part of a full segment is left out. */
const MERGE_SHARE = 1 / 8

/**
 * The first picture behind the segment that begins with picture `start`. Beside a splice point the grid gives way: an
 * advertisement that returns a picture behind it would otherwise leave a segment of one picture, at which players stumble.
 * Distances in proportion to a segment, so that renditions of different frame rates agree.
 */
export function nextBoundary({ segmentFrames, spliceFrames }: Cadence, start: number): number {
  const splice = spliceFrames.find((frame) => frame > start)
  for (let at = (Math.floor(start / segmentFrames) + 1) * segmentFrames; ; at += segmentFrames) {
    if (splice !== undefined && splice <= at) return splice
    if (!spliceFrames.some((frame) => Math.abs(frame - at) < segmentFrames * MERGE_SHARE)) return at
  }
}

/** The moment of a picture in ticks, exact but for the rounding to one tick. */
export function ticksOf(frame: number, { frameRate }: Pick<Cadence, 'frameRate'>, timescale: number): number {
  return Math.round((frame * frameRate.den * timescale) / frameRate.num)
}

/** Where a picture that can be shown alone lies in its segment. `start` in ticks; bytes from the segment's beginning. */
export interface KeyFrameRange {
  start: number
  offset: number
  bytes: number
}

/**
 * media: the next bytes of the segment under way; end: that was all of it, measured. `start` and `duration` in ticks of the
 * track, 0 = the presentation's first picture. `frames`: pictures or audio frames.
 */
export type CutEvent =
  | { kind: 'init'; bytes: Uint8Array }
  | { kind: 'media'; bytes: Uint8Array }
  | { kind: 'end'; start: number; duration: number; frames: number; keys: KeyFrameRange[] }

/** Turns one stream out of the encoder into segments. Throws StreamError. */
export interface Cutter {
  push(chunk: Uint8Array): CutEvent[]
  /** The stream is over. `videoSegments`: how many the video has, which audio must not exceed; null = this is the video. */
  end(videoSegments: number | null): CutEvent[]
}
