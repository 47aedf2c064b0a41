// In charge of: the output's frame rate and the values that depend on it (GOP in frames, B-frames).
// Not in charge of: the filters that change the rate (filters.ts).
import type { FrameRateFactor, JobSpec } from '#contract/job/jobSpec.ts'
import type { VideoProfile } from '#contract/job/jobSpec.ts'
import { videoCodecs } from '#contract/codecs.ts'
import { videoEncodings } from '../codecs.ts'
import type { VideoStream } from '../model/mediaInfo.ts'
import type { Decision, PlanContext } from '../planContext.ts'
import type { Rational } from '../../formats/rational.ts'
import { TaskError } from '#contract/taskError.ts'
import { distance, multiply, ratio, toNumber } from '../../formats/rational.ts'

/** The eight rates that MPEG-2 can signal (ISO/IEC 13818-2 table 6-4). Broadcast uses the same ones. */
const standardRates: readonly Rational[] = [
  ratio(24000, 1001),
  ratio(24, 1),
  ratio(25, 1),
  ratio(30000, 1001),
  ratio(30, 1),
  ratio(50, 1),
  ratio(60000, 1001),
  ratio(60, 1),
]
const factors: Record<FrameRateFactor, Rational> = { '1x': ratio(1, 1), '1/2x': ratio(1, 2), '2x': ratio(2, 1) }

/** Where the source states none that can be believed. */
export const ASSUMED_RATE = ratio(25, 1)
/** No encoder level that players support goes higher. */
const MAX_RATE = 300
/** Containers round: 29.97 arrives as 2997/100 or 19001/634. Far below the 0.1 % between 24 and 23.976. */
const SAME_RATE = 0.0002
/** The largest relative distance between a rate of the table and the output's. */
const CODED_SNAP = 0.001

/** A variable rate is an average or has jitter: a standard rate that is lower by no more than this shows all of it. */
const LOWER = 0.04
/** Frames of a low rate last equally long at a multiple of it. */
const SAME_MULTIPLE = 0.0005

/** The standard rate for a variable one: no frame is lost. */
export function standardRate(rate: Rational): Rational {
  const enough = standardRates.filter((standard) => toNumber(standard) >= toNumber(rate) * (1 - LOWER))
  const multiples = enough.filter((standard) => {
    const times = toNumber(standard) / toNumber(rate)
    return Math.abs(times / Math.round(times) - 1) <= SAME_MULTIPLE
  })
  const candidates = multiples.length > 0 ? multiples : enough
  return candidates.length === 0 ? standardRates.at(-1)! : nearest(rate, candidates)
}

function nearestStandard(rate: Rational): Rational {
  return nearest(rate, standardRates)
}

function nearest(rate: Rational, candidates: readonly Rational[]): Rational {
  return candidates.reduce((best, candidate) => (distance(rate, candidate) < distance(rate, best) ? candidate : best))
}

/** Frames at `rate` for each frame at `grid`. */
export function framesPerGridStep(rate: Rational, grid: Rational): number {
  return Math.round(toNumber(rate) / toNumber(grid))
}

function describe(rate: Rational): string {
  return String(Number(toNumber(rate).toFixed(3)))
}

/** Frames per second of the source as the outputs use it: constant, and exact where the container rounded. */
export function sourceRate(spec: JobSpec, video: VideoStream): Decision<Rational> {
  if (video.frameRate === null) {
    const why =
      video.countsPictures === true ? 'states a frame rate that no camera has' : 'does not state its frame rate'
    const message = `The source ${why}; 25 frames per second is assumed.`
    return { value: ASSUMED_RATE, warnings: [{ code: 'frame_rate_assumed', message }] }
  }
  if (video.variableFrameRate) {
    const standard = standardRate(video.commonFrameRate ?? video.frameRate)
    const message = `The source has a variable frame rate (${describe(video.frameRate)} on average${video.commonFrameRate === null ? '' : `, often ${describe(video.commonFrameRate)}`}); the output has ${describe(standard)} frames per second.`
    return { value: standard, warnings: [{ code: 'variable_frame_rate', message }] }
  }
  const standard = nearestStandard(video.frameRate)
  if (distance(video.frameRate, standard) <= SAME_RATE) return { value: standard, warnings: [] }
  if (!spec.keepFps) {
    // keep_fps: false = the nearest standard rate.
    const message = `The source's ${describe(video.frameRate)} frames per second become ${describe(standard)}, the nearest standard rate; keep_fps true keeps the source's.`
    return { value: standard, warnings: [{ code: 'frame_rate_snapped', field: 'keep_fps', message }] }
  }
  if (video.rateEvidence === 'grid' && videoEncodings[spec.videoCodec].hasCodedRates) {
    const coded = standardRate(video.frameRate)
    const message = `The source does not state its frame rate; the ${describe(video.frameRate)} frames per second that it has become ${describe(coded)}, since ${videoCodecs[spec.videoCodec].requestName} has no other near it.`
    return { value: coded, warnings: [{ code: 'frame_rate_snapped', message }] }
  }
  const every = Math.ceil(toNumber(video.frameRate) / MAX_RATE)
  if (every <= 1) return { value: video.frameRate, warnings: [] }
  const reduced = ratio(video.frameRate.num, video.frameRate.den * every)
  const message = `The source has ${describe(video.frameRate)} frames per second, and players support at most ${MAX_RATE}; the output has ${describe(reduced)}. keep_fps false makes it 60.`
  return { value: reduced, warnings: [{ code: 'frame_rate_reduced', field: 'keep_fps', message }] }
}

