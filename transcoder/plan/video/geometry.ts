// In charge of: frame size, rotation, cropping, sample aspect ratio and bars of an output.
// Not in charge of: the filters (filters.ts), the rotation and aspect ratio that a job requests (orientation.ts).
import type { Warning } from '#contract/errors.ts'
import { videoCodecs } from '#contract/codecs.ts'
import type { JobSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import { videoEncodings } from '../codecs.ts'
import type { VideoStream } from '../model/mediaInfo.ts'
import type { Decision } from '../planContext.ts'
import {
  type Rational,
  approximate,
  distance,
  divide,
  invert,
  multiply,
  ratio,
  toNumber,
} from '../../formats/rational.ts'
import { orient, type Orientation } from './orientation.ts'
import type { Geometry } from '#contract/task/plan/videoPlan.ts'
import { even } from './evenNumbers.ts'

/** The source after its own rotation. */
export interface UprightSize {
  width: number
  height: number
  /** Display aspect: width to height as a viewer sees it. */
  display: Rational
}

const SQUARE = ratio(1, 1)
/** A difference of 1 % is not visible, and square pixels work in every player. */
export const SQUARE_TOLERANCE = 0.01
/** Display aspects that an MPEG-2 sequence header can signal besides square samples (ISO/IEC 13818-2 table 6-3). */
const mpeg2Displays: readonly Rational[] = [ratio(4, 3), ratio(16, 9), ratio(221, 100)]
const barDisplays: readonly Rational[] = [ratio(4, 3), ratio(16, 9)]
/** Both terms have 16 bits in H.264 and HEVC (table E.1, Extended_SAR). */
const SAR_LIMIT = 65535

function nearestRatio(candidates: readonly Rational[], wanted: Rational): Rational {
  return candidates.reduce((best, candidate) =>
    distance(wanted, candidate) < distance(wanted, best) ? candidate : best,
  )
}

export function uprightSize(video: VideoStream): UprightSize {
  const turned = video.rotation === 90 || video.rotation === 270
  const [width, height] = turned ? [video.height, video.width] : [video.width, video.height]
  const sar = turned ? invert(video.sar) : video.sar
  return { width, height, display: multiply(sar, ratio(width, height)) }
}

/**
 * 0 × 0 = the source's size, rounded down to even. One 0 = in proportion to the display aspect: in the source's sample
 * aspect, or in square pixels where the job requests them.
 */
function frameSize(profile: VideoProfile, oriented: Orientation): { width: number; height: number } {
  const { width, height } = profile
  if (width === 0 && height === 0)
    return { width: Math.max(2, oriented.frameWidth & ~1), height: Math.max(2, oriented.frameHeight & ~1) }
  const storage = toNumber(oriented.square ? oriented.frameAspect : divide(oriented.frameAspect, oriented.sar))
  if (width === 0) return { width: even(height * storage), height }
  if (height === 0) return { width, height: even(width / storage) }
  return isRotatedFrame(profile, oriented) ? { width: height, height: width } : { width, height }
}

/**
 * The job's frame has the source's orientation, but the frame is rotated with the image. Without swapping width and
 * height its samples would be 81:256.
 */
function isRotatedFrame({ width, height }: VideoProfile, { frameTurned, frameAspect: frame }: Orientation): boolean {
  return frameTurned && width > 0 && height > 0 && (width - height) * (frame.num - frame.den) < 0
}

/** The largest even image of display aspect `image` in a frame of display aspect `frame`. */
export function fitInside(
  width: number,
  height: number,
  image: Rational,
  frame: Rational,
): { pictureWidth: number; pictureHeight: number } {
  const wider = toNumber(image) / toNumber(frame)
  return wider > 1
    ? { pictureWidth: width, pictureHeight: Math.min(height, even(height / wider)) }
    : { pictureWidth: Math.min(width, even(width * wider)), pictureHeight: height }
}

/** The largest even part of the rotated source that has the aspect of the frame. */
function cropSize(oriented: Orientation, storage: Rational): { cropWidth: number; cropHeight: number } {
  const wider = toNumber(oriented.pictureAspect) / toNumber(storage)
  const { width, height } = oriented
  return wider > 1
    ? { cropWidth: Math.min(width, even(width / wider)), cropHeight: height }
    : { cropWidth: width, cropHeight: Math.min(height, even(height * wider)) }
}

/**
 * The frame is exactly width × height. video_aspect_ratio sets its display aspect, picture_transform how the image
 * fills it.
 */
export function planGeometry(profile: VideoProfile, spec: JobSpec, source: UprightSize): Decision<Geometry> {
  const warnings: Warning[] = []
  const field = `videoProfiles[${profile.index}]`
  const oriented = orient(spec, source)
  const { width, height } = frameSize(profile, oriented)
  if (profile.width === 0 && profile.height === 0 && (width !== oriented.frameWidth || height !== oriented.frameHeight))
    warnings.push({
      code: 'size_rounded',
      field,
      message: `The source's ${oriented.frameWidth}x${oriented.frameHeight} becomes ${width}x${height}: sizes must be even.`,
    })
  if (isRotatedFrame(profile, oriented))
    warnings.push({
      code: 'size_turned',
      field,
      message: `${profile.width}x${profile.height} becomes ${width}x${height}: with video_aspect_ratio, the frame is turned together with the video.`,
    })
  const storage = ratio(width, height)
  const full: Geometry = {
    turn: oriented.turn,
    mirror: oriented.mirror,
    width,
    height,
    cropWidth: oriented.width,
    cropHeight: oriented.height,
    pictureWidth: width,
    pictureHeight: height,
    barPercent: 0,
    sar: SQUARE,
  }
  const decided = (geometry: Geometry): Decision<Geometry> => {
    const { value, warnings: more } = settleBars(spec, geometry)
    return { value, warnings: [...warnings, ...more] }
  }
  if (spec.transform === 'stretch') return decided(full)
  if (spec.transform === 'crop') return decided({ ...full, ...cropSize(oriented, storage) })
  const inside = (frame: Rational, sar: Rational): Decision<Geometry> => {
    // A difference of 1 % is stretched. Otherwise there would be thin bars.
    const filled = distance(oriented.pictureAspect, frame) <= SQUARE_TOLERANCE
    const picture = filled ? {} : fitInside(width, height, oriented.pictureAspect, frame)
    return decided({ ...full, ...picture, barPercent: spec.barPercent, sar })
  }
  if (spec.transform === 'letterbox') return inside(storage, SQUARE)

  const exact = divide(oriented.frameAspect, storage)
  if (distance(exact, SQUARE) <= SQUARE_TOLERANCE) return inside(oriented.frameAspect, SQUARE)
  if (videoEncodings[spec.videoCodec].hasCodedRates) {
    const carried = nearestRatio(mpeg2Displays, oriented.frameAspect)
    if (distance(oriented.frameAspect, carried) <= SQUARE_TOLERANCE)
      return inside(oriented.frameAspect, divide(carried, storage))
    const frame = nearestRatio(barDisplays, oriented.frameAspect)
    warnings.push({
      code: 'bars_added',
      field,
      message: `${videoCodecs[spec.videoCodec].requestName} cannot carry a display aspect of ${toNumber(oriented.frameAspect).toFixed(3)} at ${width}x${height}; the video has bars inside ${frame.num}:${frame.den}.`,
    })
    const square = distance(frame, storage) <= SQUARE_TOLERANCE
    return inside(frame, square ? SQUARE : divide(frame, storage))
  }

  const sar = approximate(exact, SAR_LIMIT)
  if (toNumber(sar) < 0.5 || toNumber(sar) > 2)
    warnings.push({
      code: 'extreme_pixel_aspect',
      field,
      message: `At ${width}x${height} this display aspect needs samples of ${sar.num}:${sar.den}, which some players ignore; picture_transform letterbox, or a width of 0, avoids that.`,
    })
  return inside(oriented.frameAspect, sar)
}

const BLACKNESS_WITHOUT_EFFECT: Warning = {
  code: 'no_effect',
  field: 'rotation_blackness',
  message: 'rotation_blackness has no effect: the rotated video has no bars.',
}

/** The bars of a rotated image have a level of their own. All other bars are black. */
function settleBars(spec: JobSpec, geometry: Geometry): Decision<Geometry> {
  const bars = geometry.pictureWidth !== geometry.width || geometry.pictureHeight !== geometry.height
  const turned = spec.aspect === 'rotate_clockwise' || spec.aspect === 'rotate_counterclockwise'
  if (bars && turned) return { value: geometry, warnings: [] }
  const isWithoutEffect = turned && spec.barPercent > 0
  return { value: { ...geometry, barPercent: 0 }, warnings: isWithoutEffect ? [BLACKNESS_WITHOUT_EFFECT] : [] }
}
