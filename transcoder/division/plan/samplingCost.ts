// In charge of: how much of a video is encoded before its chunks, to find their rate.
// Not in charge of: the places (rateSampling.ts), encoding them (division/rates/).
import { predictTime } from '../../plan/estimate/costModel.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { encodedSeconds, mostPlaces, placeGops } from './rateSampling.ts'
import { sampledGop, sampledRenditions } from './samplePlan.ts'

/** Seconds for which one transcoder samples, as predicted. */
export function samplingSeconds(plan: Plan, media: MediaInfo, vcpus: number): number {
  const { durationSeconds: seconds } = plan
  const predicted = predictTime(plan, media, vcpus)
  return seconds === null || seconds === 0 || predicted === null
    ? 0
    : (sampledSeconds(plan, seconds) * predicted.wall.likely) / seconds
}

/** Seconds of the video, as if all renditions were sampled. */
function sampledSeconds(plan: Plan, seconds: number): number {
  const sampled = sampledRenditions(plan)
  if (sampled === null) return 0
  const gop = sampledGop(sampled)
  const places = Math.floor(seconds / gop.seconds / placeGops(gop.seconds))
  return Math.min(places, mostPlaces(places)) * encodedSeconds(gop)
}
