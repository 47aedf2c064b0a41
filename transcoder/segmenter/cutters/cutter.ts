// In charge of: where segments end, and the events that a cutter emits.
// Not in charge of: cutting (the other files here), storing segments (segmentWriter.ts).
import { TaskError } from '#contract/taskError.ts'
import type { Rational } from '../../formats/rational.ts'
import type { SegmentStarts } from '#contract/task/plan/packagingPlan.ts'

/** Where the segments of one presentation end, counted in frames of one of its video renditions. */
export interface Cadence {
  /** Frames of a full segment. */
  segmentFrames: number
  /** Segments also end before these frames. Ascending. The regular boundaries do not move (nextBoundary). */
  spliceFrames: readonly number[]
  frameRate: Rational
  /** The boundaries and their times, where a copied rendition decides; then the rule above applies only after the last. */
  starts?: SegmentStarts
}

/** A regular boundary is left out if it is nearer to a splice point than this share of a full segment. */
const MERGE_SHARE = 1 / 8

/**
 * The first frame after the segment that begins with frame `start`. Regular boundaries close to a splice point are left
 * out: a break that ends one frame after such a boundary would otherwise produce a segment of one frame, which disturbs
 * players.
 * Distances are relative to a segment, so that renditions of different frame rates agree.
 */
export function nextBoundary({ segmentFrames, spliceFrames, starts }: Cadence, start: number): number {
  if (starts !== undefined) return starts.frames.find((frame) => frame > start) ?? start + segmentFrames
  const splice = spliceFrames.find((frame) => frame > start)
  for (let at = (Math.floor(start / segmentFrames) + 1) * segmentFrames; ; at += segmentFrames) {
    if (splice !== undefined && splice <= at) return splice
    if (!spliceFrames.some((frame) => Math.abs(frame - at) < segmentFrames * MERGE_SHARE)) return at
  }
}

/** The number of segments before frame `frame`, at which a segment must begin. */
export function segmentsBefore(cadence: Cadence, frame: number): number {
  let count = 0
  let at = 0
  for (; at < frame; at = nextBoundary(cadence, at)) count += 1
  if (at !== frame) throw new TaskError('internal', `No segment begins at frame ${frame}.`)
  return count
}

/** Audio that leads has no segment shorter than this share: its remainder is added to the segment before. */
const TAIL_SHARE = 1 / 8

export function isShortTail(tail: number, full: number): boolean {
  return tail < full * TAIL_SHARE
}

/** The time of a boundary in ticks, exact except for the rounding to one tick. */
export function ticksOf(
  frame: number,
  { frameRate, starts }: Pick<Cadence, 'frameRate' | 'starts'>,
  timescale: number,
): number {
  const ticks = (frames: number): number => (frames * frameRate.den * timescale) / frameRate.num
  if (starts === undefined) return Math.round(ticks(frame))
  // Frames of a copied video may have different durations.
  const at = starts.frames.findLastIndex((each) => each <= frame)
  return Math.round((starts.seconds[at] ?? 0) * timescale + ticks(frame - (starts.frames[at] ?? 0)))
}

/** The duration of a frame in ticks. */
export function frameTicks({ frameRate }: Pick<Cadence, 'frameRate'>, timescale: number): number {
  return Math.round((frameRate.den * timescale) / frameRate.num)
}

/** The position of a key frame in its segment. `start` in ticks; bytes from the segment's beginning. */
export interface KeyFrameRange {
  start: number
  offset: number
  bytes: number
}

/**
 * media: the next bytes of the current segment; end: the segment is complete, with its measurements. `start` and
 * `duration` in ticks of the track, 0 = the presentation's first frame. `frames`: video or audio frames.
 */
export type CutEvent =
  | { kind: 'init'; bytes: Uint8Array }
  | { kind: 'media'; bytes: Uint8Array }
  | { kind: 'end'; start: number; duration: number; frames: number; keys: KeyFrameRange[] }

/** Splits one stream from the encoder into segments. Throws FormatError. */
export interface Cutter {
  push(block: Uint8Array): CutEvent[]
  /**
   * The stream has ended. `videoSegments`: the number of segments of the video, or without video of the leading audio,
   * which the others must not exceed; null = this is that one.
   */
  end(videoSegments: number | null): CutEvent[]
}
