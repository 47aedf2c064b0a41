// In charge of: how a source's colours are read, and which colours an output is tagged with.
// Not in charge of: the filters that convert (scaleFilters.ts), how ffmpeg's parts spell a name (colorNames.ts).
import { hdrTransfer } from './hdr.ts'
import type { VideoStream } from '../model/mediaInfo.ts'
import type { Rational } from '../../formats/rational.ts'
import type { ColorTags, Geometry, SourceVideo } from '../model/plan.ts'
import { toNumber } from '../../formats/rational.ts'

/** Matrix coefficients that both scalers convert from. */
const knownMatrices = new Set(['bt709', 'fcc', 'bt470bg', 'smpte170m', 'smpte240m', 'bt2020nc', 'bt2020c'])
/** Those that only zscale converts from. Anything else is read as if untagged. */
const rareMatrices = new Set(['ycgco', 'chroma-derived-nc', 'chroma-derived-c', 'ictcp'])
/** Primaries that an SDR source may have beside the two of BT.601 and those of BT.709. */
const widePrimaries = new Set(['bt2020', 'smpte431', 'smpte432', 'bt470m', 'film', 'smpte428', 'ebu3213', 'jedec-p22'])
/**
 * Transfer curves that are far from a camera's. All other SDR curves (BT.709, SMPTE 170M and 240M, both gammas of BT.470, xvYCC,
 * BT.1361, BT.2020, sRGB) are shown alike by players, whatever the tag: converting between them would change what is seen.
 */
const otherCurves = new Set(['linear', 'log100', 'log316'])

/** Lines up to which video is standard definition: BT.601 below, BT.709 above. */
export const SD_LINES = 576

const BT709: ColorTags = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709' }
/** ITU-R BT.601-7, as ITU-T H.273 names its parts. */
const PAL: ColorTags = { matrix: 'bt470bg', primaries: 'bt470bg', transfer: 'smpte170m' }
const NTSC: ColorTags = { matrix: 'smpte170m', primaries: 'smpte170m', transfer: 'smpte170m' }

const palLines = new Set([288, 576, 608])
const ntscLines = new Set([240, 480, 486, 512])
const palRates = [12.5, 25, 50]

const RGB = /^(gbr|rgb|bgr|argb|abgr|0rgb|0bgr|x2rgb|x2bgr|pal8)/
/** 4:2:0, 8 bits, planar: what the encoders take. The `j` variant is full range. */
const PLAIN = 'yuv420p'
/** The same of HDR outputs. */
const PLAIN_HDR = 'yuv420p10le'

/** Which of the two systems of BT.601: by the lines of its rasters, else by the frame rate. */
function standardDefinition(lines: number, rate: Rational | null): ColorTags {
  if (palLines.has(lines)) return PAL
  if (ntscLines.has(lines)) return NTSC
  const perSecond = rate === null ? 25 : toNumber(rate)
  return palRates.some((pal) => Math.abs(perSecond / pal - 1) < 0.01) ? PAL : NTSC
}

/** `keepHdr`: PQ and HLG stay what they are. */
export function readSourceVideo(
  video: VideoStream,
  size: { width: number; height: number },
  keepHdr = false,
): SourceVideo {
  const rgb = RGB.test(video.pixelFormat)
  const transfer = hdrTransfer(video)
  const hdr = transfer !== null
  const assumed = size.height > SD_LINES || rgb ? BT709 : standardDefinition(size.height, video.frameRate)
  const primaries = readPrimaries(video.colorPrimaries, video.colorSpace === 'bt709' ? BT709 : assumed)
  const wide = widePrimaries.has(primaries)
  const otherCurve = video.colorTransfer !== null && otherCurves.has(video.colorTransfer)
  const tag = readMatrix(video.colorSpace, { hdr, wide: wide && primaries !== 'bt2020', otherCurve })
  const matrix = tag ?? (hdr ? 'bt2020nc' : assumed.matrix)
  const rare = !rgb && rareMatrices.has(matrix)
  return {
    rgb,
    width: size.width,
    height: size.height,
    plain: video.pixelFormat === (keepHdr && hdr ? PLAIN_HDR : PLAIN) && video.colorRange !== 'pc',
    matrix,
    fullRange: rgb || video.colorRange === 'pc' || video.pixelFormat.startsWith('yuvj'),
    primaries: hdr && !wide ? 'bt2020' : primaries,
    transfer: hdr || otherCurve ? String(video.colorTransfer) : readTransfer(video.colorTransfer, primaries),
    conversion: hdr ? (keepHdr ? 'none' : 'toneMap') : wide || rare || otherCurve ? 'gamut' : 'none',
    hdr:
      transfer !== null && keepHdr
        ? { transfer, masteringDisplay: video.masteringDisplay, contentLight: video.contentLight }
        : null,
  }
}

