// In charge of: the plan of one output's video: size, rate, colour, fields, bitrate.
// Not in charge of: choosing it (plan/video/), the outputs (plan.ts).
import type { VideoCodec } from '#contract/codecs.ts'
import type { BitrateMode, Quality } from '#contract/job/jobSpec.ts'
import type { MasteringDisplay, VideoStream } from './mediaInfo.ts'
import type { Rectangle } from '../../formats/bitmapSubtitles/subtitleArea.ts'
import type { Rational } from '../../formats/rational.ts'

/**
 * frames = one frame out per frame in (bwdif send_frame); fields = one frame per field (doubles the rate); telecine =
 * undoing 3:2 pulldown.
 */
export type Deinterlace = 'none' | 'frames' | 'fields' | 'telecine'

/** How the source's fields are identified. */
export interface FieldPlan {
  /** auto = as each frame's flags say. */
  parity: 'auto' | 'tff' | 'bff'
  /** Which frames are deinterlaced: those flagged as interlaced, or all where the flags are wrong. */
  frames: 'interlaced' | 'all'
  /** Progressive frames are flagged as interlaced. */
  clearFlag: boolean
  /** The source's clock is not believed: its frames follow one another at this rate. */
  countedRate?: Rational
}

/** The colour tags of an output, in ffmpeg's names. The range of an output is always limited ("tv"). */
export interface ColorTags {
  matrix: 'bt709' | 'smpte170m' | 'bt470bg' | 'bt2020nc'
  primaries: 'bt709' | 'smpte170m' | 'bt470bg' | 'bt2020'
  transfer: 'bt709' | 'smpte170m' | 'bt470bg' | 'smpte2084' | 'arib-std-b67'
}

export interface CodedFrames extends Pick<VideoStream, 'width' | 'height' | 'sar' | 'pixelFormat'> {
  /** Lines above the picture that are not part of it; missing = none. */
  blankingLines?: number | undefined
  /** Frames of another matrix are converted to this one; missing = the source states none that every scaler knows. */
  matrix?: string | undefined
}

/** How decoded frames are read: by the source's tags, or by what its size suggests where it has none. */
export interface SourceVideo {
  /** Pixels have alpha, and hidden colours below it: they are composed on black (video/alpha.ts). Missing = no. */
  alpha?: boolean | undefined
  /** The decoder that reads the alpha; missing = ffmpeg's default one. */
  decoder?: 'libvpx' | 'libvpx-vp9' | undefined
  /**
   * The frames that the decoder returns first, before rotation. All others are brought to that (argv/steadyFrames.ts).
   * Missing = the graph is rebuilt at a change, or nothing changes: no video, frames of pieces.
   */
  coded?: CodedFrames | undefined
  /** RGB pixels. They are converted to planar RGB, which every scaler accepts. */
  rgb: boolean
  /** Upright size in pixels, without blanking. */
  width: number
  height: number
  /**
   * 4:2:0 of limited range with the output's bit depth: a frame that needs neither scaling nor another matrix stays
   * unchanged.
   */
  plain: boolean
  matrix: string
  fullRange: boolean
  primaries: string
  transfer: string
  /**
   * toneMap: PQ or HLG to BT.709. gamut: SDR with primaries, curve or matrix that broadcast does not use, to the
   * output's.
   */
  conversion: 'none' | 'toneMap' | 'gamut'
  /** null = SDR outputs of 8 bits. Otherwise the outputs are HDR of 10 bits with this brightness metadata. */
  hdr: {
    transfer: 'smpte2084' | 'arib-std-b67'
    masteringDisplay: MasteringDisplay | null
    contentLight: { maximum: number; average: number } | null
  } | null
}

/** How the source's image is fitted into the output frame: rotated, mirrored, cropped, scaled, with bars around it. */
export interface Geometry {
  /** Degrees clockwise, in addition to the source's own rotation. */
  turn: 0 | 90 | 180 | 270
  /** Applied after the rotation. */
  mirror: 'none' | 'horizontal' | 'vertical'
  /** The part of the rotated source that is used, around its centre: all of it unless the job crops. */
  cropWidth: number
  cropHeight: number
  /** Output size in pixels, even. */
  width: number
  height: number
  /** Size of the image inside the frame, even. Smaller than the frame where bars are needed. */
  pictureWidth: number
  pictureHeight: number
  /** Level of the bars: 0 = black, 100 = white. */
  barPercent: number
  /** Sample aspect ratio of the output. */
  sar: Rational
}

/** Size and position in the output's pixels, even. */
export interface LogoPlan {
  width: number
  height: number
  x: number
  y: number
  /** 0 to 1, applied on top of the image's own transparency. */
  opacity: number
}

export interface VideoPlan extends Geometry {
  codec: VideoCodec
  quality: Quality
  mode: BitrateMode
  bitrateKbps: number
  /** Highest rate of the decoder's buffer model; equal to bitrateKbps for cbr. */
  maxKbps: number
  /** Size of that buffer in bits. */
  bufferBits: number
  frameRate: Rational
  /**
   * Distinct frames per second. Half of frameRate where mpeg2 cannot signal the lower rate, so that each frame is coded
   * twice.
   */
  pictureRate: Rational
  /** Frames per GOP, exact and closed. */
  gopFrames: number
  bFrames: number
  deinterlace: Deinterlace
  /** How the output is coded. An interlaced output that is deinterlaced to fields is woven together again. */
  scan: 'progressive' | 'tff' | 'bff'
  color: ColorTags
  /** Frames at which a splice is possible: additional key frames that do not move the GOP grid. Ascending. */
  spliceFrames: number[]
  logo: LogoPlan | null
  /** Where the images of `burnIn` are drawn, even; null or missing = nowhere. */
  bitmaps?: Rectangle | null | undefined
  /** CEA-608/708 is in the video; false = removed. */
  captions: boolean
  /**
   * The frames get their captions from a video that is made for them: from caption files, in place of those of the
   * source, from the frames of the pieces that are joined, or from those of the source, which are at other times than the
   * output's. Missing = none.
   */
  embedded?: 'caption files' | 'pieces' | 'source' | undefined
  /** The source's video as it is; null or missing = it is encoded. The values above then describe the source. */
  copied?: CopiedVideo | null | undefined
}

export interface CopiedVideo {
  /** What was found in the source, as a sentence. */
  description: string
  frames: number
  /** After the first frame in decoding order; they are left out, because they refer to the GOP before a cut. */
  leadingFrames: number
  /** The longest time from one frame to the next. */
  frameSeconds: number
  /** Derived (plan/division/copyPlan.ts): parts of this job have encoded it. Missing = it comes from the source. */
  isOwn?: boolean | undefined
}
