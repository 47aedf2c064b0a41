// In charge of: the plan of one output's video: size, rate, colour, fields, bitrate; how the source's frames are read.
// Not in charge of: choosing it (transcoder/plan/video/), the outputs (plan.ts).
import * as z from 'zod/mini'
import { VIDEO_CODECS } from '../../codecs.ts'
import { amount, count, derived, rational, rectangle, word } from './values.ts'

/** The colour tags of an output, in ffmpeg's names. The range of an output is always limited ("tv"). */
export const colorTags = z.object({
  matrix: z.enum(['bt709', 'smpte170m', 'bt470bg', 'bt2020nc']),
  primaries: z.enum(['bt709', 'smpte170m', 'bt470bg', 'bt2020']),
  transfer: z.enum(['bt709', 'smpte170m', 'bt470bg', 'smpte2084', 'arib-std-b67']),
})
export type ColorTags = z.infer<typeof colorTags>

/** How an output is coded. An interlaced output that is deinterlaced to fields is woven together again. */
export const scan = z.enum(['progressive', 'tff', 'bff'])

/** How the source's image is fitted into the output frame: rotated, mirrored, cropped, scaled, with bars around it. */
const geometry = {
  /** Degrees clockwise, in addition to the source's own rotation. */
  turn: z.literal([0, 90, 180, 270]),
  /** Applied after the rotation. */
  mirror: z.enum(['none', 'horizontal', 'vertical']),
  /** The part of the rotated source that is used, around its centre: all of it unless the job crops. */
  cropWidth: count,
  cropHeight: count,
  /** Output size in pixels, even. */
  width: count,
  height: count,
  /** Size of the image inside the frame, even. Smaller than the frame where bars are needed. */
  pictureWidth: count,
  pictureHeight: count,
  /** Level of the bars: 0 = black, 100 = white. */
  barPercent: amount,
  /** Sample aspect ratio of the output. */
  sar: rational,
}
const geometryPlan = z.object(geometry)
export type Geometry = z.infer<typeof geometryPlan>

/** What the filters of a piece's frames need. */
export const pieceVideoPlan = z.object({
  ...geometry,
  frameRate: rational,
  /**
   * Distinct frames per second. Half of frameRate where mpeg2 cannot signal the lower rate, so that each frame is coded
   * twice.
   */
  pictureRate: rational,
  /**
   * frames = one frame out per frame in (bwdif send_frame); fields = one frame per field (doubles the rate); telecine =
   * undoing 3:2 pulldown.
   */
  deinterlace: z.enum(['none', 'frames', 'fields', 'telecine']),
  scan,
  color: colorTags,
})
export type PieceVideoPlan = z.infer<typeof pieceVideoPlan>

const copiedVideo = z.object({
  /** What was found in the source, as a sentence. */
  description: z.string().check(z.maxLength(1000)),
  frames: count,
  /** After the first frame in decoding order; they are left out, because they refer to the GOP before a cut. */
  leadingFrames: count,
  /** The longest time from one frame to the next. */
  frameSeconds: amount,
  /** Parts of this job have encoded it (transcoder/division/plan/copyPlan.ts). Missing = it comes from the source. */
  isOwn: derived<boolean>(),
})

/** Size and position in the output's pixels, even. */
const logoPlan = z.object({
  width: count,
  height: count,
  x: z.number(),
  y: z.number(),
  /** 0 to 1, applied on top of the image's own transparency. */
  opacity: amount,
})
export type LogoPlan = z.infer<typeof logoPlan>

