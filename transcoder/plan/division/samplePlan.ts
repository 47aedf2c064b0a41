// In charge of: the plan of a sample: a few GOPs of a divided job, encoded to learn their size.
// Not in charge of: which GOPs (rateSampling.ts), running it (analysis/rate/encodePlace.ts).
import { needsRateFactor } from './chunkRate.ts'
import { planOfPart } from './partPlan.ts'
import { toNumber, type Rational } from '../../formats/rational.ts'
import type { Plan, RenditionPlan } from '../model/plan.ts'
import type { VideoPlan } from '../model/videoPlan.ts'
import type { RatePlace } from './rateSampling.ts'

/** The renditions that need a factor, by their position in the packaging. */
export interface SampledRenditions {
  positions: number[]
  videos: VideoPlan[]
  gop: Rational
}

/** Seconds by which GOPs of different frame rates may differ. */
const SAME_SECONDS = 1e-6

/** null = none needs a factor, or their GOPs do not begin together, so that no place begins with one of each. */
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

/**
 * A chunk whose segments are single GOPs. What is drawn over the video is left out: its files are written later, and it
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
      segmentFrames: video.gopFrames,
      audio: [],
      video: { ...video, spliceFrames: [], logo: null, bitmaps: null },
    }
  })
  const sampled = {
    ...plan,
    burnIn: null,
    packaging: { ...packaging, segmentDuration: gop, renditions },
    division: { chunks: [place.from, place.to], rateFactors: [...factors] },
  }
  return planOfPart(sampled, { kind: 'chunk', chunk: 0, from: place.from, to: place.to })
}

/** The factors of all renditions, for the plan. */
export function rateFactorsOf(
  { packaging }: Pick<Plan, 'packaging'>,
  { positions }: SampledRenditions,
  factors: readonly number[],
): (number | null)[] {
  return (packaging?.renditions ?? []).map((_rendition, position) => factors[positions.indexOf(position)] ?? null)
}
