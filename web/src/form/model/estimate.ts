// In charge of: the total of several estimates, and the renditions of a plan. Pure.
import { containerRules, fileContainers } from '#contract/containers.ts'
import type { Estimate, PlannedFile, EstimateRange } from '#contract/task/dryRunEstimate.ts'
import type { JobFields } from './formBody.ts'

export interface Total {
  seconds: EstimateRange | null
  bytes: EstimateRange | null
  dollars: EstimateRange | null
}

function sum(ranges: readonly (EstimateRange | null)[]): EstimateRange | null {
  let total: EstimateRange = { low: 0, likely: 0, high: 0 }
  for (const range of ranges) {
    if (range === null) return null
    total = { low: total.low + range.low, likely: total.likely + range.likely, high: total.high + range.high }
  }
  return total
}

/** null if one of them is unknown. */
export function totalOf(estimates: readonly Estimate[]): Total {
  const of = (pick: (predicted: Estimate['predicted']) => EstimateRange | null) =>
    sum(estimates.map(({ predicted }) => pick(predicted)))
  return {
    seconds: of(({ wall_seconds: seconds }) => seconds),
    bytes: of(({ output_bytes: bytes }) => bytes),
    dollars: of(({ cost_usd: dollars }) => dollars),
  }
}

/** One line per video rendition: all its files belong to one profile. */
export function renditionsOf({ plan }: Estimate): PlannedFile[] {
  const seen = new Set<string>()
  return plan.outputs.filter(({ video, profile }) => {
    if (video === null) return false
    const key = `${profile ?? ''}:${video.width}x${video.height}:${video.bitrate_kbps}`
    return !seen.has(key) && seen.add(key)
  })
}

/** The profiles of an automatic ladder, as renditions that can be edited. */
export function plannedProfiles(estimate: Estimate, segmented: boolean, container: unknown): JobFields[] {
  return renditionsOf(estimate).flatMap(({ video }): JobFields[] => {
    if (video === null) return []
    const rung = Math.min(video.width, video.height)
    return [
      {
        output: segmented
          ? `video_${rung}p`
          : `video-${rung}p.${fileContainers[containerRules(container)?.file ?? 'mp4'].extension}`,
        width: 0,
        height: video.height,
        video_bitrate_mode: 'vbr',
        video_bitrate: video.bitrate_kbps,
      },
    ]
  })
}
