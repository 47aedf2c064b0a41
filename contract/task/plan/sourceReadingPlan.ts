// In charge of: how one source is read: the part that is used, its clock, its streams, its frames.
// Not in charge of: what is made of it (plan.ts).
import * as z from 'zod/mini'
import { amount, count, rational, seconds } from './values.ts'
import { fieldPlan, sourceVideo } from './videoPlan.ts'

/** The part of the source that is used. Times count from the first frame that the outputs would have without a cut. */
export const cutPlan = z.object({
  startSeconds: amount,
  /** null = to the end of the source. */
  endSeconds: seconds,
  /** The first frame, and the first that is no longer used, at the rate of the source; null = it has no video. */
  frames: z.nullable(z.object({ rate: rational, start: count, end: z.nullable(count) })),
  /** The place from which times count on ffmpeg's clock; null = the source is decoded from its beginning. */
  seekOriginSeconds: z.nullable(z.number()),
  /**
   * ffmpeg's clock is 0 where the part begins, so that copied streams begin there as well; else its filters count from
   * the beginning of what is read.
   */
  movesClock: z.boolean(),
})
export type CutPlan = z.infer<typeof cutPlan>

/**
 * Audio in bursts of data, which an input of its own holds: `stream` counts as `source_stream` does, `pads` are the samples that
 * have the bursts, and `startSeconds` is when they begin, from the beginning of the outputs without a cut.
 */
const burstPlan = z.object({
  stream: count,
  pads: z.array(z.string().check(z.regex(/^0:(?:[ai]:)?\d{1,9}$/))),
  sampleRate: count,
  startSeconds: z.number(),
})
export type BurstPlan = z.infer<typeof burstPlan>

export const sourceReadingPlan = z.object({
  /** null = all of the source. */
  cut: z.nullable(cutPlan),
  /** Start of the video on the file's clock, in seconds. It is subtracted so that video starts at 0 (recipes: VOFF). */
  videoOffsetSeconds: z.number(),
  /** PIDs that select the streams of one program, audio by its number; null = streams are counted over the whole file. */
  pids: z.nullable(
    z.object({
      video: z.nullable(count),
      audio: z.record(z.string().check(z.regex(/^\d{1,9}$/)), count),
      by: z.optional(z.literal('index')),
      /** In the order of their inputs, which follow the source. */
      bursts: z.optional(z.array(burstPlan)),
    }),
  ),
  picture: sourceVideo,
  fields: fieldPlan,
  scaler: z.enum(['zscale', 'scale']),
  /** Some used audio is AC-3 or E-AC-3: its decoder must not apply dynamic range control. */
  disableDrc: z.boolean(),
  /** The source is probed further than usual, to find streams that begin late. */
  deepProbe: z.boolean(),
})
