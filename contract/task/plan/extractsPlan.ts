// In charge of: files made of a few frames or of the audio's peaks: stills, the animated preview, the waveform.
// Not in charge of: choosing them (transcoder/plan/extracts).
import * as z from 'zod/mini'
import { PREVIEW_FORMATS, STILL_FORMATS, WAVEFORM_FORMATS } from '../../job/fields/extracts.ts'
import { MAX_STILLS, STILLS } from '../../limits.ts'
import { cutPlan } from './sourceReadingPlan.ts'
import { amount, contentType, count, path, seconds } from './values.ts'
import { fieldPlan, pieceVideoPlan, sourceVideo } from './videoPlan.ts'

const stillsPlan = z.object({
  /** Position in `stills`. */
  index: count,
  format: z.enum(STILL_FORMATS),
  contentType,
  quality: count,
  /** Square pixels. */
  width: count,
  height: count,
  /** Numbers of frames in the outputs, ascending. */
  images: z.array(z.object({ path, frame: count })).check(z.maxLength(MAX_STILLS)),
})
export type StillsPlan = z.infer<typeof stillsPlan>

const animatedPreviewPlan = z.object({
  format: z.enum(PREVIEW_FORMATS),
  path,
  contentType,
  /** Even. */
  width: count,
  height: count,
  framesPerSecond: amount,
  /** Numbers of frames in the outputs, ascending. */
  frames: z.array(count).check(z.minLength(1), z.maxLength(2000)),
})
export type AnimatedPreviewPlan = z.infer<typeof animatedPreviewPlan>

const rgb = z.string().check(z.regex(/^#[0-9a-f]{6}(?:[0-9a-f]{2})?$/i))

const waveformPlan = z.object({
  format: z.enum(WAVEFORM_FORMATS),
  path,
  contentType,
  sourceStream: count,
  sampleRate: count,
  sourceChannels: count,
  /** 1, or those of the source. */
  channels: count,
  samplesPerPixel: count,
  bits: z.literal([8, 16]),
  /** Width of the image in pixels. */
  width: count,
  height: count,
  backgroundColor: rgb,
  waveformColor: rgb,
  durationSeconds: seconds,
})
export type WaveformPlan = z.infer<typeof waveformPlan>

export const extractsPlan = z.object({
  /** How frames are read; null = none is needed. */
  frames: z.nullable(
    z.object({
      video: pieceVideoPlan,
      picture: sourceVideo,
      fields: fieldPlan,
      cut: z.nullable(cutPlan),
      /** As `videoOffsetSeconds` of the plan. */
      offsetSeconds: z.number(),
      /** As in CutPlan. */
      seekOriginSeconds: z.nullable(z.number()),
      /** Decoding this many seconds takes as long as seeking once; null = seeking is never faster. */
      seekSeconds: seconds,
      /** The job makes no video: frames are read in runs of their own. */
      separate: z.boolean(),
    }),
  ),
  stills: z.array(stillsPlan).check(z.maxLength(STILLS.maximum)),
  preview: z.nullable(animatedPreviewPlan),
  waveform: z.nullable(waveformPlan),
})
export type ExtractsPlan = z.infer<typeof extractsPlan>
