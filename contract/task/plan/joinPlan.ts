// In charge of: the plan of a source that is joined from several pieces: their common format, and how each piece is
// brought to it.
// Not in charge of: choosing it (transcoder/plan/join/planJoin.ts), the outputs, which are planned like the outputs of one
// source.
import * as z from 'zod/mini'
import { INPUTS } from '../../limits.ts'
import { channelMix } from './audioPlan.ts'
import { sourceReadingPlan } from './sourceReadingPlan.ts'
import { count, rational, seconds } from './values.ts'
import { colorTags, pieceVideoPlan, scan } from './videoPlan.ts'

/** The raw frames that all pieces are brought to. */
const canvasPlan = z.object({
  /** Pixels, even. */
  width: count,
  height: count,
  sar: rational,
  rate: rational,
  scan,
  pixelFormat: z.enum(['yuv420p', 'yuv420p10le']),
  color: colorTags,
  /** Position in `inputs` of the piece whose format it is. */
  piece: count,
})
export type CanvasPlan = z.infer<typeof canvasPlan>

const pieceAudio = z.object({ stream: count, mix: channelMix })
export type PieceAudio = z.infer<typeof pieceAudio>

const piecePlan = z.extend(sourceReadingPlan, {
  /** The piece's first frame on its own clock, in seconds. */
  startSeconds: z.number(),
  /** null = the pieces have no video. */
  video: z.nullable(pieceVideoPlan),
  /** What this piece contributes to each joined audio stream; null = silence. */
  audio: z.array(z.nullable(pieceAudio)).check(z.maxLength(16)),
  /** Frames of the canvas; null where the piece does not state how long it is, and without video. */
  frames: z.nullable(count),
  /** null where the piece does not state how long it is. */
  durationSeconds: seconds,
  /** The job says where the piece ends, and it lasts until then. */
  hasFixedEnd: z.boolean(),
  /** Captions of its video are read for WebVTT tracks. */
  captions: z.boolean(),
  /** Index among its streams of each joined text subtitle track; null = it has none. */
  subtitles: z.array(z.nullable(count)).check(z.maxLength(32)),
})
export type PiecePlan = z.infer<typeof piecePlan>

export const joinPlan = z.object({
  /** null = the pieces have no video. */
  canvas: z.nullable(canvasPlan),
  /** The joined audio streams: `source_stream` in the request, and channels. Their numbers in `media` begin with 1. */
  audio: z.array(z.object({ requestedStream: count, channels: z.literal([2, 6]) })).check(z.maxLength(16)),
  pieces: z.array(piecePlan).check(z.minLength(2), z.maxLength(INPUTS.maximum)),
})
export type JoinPlan = z.infer<typeof joinPlan>
