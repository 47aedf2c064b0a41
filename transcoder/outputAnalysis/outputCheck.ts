// In charge of: what a finished file has more of than its plan: length, bits. A file that is shorter is refused
// (analysis/durationCheck.ts).
// Not in charge of: measuring (fileAnalysis.ts), segmented output, whose manifests state what was measured.
import type { Warning } from '#contract/errors.ts'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import type { FinishedObject } from '#contract/task/protocol.ts'
import type { AudioFilePlan, OutputPlan, Plan } from '#contract/task/plan/plan.ts'

type PlannedMedia = OutputPlan | AudioFilePlan

/** Encoders fill their last packet; sources round the length that they state. */
const LONGER_SECONDS = 1
const LONGER_SHARE = 0.01
/** Shorter files do not reach the average that a rate control aims at. */
const RATED_SECONDS = 10
const RATE_SHARE = 1.25

/**
 * One warning for each file that lasts longer than its source, or exceeds the highest rate that was asked for. `stored`: the
 * files of the plan in its order, outputs first; what could not be measured is not judged.
 */
export function outputWarnings(
  { outputs, audioFiles }: Pick<Plan, 'outputs' | 'audioFiles'>,
  stored: readonly Pick<FinishedObject, 'media'>[],
): Warning[] {
  return [...outputs, ...audioFiles].flatMap((planned, index) => {
    const facts = stored[index]?.media
    if (facts == null) return []
    const found = [...longer(facts, planned), ...tooManyBits(facts, planned)]
    return found.length === 0 ? [] : [{ code: 'output_differs', message: `${planned.path} ${found.join(' and ')}.` }]
  })
}

function longer({ duration_seconds: seconds }: MediaFacts, { durationSeconds: stated }: PlannedMedia): string[] {
  if (stated === null || seconds <= stated * (1 + LONGER_SHARE) + LONGER_SECONDS) return []
  return [`lasts ${seconds.toFixed(1)} s, and its source states ${stated.toFixed(1)} s`]
}

function tooManyBits({ duration_seconds: seconds, video, audio }: MediaFacts, planned: PlannedMedia): string[] {
  if (seconds < RATED_SECONDS) return []
  const encoded = 'video' in planned && planned.video.copied === null ? planned.video : null
  const tracks = [
    { name: 'video', limit: encoded?.maxKbps ?? Infinity, made: video?.bitrate_kbps },
    ...[planned.audio].flat().map((track, index) => ({
      name: `audio ${index + 1}`,
      // A lossless codec has no rate that was asked for.
      limit: track.copied !== null || track.bitDepth !== null ? Infinity : track.bitrateKbps,
      made: audio[index]?.bitrate_kbps,
    })),
  ]
  return tracks
    .filter(({ limit, made }) => made != null && made > limit * RATE_SHARE)
    .map(({ name, limit, made }) => `has ${made!.toFixed(0)} kbps of ${name} instead of at most ${limit} kbps`)
}
