// In charge of: caption files as tracks of the outputs, and captions that are drawn into the video of every output.
// Not in charge of: choosing them (transcoder/plan/captions).
import * as z from 'zod/mini'
import { CAPTION_FORMATS, CHANNELS_608, LANGUAGE_TAG } from '../../captions.ts'
import { CAPTION_LABEL_CHARACTERS } from '../../limits.ts'
import { count, rectangle, size, word } from './values.ts'

/** A caption file of the job as a track of its outputs. */
export const sidecarPlan = z.object({
  /** Position in `captions` of the job. */
  caption: count,
  format: z.enum(CAPTION_FORMATS),
  /** BCP 47; null = not stated. */
  language: z.nullable(z.string().check(z.regex(LANGUAGE_TAG))),
  /** What players show; '' = the name of the language. */
  label: z.string().check(z.maxLength(CAPTION_LABEL_CHARACTERS)),
  isDefault: z.boolean(),
  forced: z.boolean(),
  hearingImpaired: z.boolean(),
  /** How many of its captions lie in the outputs. */
  cues: count,
  /** CEA-608 channels in the frames of encoded video; empty = none. */
  embed: z.array(z.enum(CHANNELS_608)),
})
export type SidecarPlan = z.infer<typeof sidecarPlan>

/** `stream`: index among all streams of the source. */
const sourceTrack = z.object({ kind: z.literal('source track'), track: count, stream: count })

const textBurnInPlan = z.object({
  kind: z.literal('text'),
  /** `caption`: position in `captions` of the job. */
  from: z.discriminatedUnion('kind', [z.object({ kind: z.literal('caption'), caption: count }), sourceTrack]),
  /** Family name of the font. */
  font: z.string().check(z.regex(/^[A-Za-z ]{1,40}$/)),
  /** How many captions lie in the outputs. */
  cues: count,
})
export type TextBurnInPlan = z.infer<typeof textBurnInPlan>

/** The images of a subtitle stream. `bitmaps` of a video says where they are drawn. */
const bitmapBurnInPlan = z.object({
  kind: z.literal('bitmap'),
  from: sourceTrack,
  codec: word,
  /** null = nothing is visible in the outputs. */
  drawn: z.nullable(z.object({ canvas: size, area: rectangle })),
  /** How many are shown in the outputs. */
  cues: count,
})
export type BitmapBurnInPlan = z.infer<typeof bitmapBurnInPlan>

export const burnInPlan = z.discriminatedUnion('kind', [textBurnInPlan, bitmapBurnInPlan])
export type BurnInPlan = z.infer<typeof burnInPlan>
