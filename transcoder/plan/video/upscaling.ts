// In charge of: allow_upscaling: which video profiles are larger than the source, and what is done with them.
// Not in charge of: ladder "auto", which has no such rungs (ladder.ts).
import { maximumBitrateKbps, minimumBitrateKbps, scaledBitrateKbps } from '#contract/job/rules/videoBitrates.ts'
import { HEIGHT, WIDTH } from '#contract/limits.ts'
import type { JobSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import { planGeometry, uprightSize } from './geometry.ts'
import type { VideoStream } from '../model/mediaInfo.ts'
import type { Geometry } from '#contract/task/plan/videoPlan.ts'
import type { PlanContext } from '../planContext.ts'
import { displaySize, type Size } from './displaySize.ts'

/** Tolerance in pixels: sizes are rounded to even in both directions. */
const SLACK = 2
/** With these, the job sets the aspect of the frame, in square pixels. */
const SHAPED: readonly JobSpec['transform'][] = ['letterbox', 'crop', 'stretch']

interface SizedProfile {
  profile: VideoProfile
  geometry: Geometry
  /** The larger of the factors by which width and height exceed the source's. */
  factor: number
  isLarger: boolean
}

/**
 * The profiles to be made. Where `allow_upscaling` is absent these are all profiles, and each that is larger gives a
 * warning.
 */
export function resolveUpscaling(context: PlanContext, video: VideoStream): VideoProfile[] {
  const { spec } = context
  if (spec.allowUpscaling === true) return spec.video
  const { picture: display } = displaySize(spec, video)
  const source = `${Math.round(display.width)}x${Math.round(display.height)}`
  const sized = spec.video.map((profile) => measureProfile(spec, profile, video, display))
  const larger = sized.filter(({ isLarger }) => isLarger)
  if (spec.allowUpscaling === null) {
    for (const { profile, geometry } of larger) {
      const message = `Video profile ${profile.index} is ${sizeText(geometry)}, larger than the source's ${source}: it is upscaled, which adds no detail. allow_upscaling false leaves such profiles out; true makes them without this warning.`
      context.warn({ code: 'upscaled', field: `videoProfiles[${profile.index}]`, message })
    }
    return spec.video
  }
  const smallest = larger.length < sized.length ? undefined : smallestOf(larger)
  for (const { profile, geometry } of larger) {
    if (profile === smallest?.profile) continue
    const message = `Video profile ${profile.index} is left out: ${sizeText(geometry)} is larger than the source's ${source}, and allow_upscaling is false.`
    context.warn({ code: 'rung_left_out', field: `videoProfiles[${profile.index}]`, message })
  }
  return smallest === undefined
    ? sized.filter(({ isLarger }) => !isLarger).map(({ profile }) => profile)
    : [shrinkProfile(context, smallest, video)]
}

function measureProfile(spec: JobSpec, profile: VideoProfile, video: VideoStream, display: Size): SizedProfile {
  const geometry = planGeometry(profile, spec, uprightSize(video)).value
  const { width, height } = turnedSize(geometry, video)
  // Cropped parts do not count as scaled. Non-square samples may be stretched to square ones, but not further.
  const across = (Math.max(width, display.width) * geometry.cropWidth) / width
  const down = (Math.max(height, display.height) * geometry.cropHeight) / height
  return {
    profile,
    geometry,
    factor: Math.max(geometry.pictureWidth / across, geometry.pictureHeight / down),
    isLarger: geometry.pictureWidth > across + SLACK || geometry.pictureHeight > down + SLACK,
  }
}

/** The source's size in its own samples, after the rotation and before scaling. */
function turnedSize({ turn }: Geometry, video: VideoStream): Size {
  const { width, height } = uprightSize(video)
  return turn === 90 || turn === 270 ? { width: height, height: width } : { width, height }
}

function smallestOf(sized: readonly SizedProfile[]): SizedProfile | undefined {
  const area = ({ geometry }: SizedProfile) => geometry.width * geometry.height
  return sized.toSorted((a, b) => area(a) - area(b))[0]
}

/**
 * Reduces the profile to the source's size. A frame whose aspect the job sets keeps it, around an image of the source's
 * size.
 */
function shrinkProfile(
  context: PlanContext,
  { profile, geometry, factor }: SizedProfile,
  video: VideoStream,
): VideoProfile {
  const { spec } = context
  const isShaped = SHAPED.includes(spec.transform)
  const size = {
    width: isShaped ? Math.max(WIDTH.minimum, even(geometry.width / factor)) : 0,
    height: isShaped ? Math.max(HEIGHT.minimum, even(geometry.height / factor)) : 0,
  }
  const made = planGeometry({ ...profile, ...size }, spec, uprightSize(video)).value
  const bitrateKbps = shrunkKbps(context, profile, geometry, made)
  const rate = bitrateKbps < profile.bitrateKbps ? ` and ${bitrateKbps} kbps instead of ${profile.bitrateKbps}` : ''
  const message = `Video profile ${profile.index} is made at ${sizeText(made)}${rate}: every profile is larger than the source, and allow_upscaling is false.`
  context.warn({ code: 'rung_at_source_size', field: `videoProfiles[${profile.index}]`, message })
  return { ...profile, ...size, bitrateKbps }
}

/**
 * The bitrate of the profile for fewer pixels, and at most twice the source's bitrate: outputs cannot be better than the
 * source.
 */
function shrunkKbps({ spec, media }: PlanContext, profile: VideoProfile, asked: Size, made: Size): number {
  const { sizeBytes, durationSeconds } = media.cut?.whole ?? media
  const sourceKbps = sizeBytes === null || durationSeconds === null ? Infinity : sizeBytes / 125 / durationSeconds
  const kbps = Math.min(scaledBitrateKbps(profile.bitrateKbps, asked, made), 2 * sourceKbps)
  const least = minimumBitrateKbps(spec.videoCodec, made.width, made.height, profile.mode)
  return Math.min(
    profile.bitrateKbps,
    maximumBitrateKbps(spec.videoCodec, made.width, made.height),
    Math.max(least, 50 * Math.round(kbps / 50)),
  )
}

function even(pixels: number): number {
  return 2 * Math.round(pixels / 2)
}

function sizeText({ width, height }: Size): string {
  return `${width}x${height}`
}
