// In charge of: what a finished transcode commits: files, manifests, usage.
// Not in charge of: making the files (transcode.ts), the text of manifests (manifests/).
import { mergeWarnings } from '#contract/job/findings.ts'
import type { FinishedObject, FinishPost } from '#contract/task/protocol.ts'
import type { Attempt } from '../attempt.ts'
import { endedStreamWarnings } from '../analysis/damage/endedStreams.ts'
import { damageWarnings } from '../analysis/damage/damageReport.ts'
import { outputWarnings } from '../outputAnalysis/outputCheck.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { plannedFiles } from '../plan/model/plannedFiles.ts'
import { finalizePackage } from '../segmenter/finishPackage.ts'
import { analyzeFiles, analyzePackage } from './attemptReports.ts'
import { placedCaptions } from './captionTracks.ts'
import type { EncodedFile } from './encode.ts'
import { lateWarnings } from './multiplexOutput.ts'
import type { OpenTask } from './openTask.ts'
import type { Transcoded } from './transcode.ts'
import { usageReport } from './usageReport.ts'

/** Resolves when everything is stored except what the commit writes. */
export async function transcodeResult(
  open: OpenTask,
  { plan, used, cues, encoded, segments, extractor, damage, late, learned }: Transcoded,
  hasCaptions: boolean,
): Promise<FinishPost> {
  const { attempt, task, sizeBytes, captionFiles } = open
  const { engine, progress, controller } = attempt
  progress.setPhase('uploading')
  const extracted = (await extractor?.finish()) ?? { objects: [], warnings: [] }
  const mediaFiles = await storedFiles(attempt, plan, encoded, hasCaptions)
  const warnings = mergeWarnings(plan.warnings, [
    ...damageWarnings(damage, plan.durationSeconds, engine.version),
    ...lateWarnings(late),
    ...endedStreamWarnings(attempt.loopback.endedStreams, open, plan),
    ...learned,
    ...extracted.warnings,
    ...outputWarnings(plan, mediaFiles),
  ])
  const files = [...mediaFiles, ...extracted.objects]
  const usage = usageReport(
    plan,
    plan.durationSeconds ?? used.durationSeconds,
    encoded.map(({ probed }) => probed),
    segments?.renditions ?? [],
  )
  if (segments === null) return { objects: files, written: [], warnings, progress: progress.snapshot(), usage }
  const packaged = await finalizePackage(
    segments,
    { ...plan, warnings },
    {
      measure: analyzePackage(attempt, plan, { streams: segments.streams, hasCaptions }),
      task,
      files,
      ffmpegVersion: engine.version,
      sourceSize: sizeBytes,
      cues,
      captions: placedCaptions(plan, captionFiles),
    },
  )
  controller.signal.throwIfAborted()
  return { ...packaged, progress: progress.snapshot(), usage }
}

/** The files of the plan, once they are stored. */
export async function storedFiles(
  attempt: Attempt,
  plan: Plan,
  encoded: readonly EncodedFile[],
  hasCaptions: boolean,
): Promise<FinishedObject[]> {
  const stored = await Promise.all(encoded.map((each) => each.stored))
  attempt.controller.signal.throwIfAborted()
  const measured = await analyzeFiles(attempt, plan, encoded, hasCaptions)
  return plannedFiles(plan).map((output, index) => ({
    path: output.path,
    content_type: output.contentType,
    profile: output.profile,
    role: 'media',
    ...stored[index]!,
    ...(measured[index] ? { media: measured[index] } : {}),
  }))
}