export const videoPlan = z.extend(pieceVideoPlan, {
  codec: z.enum(VIDEO_CODECS),
  quality: z.enum(['good', 'better', 'best']),
  mode: z.enum(['cbr', 'vbr', 'qvbr']),
  bitrateKbps: amount,
  /** Highest rate of the decoder's buffer model; equal to bitrateKbps for cbr. */
  maxKbps: amount,
  /** Size of that buffer in bits. */
  bufferBits: amount,
  /** Frames per GOP, exact and closed. */
  gopFrames: count,
  bFrames: count,
  /** Frames at which a splice is possible: additional key frames that do not move the GOP grid. Ascending. */
  spliceFrames: z.array(count),
  logo: z.nullable(logoPlan),
  /** Where the images of `burnIn` are drawn, even; null = nowhere. */
  bitmaps: z.nullable(rectangle),
  /** CEA-608/708 is in the video; false = removed. */
  captions: z.boolean(),
  /**
   * The frames get their captions from a video that is made for them: from caption files, in place of those of the
   * source, from the frames of the pieces that are joined, or from those of the source, which are at other times than the
   * output's. null = none.
   */
  embedded: z.nullable(z.enum(['caption files', 'pieces', 'source'])),
  /** The source's video as it is; null = it is encoded. The values above then describe the source. */
  copied: z.nullable(copiedVideo),
})
export type VideoPlan = z.infer<typeof videoPlan>

/** How the source's fields are identified. */
export const fieldPlan = z.object({
  /** auto = as each frame's flags say. */
  parity: z.enum(['auto', 'tff', 'bff']),
  /** Which frames are deinterlaced: those flagged as interlaced, or all where the flags are wrong. */
  frames: z.enum(['interlaced', 'all']),
  /** Progressive frames are flagged as interlaced. */
  clearFlag: z.boolean(),
  /** The source's clock is not believed: its frames follow one another at this rate. */
  countedRate: z.optional(rational),
  /** The last frame is kept although it seems to last less than half of an output's frame. */
  keepsLast: z.boolean(),
})
export type FieldPlan = z.infer<typeof fieldPlan>

const codedFrames = z.object({
  width: count,
  height: count,
  sar: rational,
  pixelFormat: word,
  /** Lines above the picture that are not part of it; missing = none. */
  blankingLines: z.optional(count),
  /** Frames of another matrix are converted to this one; missing = the source states none that every scaler knows. */
  matrix: z.optional(word),
})
export type CodedFrames = z.infer<typeof codedFrames>

const pair = z.tuple([amount, amount])

/** How decoded frames are read: by the source's tags, or by what its size suggests where it has none. */
export const sourceVideo = z.object({
  /** Pixels have alpha, and hidden colours below it: they are composed on black (video/alpha.ts). Missing = no. */
  alpha: z.optional(z.boolean()),
  /** The decoder that reads the alpha; missing = ffmpeg's default one. */
  decoder: z.optional(z.enum(['libvpx', 'libvpx-vp9'])),
  /**
   * The frames that the decoder returns first, before rotation. All others are brought to that (argv/steadyFrames.ts).
   * Missing = the graph is rebuilt at a change, or nothing changes: no video, frames of pieces.
   */
  coded: z.optional(codedFrames),
  /** RGB pixels. They are converted to planar RGB, which every scaler accepts. */
  rgb: z.boolean(),
  /** Upright size in pixels, without blanking. */
  width: count,
  height: count,
  /**
   * 4:2:0 of limited range with the output's bit depth: a frame that needs neither scaling nor another matrix stays
   * unchanged.
   */
  plain: z.boolean(),
  matrix: word,
  fullRange: z.boolean(),
  primaries: word,
  transfer: word,
  /**
   * toneMap: PQ or HLG to BT.709. gamut: SDR with primaries, curve or matrix that broadcast does not use, to the
   * output's.
   */
  conversion: z.enum(['none', 'toneMap', 'gamut']),
  /** null = SDR outputs of 8 bits. Otherwise the outputs are HDR of 10 bits with this brightness metadata. */
  hdr: z.nullable(
    z.object({
      transfer: z.enum(['smpte2084', 'arib-std-b67']),
      masteringDisplay: z.nullable(
        z.object({ red: pair, green: pair, blue: pair, white: pair, minNits: amount, maxNits: amount }),
      ),
      contentLight: z.nullable(z.object({ maximum: amount, average: amount })),
    }),
  ),
})
export type SourceVideo = z.infer<typeof sourceVideo>
