// In charge of: how a source's colours are read, and the colour tags of an output.
// Not in charge of: the filters that convert (scaleFilters.ts), ffmpeg's spelling of the names (colorNames.ts).
import { readAlpha } from './alpha.ts'
import { hdrTransfer } from './hdr.ts'
import type { VideoStream } from '../model/mediaInfo.ts'
import { type Rational, toNumber } from '../../formats/rational.ts'
import type { CodedFrames, ColorTags, Geometry, SourceVideo } from '#contract/task/plan/videoPlan.ts'

/** Matrix coefficients that both scalers can convert. */
const knownMatrices = new Set(['bt709', 'fcc', 'bt470bg', 'smpte170m', 'smpte240m', 'bt2020nc', 'bt2020c'])
/** Matrix coefficients that only zscale can convert. All others are read as if untagged. */
const rareMatrices = new Set(['ycgco', 'chroma-derived-nc', 'chroma-derived-c', 'ictcp'])
/** Primaries of SDR sources other than the two of BT.601 and those of BT.709. */
const widePrimaries = new Set(['bt2020', 'smpte431', 'smpte432', 'bt470m', 'film', 'smpte428', 'ebu3213', 'jedec-p22'])
/**
 * Transfer curves that differ much from a camera's. All other SDR curves (BT.709, SMPTE 170M and 240M, both gammas of
 * BT.470, xvYCC, BT.1361, BT.2020, sRGB) look alike in players, whatever the tag: a conversion between them would
 * change the image.
 */
const otherCurves = new Set(['linear', 'log100', 'log316'])

/** Highest number of lines of standard definition: BT.601 up to here, BT.709 above. */
export const SD_LINES = 576

const BT709: ColorTags = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709' }
/** ITU-R BT.601-7, in the terms of ITU-T H.273. */
const PAL: ColorTags = { matrix: 'bt470bg', primaries: 'bt470bg', transfer: 'smpte170m' }
const NTSC: ColorTags = { matrix: 'smpte170m', primaries: 'smpte170m', transfer: 'smpte170m' }

const palLines = new Set([288, 576])
const ntscLines = new Set([240, 480, 486])
const palRates = [12.5, 25, 50]

const RGB = /^(gbr|rgb|bgr|argb|abgr|0rgb|0bgr|x2rgb|x2bgr|pal8)/
/** 4:2:0, 8 bits, planar: the encoders' input. The `j` variant is full range. */
const PLAIN = 'yuv420p'
/** The same format for HDR outputs. */
const PLAIN_HDR = 'yuv420p10le'

/** Chooses between the two systems of BT.601 by the raster's lines, else by the frame rate. */
function standardDefinition(lines: number, rate: Rational | null): ColorTags {
  if (palLines.has(lines)) return PAL
  if (ntscLines.has(lines)) return NTSC
  const perSecond = rate === null ? 25 : toNumber(rate)
  return palRates.some((pal) => Math.abs(perSecond / pal - 1) < 0.01) ? PAL : NTSC
}

/** `keepHdr`: PQ and HLG are kept. */
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
    ...readAlpha(video),
    // Where ffmpeg turns the frames, it does so in front of all filters; and swscale of ffmpeg 7 refuses frames of a matrix
    // that it does not know. The graph of these sources is rebuilt at a change, as by default.
    ...(video.rotation === 0 && video.mirrored !== true && isScalable(video) ? { coded: codedFrames(video) } : {}),
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

const STEADY_MATRICES = new Set(['bt709', 'fcc', 'bt470bg', 'smpte170m', 'smpte240m', 'bt2020nc'])
const SCALED_MATRICES = new Set([...STEADY_MATRICES, 'gbr', 'unknown'])

/** libavfilter 10, vf_scale.c: colour spaces that it accepts. */
const isScalable = ({ colorSpace }: VideoStream): boolean => colorSpace === null || SCALED_MATRICES.has(colorSpace)

export function codedFrames(video: VideoStream): CodedFrames {
  const { width, height, sar, pixelFormat, blanking, colorSpace } = video
  const isStated = colorSpace !== null && STEADY_MATRICES.has(colorSpace) && !RGB.test(pixelFormat)
  const frame = { width, pixelFormat, ...(isStated ? { matrix: colorSpace } : {}) }
  if (blanking === undefined) return { ...frame, height, sar }
  return { ...frame, height: height + blanking.lines, sar: blanking.sar, blankingLines: blanking.lines }
}

