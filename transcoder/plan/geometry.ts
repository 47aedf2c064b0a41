// In charge of: frame size, sample aspect ratio and bars of an output.
// Not in charge of: the filters that make them (filters.ts).
import type { Warning } from '#contract/errors.ts'
import type { VideoCodec, VideoProfile } from '#contract/spec.ts'
import type { Rational, VideoStream } from './media.ts'
import { approximate, distance, divide, invert, multiply, ratio, toNumber } from './rational.ts'

export interface Geometry {
  width: number
  height: number
  pictureWidth: number
  pictureHeight: number
  sar: Rational
}

/** The source as it stands upright. */
export interface Upright {
  width: number
  height: number
  /** Display aspect: width to height as a viewer sees it. */
  display: Rational
}

const SQUARE = ratio(1, 1)
/** Nobody sees a difference of 1 %, and square pixels are understood by everything. */
const SQUARE_TOLERANCE = 0.01
/** Display aspects that an MPEG-2 sequence header can carry beside square samples (ISO/IEC 13818-2 table 6-3). */
const mpeg2Displays: readonly Rational[] = [ratio(4, 3), ratio(16, 9), ratio(221, 100)]
const barDisplays: readonly Rational[] = [ratio(4, 3), ratio(16, 9)]
/** Both terms have 16 bits in H.264 and HEVC (table E.1, Extended_SAR). */
const SAR_LIMIT = 65535

function even(value: number): number {
  return Math.max(2, 2 * Math.round(value / 2))
}

function nearest(candidates: readonly Rational[], wanted: Rational): Rational {
  return candidates.reduce((best, candidate) =>
    distance(wanted, candidate) < distance(wanted, best) ? candidate : best,
  )
}

export function upright(video: VideoStream): Upright {
  const turned = video.rotation === 90 || video.rotation === 270
  const [width, height] = turned ? [video.height, video.width] : [video.width, video.height]
  const sar = turned ? invert(video.sar) : video.sar
  return { width, height, display: multiply(sar, ratio(width, height)) }
}

/** 0 × 0 = the source's size, cut to even; one 0 = in proportion to the source's pixels, so that its sample aspect stays. */
function frameSize(profile: VideoProfile, source: Upright): { width: number; height: number } {
  const { width, height } = profile
  if (width === 0 && height === 0)
    return { width: Math.max(2, source.width & ~1), height: Math.max(2, source.height & ~1) }
  if (width === 0) return { width: even((source.width * height) / source.height), height }
  if (height === 0) return { width, height: even((source.height * width) / source.width) }
  return { width, height }
}

/** The largest even picture of display aspect `picture` in a frame of display aspect `frame`. */
function fit(
  width: number,
  height: number,
  picture: Rational,
  frame: Rational,
): { pictureWidth: number; pictureHeight: number } {
  const wider = toNumber(picture) / toNumber(frame)
  return wider > 1
    ? { pictureWidth: width, pictureHeight: Math.min(height, even(height / wider)) }
    : { pictureWidth: Math.min(width, even(width * wider)), pictureHeight: height }
}

/** video_aspect_ratio "passthrough": the frame is exactly width × height, and the samples carry the source's display aspect. */
export function planGeometry(profile: VideoProfile, codec: VideoCodec, source: Upright, warnings: Warning[]): Geometry {
  const field = `videoProfiles[${profile.index}]`
  const { width, height } = frameSize(profile, source)
  if (profile.width === 0 && profile.height === 0 && (width !== source.width || height !== source.height))
    warnings.push({
      code: 'size_rounded',
      field,
      message: `The source's ${source.width}x${source.height} becomes ${width}x${height}: sizes are even.`,
    })
  const storage = ratio(width, height)
  const full = { width, height, pictureWidth: width, pictureHeight: height }
  const exact = divide(source.display, storage)
  if (distance(exact, SQUARE) <= SQUARE_TOLERANCE) return { ...full, sar: SQUARE }

  if (codec === 'mpeg2') {
    const carried = nearest(mpeg2Displays, source.display)
    if (distance(source.display, carried) <= SQUARE_TOLERANCE) return { ...full, sar: divide(carried, storage) }
    const frame = nearest(barDisplays, source.display)
    warnings.push({
      code: 'bars_added',
      field,
      message: `mpeg2 cannot carry a display aspect of ${toNumber(source.display).toFixed(3)} at ${width}x${height}; the picture has bars inside ${frame.num}:${frame.den}.`,
    })
    const square = distance(frame, storage) <= SQUARE_TOLERANCE
    return {
      width,
      height,
      ...fit(width, height, source.display, frame),
      sar: square ? SQUARE : divide(frame, storage),
    }
  }

  const sar = approximate(exact, SAR_LIMIT)
  if (toNumber(sar) < 0.5 || toNumber(sar) > 2)
    warnings.push({
      code: 'extreme_pixel_aspect',
      field,
      message: `At ${width}x${height} the source's shape needs samples of ${sar.num}:${sar.den}, which some players ignore; a width of 0 keeps the source's shape.`,
    })
  return { ...full, sar }
}
