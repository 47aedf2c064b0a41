// In charge of: the outputs of a divided job that have one writer, copied from the video and the audio that its parts
// encoded.
// Not in charge of: the arguments (plan/division/copyPlan.ts), writing and sending the outputs (encode.ts).
import { mergeWarnings } from '#contract/job/findings.ts'
import type { FinishPost, TaskDescription } from '#contract/task/protocol.ts'
import { DamageMonitor } from '../../analysis/damage/damageMonitor.ts'
import { damageWarnings, joinDamage } from '../../analysis/damage/damageReport.ts'
import type { Attempt } from '../../attempt.ts'
import { sortParts } from '../../division/assembleParts.ts'
import { CopiedSegments } from '../../division/copiedSegments.ts'
import { joinChunks } from '../../division/joinChunks.ts'
import { joinWarnings } from '../../division/joinedBuffer.ts'
import type { PartRecord } from '../../division/partRecord.ts'
import type { CaptionFile } from '../../formats/captions/captionFile.ts'
import { copyPlan } from '../../plan/division/copyPlan.ts'
import { encodedSegments } from '../../plan/division/encodedSegments.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { finalizePackage } from '../../segmenter/finishPackage.ts'
import { Segmenter } from '../../segmenter/segmenter.ts'
import { analyzePackage } from '../attemptReports.ts'
import { placedCaptions, writeCaptionInputs } from '../captionTracks.ts'
import { encode } from '../encode.ts'
import { lateWarnings, type Late } from '../multiplexOutput.ts'
import { requireOutputSpace } from '../transcode.ts'
import { outputWarnings } from '../../outputAnalysis/outputCheck.ts'
import { storedFiles } from '../transcodeResult.ts'
import { usageReport } from '../usageReport.ts'
import type { SourceFacts } from './sourceFacts.ts'
import { StoredFeed } from './storedFeed.ts'

interface Found {
  records: readonly PartRecord[]
  source: SourceFacts
  captionFiles: readonly CaptionFile[]
}

/** Nothing of an earlier attempt is used: the parts stay stored. */
export async function copyParts(
  attempt: Attempt,
  task: TaskDescription,
  plan: Plan,
  { records, source, captionFiles }: Found,
): Promise<FinishPost> {
  const { progress, controller, workspace, engine } = attempt
  await requireOutputSpace(attempt, plan)
  const { chunks, rest } = sortParts(plan, records)
  const videos = joinChunks(encodedSegments(plan), chunks, rest).map(({ recorded: { recorded } }) =>
    [recorded.init!, ...recorded.segments].map(({ uri, bytes, sha256 }) => ({ name: uri, bytes, sha256 })),
  )
  const copied = copyPlan(plan)
  const { cues, startSeconds } = source
  const segmenter =
    plan.packaging === null
      ? null
      : new Segmenter(attempt, copied, task, { cues, startSeconds, secondsBefore: 0, whole: plan })
  const late: Late[] = []
  progress.setPhase('transcoding')
  const encoded = await encode(attempt, copied, source.used, {
    joined: new StoredFeed(attempt, [...videos, ...(rest.tracks ?? []).map((track) => [track])]),
    segmentPipes: segmenter,
    captions: await writeCaptionInputs(plan, captionFiles, workspace),
    cues,
    startSeconds,
    seekable: false,
    // The source was judged by the parts; this is no source.
    damage: new DamageMonitor({
      media: { ...source.used, formats: [] },
      plan: copied,
      startSeconds,
      limit: null,
      onExceeded: () => undefined,
    }),
    onLate: (each) => late.push(each),
  })
  progress.onEncodeEnd()
  progress.setPhase('uploading')
  const files = await storedFiles(attempt, { ...plan, audioFiles: [] }, encoded, true)
  const damage = joinDamage(records.map((record) => record.damage))
  const found = [
    ...damageWarnings(damage, plan.durationSeconds, engine.version),
    ...lateWarnings(late),
    ...outputWarnings({ ...plan, audioFiles: [] }, files),
    ...joinWarnings(encodedSegments(plan), chunks),
    ...records.flatMap((record) => record.warnings),
  ]
  const warnings = mergeWarnings(plan.warnings, found)
  const measured = [
    ...encoded.map(({ probed }) => probed),
    ...rest.audioFileSeconds.map((durationSeconds) => ({ durationSeconds, video: null })),
  ]
  const seconds = plan.durationSeconds ?? source.used.durationSeconds
  const usage = usageReport(plan, seconds, measured, segmenter?.renditions ?? [])
  const objects = [...files, ...records.flatMap((record) => record.objects)]
  if (segmenter === null) return { objects, written: [], warnings, progress: progress.snapshot(), usage }
  const packaged = await finalizePackage(
    new CopiedSegments(segmenter, rest),
    { ...plan, warnings },
    {
      measure: analyzePackage(attempt, plan, { streams: segmenter.streams, hasCaptions: true }),
      task,
      files: objects,
      ffmpegVersion: engine.version,
      sourceSize: rest.sourceBytes,
      cues,
      captions: placedCaptions(plan, captionFiles),
    },
  )
  controller.signal.throwIfAborted()
  return { ...packaged, progress: progress.snapshot(), usage }
}
