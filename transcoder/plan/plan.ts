// In charge of: the complete plan of one task. No field is optional: what was open in the job is decided here.
// Not in charge of: deciding (decide.ts), spelling it as argv (argv.ts), running it (transcoder/run.ts).
import type { Warning } from '#contract/errors.ts'
import type { AudioCodec, BitrateMode, Quality, VideoCodec } from '#contract/spec.ts'
import type { Rational } from './media.ts'

export interface VideoPlan {
  codec: VideoCodec
  quality: Quality
  mode: BitrateMode
  bitrateKbps: number
  /** Output size in pixels, even. */
  width: number
  height: number
  /** Sample aspect ratio of the output. */
  sar: Rational
  frameRate: Rational
  /** Frames per GOP, exact and closed. */
  gopFrames: number
  bFrames: number
}

export interface AudioPlan {
  /** Position in `audioProfiles`. */
  profile: number
  codec: AudioCodec
  channels: 2 | 6
  bitrateKbps: number
  sampleRate: number
  /** 1-based index among the source's audio streams. */
  sourceStream: number
  language: string | null
}

export interface OutputPlan {
  /** Position in `videoProfiles`. */
  profile: number
  /** Relative path below the job's destination. */
  path: string
  container: 'mp4' | 'ts'
  contentType: string
  video: VideoPlan
  audio: AudioPlan[]
  /** Upper estimate of the file's size in bytes; decides the part size. */
  expectedBytes: number
  /** Bytes kept free for the header of an mp4 so that the rest can leave while encoding; null for ts. */
  headerReserveBytes: number | null
  /** Constant multiplex rate of a transport stream in kbps; null = variable. */
  muxRateKbps: number | null
}

export interface Plan {
  version: 1
  /** Seconds of output; null where the source does not say. */
  durationSeconds: number | null
  /** Seconds by which the video starts after the file's clock, taken off so that pictures start at 0 (recipes: VOFF). */
  videoOffsetSeconds: number
  /** Audio streams of the source that some output uses, 1-based, ascending. */
  sourceAudio: number[]
  outputs: OutputPlan[]
  warnings: Warning[]
}
