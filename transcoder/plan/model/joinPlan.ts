// In charge of: the plan of a source that is joined from several pieces: their common format, and how each piece is
// brought to it.
// Not in charge of: choosing it (plan/join/planJoin.ts), the outputs, which are planned like the outputs of one source
// (planJob.ts).
import type { Rational } from '../../formats/rational.ts'
import type { ChannelMix } from './channelMix.ts'
import type { SourceReadingPlan } from './sourceReadingPlan.ts'
import type { ColorTags, VideoPlan } from './videoPlan.ts'

/** The raw frames that all pieces are brought to. */
export interface CanvasPlan {
  /** Pixels, even. */
  width: number
  height: number
  sar: Rational
  rate: Rational
  scan: VideoPlan['scan']
  pixelFormat: 'yuv420p' | 'yuv420p10le'
  color: ColorTags
  /** Position in `inputs` of the piece whose format it is. */
  piece: number
}

/** What the filters of a piece's frames need. */
export type PieceVideoPlan = Pick<
  VideoPlan,
  | 'turn'
  | 'mirror'
  | 'cropWidth'
  | 'cropHeight'
  | 'width'
  | 'height'
  | 'pictureWidth'
  | 'pictureHeight'
  | 'barPercent'
  | 'sar'
  | 'frameRate'
  | 'pictureRate'
  | 'deinterlace'
  | 'scan'
  | 'color'
>

export interface PieceAudio {
  stream: number
  mix: ChannelMix
}

export interface PiecePlan extends SourceReadingPlan {
  /** The piece's first frame on its own clock, in seconds. */
  startSeconds: number
  /** null = the pieces have no video. */
  video: PieceVideoPlan | null
  /** What this piece contributes to each joined audio stream; null = silence. */
  audio: (PieceAudio | null)[]
  /** Frames of the canvas; null where the piece does not state how long it is, and without video. */
  frames: number | null
  /** null where the piece does not state how long it is. */
  durationSeconds: number | null
  /** The job says where the piece ends, and it lasts until then. */
  hasFixedEnd: boolean
  /** Captions of its video are read for WebVTT tracks. */
  captions: boolean
  /** Index among its streams of each joined text subtitle track; null = it has none. */
  subtitles: (number | null)[]
}

export interface JoinPlan {
  /** null = the pieces have no video. */
  canvas: CanvasPlan | null
  /** The joined audio streams: `source_stream` in the request, and channels. Their numbers in `media` begin with 1. */
  audio: { requestedStream: number; channels: 2 | 6 }[]
  pieces: PiecePlan[]
}