/**
 * Frames per second as chosen from the source (pictureRate), and as coded (frameRate). Where mpeg2 cannot signal the
 * first rate, each frame is coded twice. Throws frame_rate_unsupported where the codec can signal neither.
 */
export function outputRate(
  context: PlanContext,
  { index, frameRateFactor: factor }: VideoProfile,
  source: Rational,
): { frameRate: Rational; pictureRate: Rational } {
  const codec = context.spec.videoCodec
  const rate = multiply(source, factors[factor])
  const field = `videoProfiles[${index}].video_framerate`
  if (videoEncodings[codec].hasCodedRates) {
    const nearest = nearestStandard(rate)
    if (distance(rate, nearest) <= CODED_SNAP) return { frameRate: nearest, pictureRate: nearest }
    const standard = nearestStandard(source)
    if (factor === '1/2x' && distance(source, standard) <= CODED_SNAP) {
      context.warn({
        code: 'pictures_repeated',
        field,
        message: `${videoCodecs[codec].requestName} has no frame rate of ${describe(rate)}; the output has ${describe(standard)} frames per second, and each frame twice.`,
      })
      return { frameRate: standard, pictureRate: multiply(standard, factors[factor]) }
    }
    throw new TaskError(
      'frame_rate_unsupported',
      `${videoCodecs[codec].requestName} has no frame rate of ${describe(rate)}; it has ${standardRates.map(describe).join(', ')}. keep_fps false takes the nearest to the source's`,
      { field, details: { rate: describe(rate), allowed: standardRates.map(describe) } },
    )
  }
  if (toNumber(rate) > MAX_RATE)
    throw new TaskError(
      'frame_rate_unsupported',
      `${describe(rate)} frames per second are more than ${MAX_RATE}; choose a lower video_framerate, such as "1x"`,
      {
        field,
        details: { rate: describe(rate), maximum: MAX_RATE },
      },
    )
  return { frameRate: rate, pictureRate: rate }
}

/** The lowest frame rate among the profiles: each time on its grid is a frame of every rendition. */
export function segmentGridRate(spec: JobSpec, source: Rational): Rational {
  const rates = spec.video.map(({ frameRateFactor }) => multiply(source, factors[frameRateFactor]))
  return rates.reduce((lowest, rate) => (toNumber(rate) < toNumber(lowest) ? rate : lowest))
}

/**
 * Frames per GOP and B-frames between anchors: max(1, round(gop_length × fps)) and ip_distance − 1, within the
 * encoder's limits. `grid` is the rate in which GOPs are counted: the rate of the output, or a lower rate that all
 * renditions share.
 */
export function gopOf(context: PlanContext, rate: Rational, grid: Rational): { gopFrames: number; bFrames: number } {
  const { spec } = context
  const wanted = Math.max(1, Math.round(spec.gopSeconds * toNumber(grid))) * framesPerGridStep(rate, grid)
  const longest = videoEncodings[spec.videoCodec].longestGopFrames
  const gopFrames = Math.min(wanted, longest ?? wanted)
  if (gopFrames < wanted)
    context.warn({
      code: 'gop_clamped',
      field: 'gop_length',
      message: `${videoCodecs[spec.videoCodec].requestName} has GOPs of at most ${longest} frames; ${wanted} were asked for.`,
    })
  const distanceFrames = Math.min(spec.ipDistance, gopFrames)
  if (distanceFrames < spec.ipDistance)
    context.warn({
      code: 'ip_distance_clamped',
      field: 'ip_distance',
      message: `A GOP of ${gopFrames} frames has no room for an ip_distance of ${spec.ipDistance}; ${distanceFrames} is used.`,
    })
  return { gopFrames, bFrames: distanceFrames - 1 }
}
