// In charge of: what a finished attempt delivers, for the usage of its account: each rendition once, with its class.
// Not in charge of: media facts of the outputs (outputAnalysis/), prices (the service).
import type { UsageReport } from '#contract/task/protocol.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { RecordedRendition } from '../segmenter/segmentCheck.ts'
import { roundSeconds } from '../outputAnalysis/mediaSummary.ts'

type Rendition = UsageReport['renditions'][number]

/** What ffprobe reports about a file. */
export type MeasuredFile = Pick<MediaInfo, 'durationSeconds'> & { video?: { width: number; height: number } | null }

/**
 * @param files what ffprobe reports about the single files of the plan, in its order
 * @param segmented all streams of segments: a rendition in two forms appears twice
 */
export function usageReport(
  plan: Plan,
  sourceSeconds: number | null,
  files: readonly MeasuredFile[],
  segmented: readonly RecordedRendition[],
): UsageReport {
  return { source_seconds: sourceSeconds, renditions: [...fileRenditions(plan, files), ...streamed(segmented)] }
}

function fileRenditions({ outputs, audioFiles }: Plan, files: readonly MeasuredFile[]): Rendition[] {
  const seconds = (index: number, planned: number | null): number =>
    roundSeconds(files[index]?.durationSeconds ?? planned ?? 0)
  return [
    ...outputs.map(({ video, durationSeconds }, index) =>
      videoRendition(video, files[index]?.video ?? video, seconds(index, durationSeconds)),
    ),
    ...audioFiles.map(({ audio, durationSeconds }, index) =>
      audioRendition(audio, seconds(outputs.length + index, durationSeconds)),
    ),
  ]
}

/** Audio beside video belongs to the video. */
function streamed(segmented: readonly RecordedRendition[]): Rendition[] {
  const distinct = [...new Map(segmented.map((each) => [each.rendition.id, each])).values()]
  const withVideo = distinct.filter(({ rendition }) => rendition.video !== null)
  return (withVideo.length > 0 ? withVideo : distinct).flatMap(({ rendition, recorded, timescale }) => {
    const first = recorded.segments[0]
    const last = recorded.segments.at(-1)
    const ticks = first === undefined || last === undefined ? 0 : last.start + last.duration - first.start
    const seconds = roundSeconds(ticks / timescale)
    const { video, audio } = rendition
    if (video !== null) return [videoRendition(video, video, seconds)]
    return audio[0] === undefined ? [] : [audioRendition(audio[0], seconds)]
  })
}

function videoRendition(
  { codec, copied }: VideoPlan,
  { width, height }: { width: number; height: number },
  seconds: number,
): Rendition {
  return { codec, video: { width, height }, copied: copied !== null, seconds }
}

function audioRendition({ codec, copied }: AudioPlan, seconds: number): Rendition {
  return { codec, video: null, copied: copied !== null, seconds }
}
