// In charge of: how much of a video is encoded before its chunks, to find their rate.
// Not in charge of: the places (rateSampling.ts), encoding them (analysis/rate/).
import { toNumber } from '../../formats/rational.ts'
import type { Plan } from '../model/plan.ts'
import { mostPlaces, placeGops, RUN_IN_GOPS } from './rateSampling.ts'
import { sampledRenditions } from './samplePlan.ts'

/** Seconds of the video, as if all renditions were sampled. */
export function sampledSeconds(plan: Plan, seconds: number): number {
  const sampled = sampledRenditions(plan)
  if (sampled === null) return 0
  const gop = toNumber(sampled.gop)
  const gops = placeGops(gop)
  const places = Math.floor(seconds / gop / gops)
  return Math.min(places, mostPlaces(places)) * (gops + RUN_IN_GOPS) * gop
}
