// In charge of: how one source is read: the part that is used, its clock, its streams, its frames.
// Not in charge of: what is made of it (plan.ts).
import type { FieldPlan, SourceVideo } from './videoPlan.ts'
import type { Rational } from '../../formats/rational.ts'

/** The part of the source that is used. Times count from the first frame that the outputs would have without a cut. */
export interface CutPlan {
  startSeconds: number
  /** null = to the end of the source. */
  endSeconds: number | null
  /** The first frame, and the first that is no longer used, at the rate of the source; null = it has no video. */
  frames: { rate: Rational; start: number; end: number | null } | null
  /** The place from which times count on ffmpeg's clock; null = the source is decoded from its beginning. */
  seekOriginSeconds: number | null
  /**
   * ffmpeg's clock is 0 where the part begins, so that copied streams begin there as well. Missing = its filters count
   * from the beginning of what is read.
   */
  movesClock?: boolean | undefined
}

export interface SourceReadingPlan {
  /** null or missing = all of the source. */
  cut?: CutPlan | null | undefined
  /** Start of the video on the file's clock, in seconds. It is subtracted so that video starts at 0 (recipes: VOFF). */
  videoOffsetSeconds: number
  /**
   * PIDs that select the streams of one program, audio by its number; null = streams are counted over the whole file.
   */
  pids: { video: number | null; audio: Record<number, number>; by?: 'index' | undefined } | null
  picture: SourceVideo
  fields: FieldPlan
  scaler: 'zscale' | 'scale'
  /** Some used audio is AC-3 or E-AC-3: its decoder must not apply dynamic range control. */
  disableDrc: boolean
  /** The source is probed further than usual, to find streams that begin late. */
  deepProbe: boolean
}
