// In charge of: the attempt that puts a divided job together, from the records of its parts: it reads no source and
// encodes nothing.
// Not in charge of: outputs that are copied from what parts encoded (copyParts.ts), merging the records (division/assembleParts.ts), the manifests (segmenter/finishPackage.ts).
import { mergeWarnings } from '#contract/job/findings.ts'
import { PARTS_SHARE, type FinishPost, type TaskDescription } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import { damageWarnings, tooManyErrors } from '../../analysis/damage/damageReport.ts'
import type { Attempt } from '../../attempt.ts'
import { assembleParts, sortParts } from '../../division/assembleParts.ts'
import { requireContinuousReading } from '../../division/chunkReading.ts'
import { decodePartRecord } from '../../division/recordEncoding.ts'
import { isCopiedFromParts } from '../../plan/division/encodedSegments.ts'
import { partsOf } from '../../plan/division/partPlan.ts'
import { surveyPartsOf } from '../../plan/division/surveyPlan.ts'
import { finalizePackage } from '../../segmenter/finishPackage.ts'
import { requireCompleteSegments } from '../../segmenter/segmentCheck.ts'
import { fetchCaptionFiles } from '../../source/captionFiles.ts'
import { analyzePackage } from '../attemptReports.ts'
import { placedCaptions } from '../captionTracks.ts'
import type { Surroundings } from '../openTask.ts'
import { dividedPlan } from '../taskPlan.ts'
import { usageReport } from '../usageReport.ts'
import { copyParts } from './copyParts.ts'
import { fetchRecords } from './jobRecords.ts'
import { decodeSourceFacts } from './sourceFacts.ts'

/** Throws UnlikeChunks if one attempt has to make the whole job. */
export async function assembleJob(
  attempt: Attempt,
  task: TaskDescription,
  { headStart }: Surroundings,
  { parts, first = 0 }: { parts: number; first?: number },
): Promise<FinishPost> {
  const { engine, progress, controller } = attempt
  progress.setPhase('packaging')
  progress.startAt(PARTS_SHARE)
  await headStart.end()
  const spec = task.spec
  const plan = dividedPlan(task)
  const expected = partsOf(plan.division!)
  if (parts !== expected.length || first !== surveyPartsOf(plan.division!))
    throw new TaskError('internal', `The plan has ${expected.length} parts, and the job has ${parts}.`)
  const messages = await fetchRecords(attempt, parts, first)
  const records = messages.map(decodePartRecord)
  const source = decodeSourceFacts(messages[expected.findIndex(({ kind }) => kind === 'rest')])
  const { chunks, rest } = sortParts(plan, records)
  requireContinuousReading(chunks, plan.cut?.endSeconds == null ? rest.sourceBytes : null)
  const captionFiles = await fetchCaptionFiles(attempt, spec)
  if (isCopiedFromParts(plan)) return copyParts(attempt, task, plan, { records, source, captionFiles })
  const segments = assembleParts(plan, records, { attempt, task })
  const { streams, probed, damage } = segments
  if (spec.maxSourceErrors !== null && damage.total > spec.maxSourceErrors)
    throw tooManyErrors(damage, spec.maxSourceErrors)
  requireCompleteSegments(plan, segments.renditions, source.used, source.startSeconds)
  progress.onEncodeEnd()
  const warnings = mergeWarnings(plan.warnings, [
    ...damageWarnings(damage, plan.durationSeconds, engine.version),
    ...segments.warnings,
  ])
  const seconds = plan.durationSeconds ?? source.used.durationSeconds
  const usage = usageReport(plan, seconds, segments.audioFiles, segments.renditions)
  const packaged = await finalizePackage(
    segments,
    { ...plan, warnings },
    {
      measure: analyzePackage(attempt, plan, { streams, probed, hasCaptions: true }),
      task,
      files: [],
      ffmpegVersion: engine.version,
      sourceSize: segments.sourceBytes,
      cues: source.cues,
      captions: placedCaptions(plan, captionFiles),
    },
  )
  controller.signal.throwIfAborted()
  return { ...packaged, progress: progress.snapshot(), usage }
}
