// In charge of: how a source's colours are read, and which colours an output is tagged with.
// Not in charge of: the filters that convert (filters.ts).
import { hdrTransfer } from './hdr.ts'
import type { VideoStream } from './media.ts'
import type { ColorTags, Geometry, SourcePicture } from './plan.ts'

/** Matrix coefficients that both scalers convert from. Anything else is read as if untagged. */
const knownMatrices = new Set(['bt709', 'fcc', 'bt470bg', 'smpte170m', 'smpte240m', 'bt2020nc', 'bt2020c'])
const outputPrimaries: readonly ColorTags['primaries'][] = ['bt709', 'smpte170m', 'bt470bg']
const outputTransfers: readonly ColorTags['transfer'][] = ['bt709', 'smpte170m', 'bt470bg']
const wideGamuts = new Set(['bt2020', 'smpte431', 'smpte432'])

/** Lines up to which video is standard definition: BT.601 below, BT.709 above. */
const SD_LINES = 576

const RGB = /^(gbr|rgb|bgr|argb|abgr|0rgb|0bgr|x2rgb|x2bgr|pal8)/
/** 4:2:0, 8 bits, planar: what the encoders take. The `j` variant is full range. */
const PLAIN = 'yuv420p'
/** The same of HDR outputs. */
const PLAIN_HDR = 'yuv420p10le'

function oneOf<T extends string>(allowed: readonly T[], value: string | null, otherwise: T): T {
  return allowed.find((known) => known === value) ?? otherwise
}

/** `keepHdr`: PQ and HLG stay what they are. */
export function readPicture(
  video: VideoStream,
  size: { width: number; height: number },
  keepHdr = false,
): SourcePicture {
  const assumed = size.height > SD_LINES ? 'bt709' : 'smpte170m'
  const rgb = RGB.test(video.pixelFormat)
  const matrix = video.colorSpace !== null && knownMatrices.has(video.colorSpace) ? video.colorSpace : assumed
  const transfer = hdrTransfer(video)
  const hdr = transfer !== null
  const wide = video.colorPrimaries !== null && wideGamuts.has(video.colorPrimaries)
  return {
    rgb,
    width: size.width,
    height: size.height,
    plain: video.pixelFormat === (keepHdr && hdr ? PLAIN_HDR : PLAIN) && video.colorRange !== 'pc',
    matrix: hdr && video.colorSpace === null ? 'bt2020nc' : matrix,
    fullRange: rgb || video.colorRange === 'pc' || video.pixelFormat.startsWith('yuvj'),
    primaries: hdr
      ? wide
        ? String(video.colorPrimaries)
        : 'bt2020'
      : wide
        ? String(video.colorPrimaries)
        : oneOf(outputPrimaries, video.colorPrimaries, rgb ? 'bt709' : assumed),
    transfer: hdr
      ? String(video.colorTransfer)
      : oneOf(outputTransfers, video.colorTransfer, rgb || wide ? 'bt709' : assumed),
    conversion: hdr ? (keepHdr ? 'none' : 'toneMap') : wide ? 'gamut' : 'none',
    hdr:
      transfer !== null && keepHdr
        ? { transfer, masteringDisplay: video.masteringDisplay, contentLight: video.contentLight }
        : null,
  }
}

/** The matrix follows the height that a player decides by; primaries and transfer stay what they were, or became BT.709. */
export function outputColor(picture: SourcePicture, height: number): ColorTags {
  if (picture.hdr !== null) return { matrix: 'bt2020nc', primaries: 'bt2020', transfer: picture.hdr.transfer }
  const converted = picture.conversion !== 'none'
  return {
    matrix: height > SD_LINES ? 'bt709' : 'smpte170m',
    primaries: converted ? 'bt709' : oneOf(outputPrimaries, picture.primaries, 'bt709'),
    transfer: converted ? 'bt709' : oneOf(outputTransfers, picture.transfer, 'bt709'),
  }
}

/** Neither scaled nor converted: the pixels are already what the output takes. */
export function keepsPixels(picture: SourcePicture, geometry: Geometry, color: ColorTags): boolean {
  const mapped = picture.conversion === 'toneMap'
  const sameSize = geometry.pictureWidth === geometry.cropWidth && geometry.pictureHeight === geometry.cropHeight
  return (
    sameSize &&
    sameCoefficients(mapped ? 'bt709' : picture.matrix, color.matrix) &&
    picture.conversion !== 'gamut' &&
    (picture.hdr === null || picture.primaries === 'bt2020') &&
    !picture.rgb &&
    (picture.plain || mapped)
  )
}

/** BT.470BG and SMPTE 170M are two names of one matrix (ITU-T H.273 table 4, values 5 and 6). */
function sameCoefficients(a: string, b: string): boolean {
  const name = (matrix: string) => (matrix === 'bt470bg' ? 'smpte170m' : matrix)
  return name(a) === name(b)
}

/** Not even bars, a mirror or a cut: every line of the output is one of the source's. */
export function isUntouched(picture: SourcePicture, geometry: Geometry, color: ColorTags): boolean {
  const { width, height, pictureWidth, pictureHeight, turn, mirror } = geometry
  const whole =
    width === pictureWidth && height === pictureHeight && width === picture.width && height === picture.height
  return (
    whole && turn === 0 && mirror === 'none' && picture.conversion === 'none' && keepsPixels(picture, geometry, color)
  )
}
