// In charge of: which renditions of a divided job are encoded at a constant rate factor, and the plan of a sample: a few GOPs,
// encoded to learn their size.
// Not in charge of: which GOPs (rateSampling.ts), running it (division/rates/encodePlace.ts).
import { planOfPart } from './partPlan.ts'
import { toNumber, type Rational } from '../../formats/rational.ts'
import type { RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { RUN_IN_SECONDS, type RatePlace, type SampledGop } from './rateSampling.ts'

/**
 * Encoders whose chunks need a constant rate factor. With an average bitrate, each chunk begins with the encoder's guess
 * and ends near the average whatever it shows: 2 % of the size and of the quality after each join for film, several times
 * as much where easy and difficult parts alternate. mpeg2 is not divided (notDivided.ts).
 */
const DRIFTING: ReadonlySet<VideoPlan['codec']> = new Set(['h264', 'hevc'])

/** A rendition of vbr whose chunks would differ from one encode. qvbr is a constant rate factor as it is. */
export function needsRateFactor(video: VideoPlan | null): video is VideoPlan {
  return video !== null && video.copied == null && video.mode === 'vbr' && DRIFTING.has(video.codec)
}

/** The renditions that need a factor, by their position in the packaging. */
export interface SampledRenditions {
  positions: number[]
  videos: VideoPlan[]
  /** Seconds. */
  gop: Rational
}

/** Seconds by which GOPs of different frame rates may differ. */
const SAME_SECONDS = 1e-6

/** null = no rendition needs a factor, or their GOPs never begin together: no place begins with a GOP of each rendition. */
export function sampledRenditions({ packaging }: Pick<Plan, 'packaging'>): SampledRenditions | null {
  const found = (packaging?.renditions ?? []).flatMap(({ video }, position) =>
    needsRateFactor(video) ? [{ video, position }] : [],
  )
  const [first] = found
  if (first === undefined) return null
  const gop = gopSeconds(first.video)
  if (found.some(({ video }) => Math.abs(toNumber(gopSeconds(video)) - toNumber(gop)) > SAME_SECONDS)) return null
  return { positions: found.map(({ position }) => position), videos: found.map(({ video }) => video), gop }
}

function gopSeconds({ gopFrames, frameRate }: VideoPlan): Rational {
  return { num: gopFrames * frameRate.den, den: frameRate.num }
}

export function sampledGop({ videos, gop }: SampledRenditions): SampledGop {
  return {
    seconds: toNumber(gop),
    shares: videos.reduce((shares, { gopFrames }) => commonDivisor(shares, gopFrames), 0),
    runInSeconds: Math.max(...videos.map(({ codec }) => RUN_IN_SECONDS[codec])),
  }
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b)
}

/**
 * A chunk whose segments are shares of a GOP. What is drawn over the video is left out: its files are written later, and it
 * changes little. `factors`: in the order of the renditions.
 */
export function samplePlan(
  plan: Plan,
  { positions, gop }: SampledRenditions,
  place: RatePlace,
  factors: readonly number[],
): Plan {
  const { packaging } = plan
  if (packaging === null) throw new TypeError('only segmented output is sampled')
  const renditions = positions.map((position): RenditionPlan => {
    const rendition = packaging.renditions[position]!
    const video = rendition.video!
    return {
      ...rendition,
      forms: ['cmaf'],
      segmentFrames: video.gopFrames / place.sharesPerGop,
      audio: [],
      video: { ...video, spliceFrames: [], logo: null, bitmaps: null },
    }
  })
  const sampled = {
    ...plan,
    burnIn: null,
    packaging: { ...packaging, segmentDuration: { ...gop, den: gop.den * place.sharesPerGop }, renditions },
    division: { chunks: [place.from, place.end], rateFactors: [...factors] },
  }
  return planOfPart(sampled, { kind: 'chunk', chunk: 0, from: place.from, to: place.end })
}

/** The factors of all renditions, for the plan. */
export function rateFactorsOf(
  { packaging }: Pick<Plan, 'packaging'>,
  { positions }: SampledRenditions,
  factors: readonly number[],
): (number | null)[] {
  return (packaging?.renditions ?? []).map((_rendition, position) => factors[positions.indexOf(position)] ?? null)
}