/** null = as if untagged. zscale wants constant luminance and ICtCp with the curves and primaries that their standard has only. */
function readMatrix(tag: string | null, is: { hdr: boolean; wide: boolean; otherCurve: boolean }): string | null {
  if (tag === 'bt2020c') return is.hdr || is.otherCurve ? 'bt2020nc' : tag
  if (tag === 'chroma-derived-c' && is.otherCurve) return 'chroma-derived-nc'
  if (tag === 'ictcp' && (!is.hdr || is.wide)) return null
  return tag !== null && (knownMatrices.has(tag) || rareMatrices.has(tag)) ? tag : null
}

function readPrimaries(tag: string | null, assumed: ColorTags): string {
  // One set of chromaticities by two names.
  if (tag === 'smpte240m') return 'smpte170m'
  const isKnown =
    tag !== null && (tag === 'bt709' || tag === 'bt470bg' || tag === 'smpte170m' || widePrimaries.has(tag))
  return isKnown ? tag : assumed.primaries
}

/** Of the curves that are shown alike, the one whose name an output keeps. */
function readTransfer(tag: string | null, primaries: string): ColorTags['transfer'] {
  if (tag === 'bt470bg' && primaries === 'bt470bg') return 'bt470bg'
  return primaries === 'bt470bg' || primaries === 'smpte170m' ? 'smpte170m' : 'bt709'
}

/** The source without what only zscale converts: read as if it were ordinary. */
export function withoutColorConversion(picture: SourceVideo): SourceVideo {
  if (picture.conversion === 'none') return picture
  const matrix = rareMatrices.has(picture.matrix) ? 'bt709' : picture.matrix
  return { ...picture, matrix, primaries: 'bt709', transfer: 'bt709', conversion: 'none' }
}

/** What an output's colours depend on. */
export interface ColorContext {
  height: number
  rate: Rational
  /** Lines of the tallest rendition of its switching set; null = a single file. */
  tallest: number | null
}

/**
 * All of a switching set have the same colours, since decoders keep those that they began with (DASH-IF IOP). A single file
 * follows its height, as players do that read no tags.
 */
export function outputColor(picture: SourceVideo, { height, rate, tallest }: ColorContext): ColorTags {
  if (picture.hdr !== null) return { matrix: 'bt2020nc', primaries: 'bt2020', transfer: picture.hdr.transfer }
  if ((tallest ?? height) > SD_LINES) return BT709
  const own = picture.conversion === 'none' ? sourceColorSystem(picture) : BT709
  if (own !== BT709) return own
  return tallest === null ? standardDefinition(height, rate) : BT709
}

/** Told by the primaries: many write the matrix of BT.601 beside the primaries of BT.709. */
function sourceColorSystem({ primaries, transfer }: SourceVideo): ColorTags {
  if (primaries === 'smpte170m') return NTSC
  if (primaries !== 'bt470bg') return BT709
  // Broadcasters write system B/G's own gamma for 625 lines (ETSI TS 101 154), which stays.
  return transfer === 'bt470bg' ? { ...PAL, transfer } : PAL
}

/** What the scaler reads: tone mapping has made BT.709 of HDR. */
export function scaledFrom(picture: SourceVideo): { matrix: string; primaries: string; fullRange: boolean } {
  return picture.conversion === 'toneMap' ? { ...BT709, fullRange: false } : picture
}

/** Neither scaled nor converted: the pixels are already what the output takes. */
export function preservesPixels(picture: SourceVideo, geometry: Geometry, color: ColorTags): boolean {
  const from = scaledFrom(picture)
  return (
    preservesSize(geometry) &&
    sameCoefficients(from.matrix, color.matrix) &&
    from.primaries === color.primaries &&
    picture.conversion !== 'gamut' &&
    !picture.rgb &&
    (picture.plain || picture.conversion === 'toneMap')
  )
}

export function preservesSize({ pictureWidth, pictureHeight, cropWidth, cropHeight }: Geometry): boolean {
  return pictureWidth === cropWidth && pictureHeight === cropHeight
}

/** BT.470BG and SMPTE 170M are two names of one matrix (ITU-T H.273 table 4, values 5 and 6). */
function sameCoefficients(a: string, b: string): boolean {
  const name = (matrix: string) => (matrix === 'bt470bg' ? 'smpte170m' : matrix)
  return name(a) === name(b)
}

/** Not even bars, a mirror or a cut: every line of the output is one of the source's. */
export function isUnprocessed(picture: SourceVideo, geometry: Geometry, color: ColorTags): boolean {
  const { width, height, pictureWidth, pictureHeight, turn, mirror } = geometry
  const whole =
    width === pictureWidth && height === pictureHeight && width === picture.width && height === picture.height
  return (
    whole &&
    turn === 0 &&
    mirror === 'none' &&
    picture.conversion === 'none' &&
    preservesPixels(picture, geometry, color)
  )
}