/**
 * null = as if untagged. zscale accepts constant luminance and ICtCp only with the curves and primaries of their
 * standard.
 */
function readMatrix(tag: string | null, is: { hdr: boolean; wide: boolean; otherCurve: boolean }): string | null {
  if (tag === 'bt2020c') return is.hdr || is.otherCurve ? 'bt2020nc' : tag
  if (tag === 'chroma-derived-c' && is.otherCurve) return 'chroma-derived-nc'
  if (tag === 'ictcp' && (!is.hdr || is.wide)) return null
  return tag !== null && (knownMatrices.has(tag) || rareMatrices.has(tag)) ? tag : null
}

function readPrimaries(tag: string | null, assumed: ColorTags): string {
  // Both names stand for the same chromaticities.
  if (tag === 'smpte240m') return 'smpte170m'
  const isKnown =
    tag !== null && (tag === 'bt709' || tag === 'bt470bg' || tag === 'smpte170m' || widePrimaries.has(tag))
  return isKnown ? tag : assumed.primaries
}

/** The transfer that an output is tagged with. Curves that look alike share one name. */
function readTransfer(tag: string | null, primaries: string): ColorTags['transfer'] {
  if (tag === 'bt470bg' && primaries === 'bt470bg') return 'bt470bg'
  return primaries === 'bt470bg' || primaries === 'smpte170m' ? 'smpte170m' : 'bt709'
}

/** The source without the conversions that only zscale can do: its frames are read as ordinary SDR. */
export function withoutColorConversion(source: SourceVideo): SourceVideo {
  if (source.conversion === 'none') return source
  const matrix = rareMatrices.has(source.matrix) ? 'bt709' : source.matrix
  return { ...source, matrix, primaries: 'bt709', transfer: 'bt709', conversion: 'none' }
}

/** The properties that decide an output's colours. */
export interface ColorContext {
  height: number
  rate: Rational
  /** Lines of the tallest rendition of the switching set; null = a single file. */
  tallestRendition: number | null
}

/**
 * All renditions of a switching set have the same colours, because decoders keep the first ones (DASH-IF IOP). The
 * colours of a single file follow its height, as in players that ignore tags.
 */
export function outputColor(source: SourceVideo, { height, rate, tallestRendition }: ColorContext): ColorTags {
  if (source.hdr !== null) return { matrix: 'bt2020nc', primaries: 'bt2020', transfer: source.hdr.transfer }
  if ((tallestRendition ?? height) > SD_LINES) return BT709
  const base = source.conversion === 'none' ? sourceColorSystem(source) : BT709
  if (base !== BT709) return base
  return tallestRendition === null ? standardDefinition(height, rate) : BT709
}

/** Decided by the primaries: many encoders combine the matrix of BT.601 with the primaries of BT.709. */
function sourceColorSystem({ primaries, transfer }: SourceVideo): ColorTags {
  if (primaries === 'smpte170m') return NTSC
  if (primaries !== 'bt470bg') return BT709
  // Broadcasters use the gamma of system B/G for 625 lines (ETSI TS 101 154), which is kept.
  return transfer === 'bt470bg' ? { ...PAL, transfer } : PAL
}

/** The colours at the scaler's input: tone mapping has already converted HDR to BT.709. */
export function scaledFrom(source: SourceVideo): { matrix: string; primaries: string; fullRange: boolean } {
  return source.conversion === 'toneMap' ? { ...BT709, fullRange: false } : source
}

/** Neither scaled nor converted: the pixels already have the output's format. */
export function preservesPixels(source: SourceVideo, geometry: Geometry, color: ColorTags): boolean {
  const from = scaledFrom(source)
  return (
    preservesSize(geometry) &&
    sameCoefficients(from.matrix, color.matrix) &&
    from.primaries === color.primaries &&
    source.conversion !== 'gamut' &&
    !source.rgb &&
    (source.plain || source.conversion === 'toneMap')
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

/** Without bars, mirroring or cropping either: every line of the output is a line of the source. */
export function isUnprocessed(source: SourceVideo, geometry: Geometry, color: ColorTags): boolean {
  const { width, height, pictureWidth, pictureHeight, turn, mirror } = geometry
  const whole = width === pictureWidth && height === pictureHeight && width === source.width && height === source.height
  return (
    whole && turn === 0 && mirror === 'none' && source.conversion === 'none' && preservesPixels(source, geometry, color)
  )
}
