// In charge of: the last attempt at a divided job: it reads no source and encodes nothing, but copies the video and the
// audio that the parts encoded into the outputs.
// Not in charge of: the arguments (division/plan/copyPlan.ts), writing and sending the outputs (encode.ts), the manifests
// (segmenter/finishPackage.ts).
import { mergeWarnings } from '#contract/job/findings.ts'
import { PARTS_SHARE, type FinishPost, type TaskDescription } from '#contract/task/protocol.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { TaskError } from '#contract/taskError.ts'
import { DamageMonitor } from '../analysis/damage/damageMonitor.ts'
import { damageWarnings, joinDamage } from '../analysis/damage/damageReport.ts'
import type { Attempt } from '../attempt.ts'
import { requireContinuousReading } from './chunkReading.ts'
import { joinChunks, sortParts } from './joinChunks.ts'
import { joinWarnings } from './joinedBuffer.ts'
import { type RestRecord, decodePartRecord } from './partRecord.ts'
import { readWorkObjects, type WorkObject } from '../upload/workObjects.ts'
import { outputWarnings } from '../outputAnalysis/outputCheck.ts'
import { copyPlan } from './plan/copyPlan.ts'
import { encodedSegments } from './plan/encodedSegments.ts'
import { partsOf } from './plan/partPlan.ts'
import { surveyPartsOf } from './plan/surveyPlan.ts'
import { finalizePackage } from '../segmenter/finishPackage.ts'
import { Segmenter } from '../segmenter/segmenter.ts'
import { fetchCaptionFiles } from '../source/captionFiles.ts'
import { analyzePackage } from '../pipeline/attemptReports.ts'
import { placedCaptions, writeCaptionInputs } from '../pipeline/captionTracks.ts'
import { NO_FILES } from '../plan/argv/ffmpegArgs.ts'
import { encode } from '../pipeline/encode.ts'
import { lateWarnings, type Late } from '../pipeline/multiplexOutput.ts'
import type { Surroundings } from '../pipeline/openTask.ts'
import { dividedPlan } from './dividedPlan.ts'
import { requireOutputSpace } from '../pipeline/transcode.ts'
import { storedFiles } from '../pipeline/transcodeResult.ts'
import { usageReport } from '../pipeline/usageReport.ts'
import { fetchRecords } from './jobRecords.ts'
import { decodeSourceFacts } from './sourceFacts.ts'
import { StoredFeed } from './storedFeed.ts'

/**
 * Nothing of an earlier attempt is used: what the parts encoded stays stored. Throws UnlikeChunks if one attempt has to make
 * the whole job.
 */
export async function joinParts(
  attempt: Attempt,
  task: TaskDescription,
  { headStart }: Surroundings,
  { parts, first = 0 }: { parts: number; first?: number },
): Promise<FinishPost> {
  const { progress, controller, workspace, engine } = attempt
  progress.setPhase('packaging')
  progress.startAt(PARTS_SHARE)
  await headStart.end()
  const plan = dividedPlan(task)
  const expected = partsOf(plan.division!)
  if (parts !== expected.length || first !== surveyPartsOf(plan.division!))
    throw new TaskError('internal', `The plan has ${expected.length} parts, and the job has ${parts}.`)
  const messages = await fetchRecords(attempt, parts, first)
  const records = messages.map(decodePartRecord)
  const { used, cues, startSeconds } = decodeSourceFacts(messages[expected.findIndex(({ kind }) => kind === 'rest')])
  const { chunks, rest } = sortParts(plan, records)
  requireContinuousReading(chunks, plan.cut?.endSeconds == null ? rest.sourceBytes : null)
  const encodedPlan = encodedSegments(plan)
  const videos = joinChunks(encodedPlan, chunks)
  await requireOutputSpace(attempt, plan)
  const captionFiles = await fetchCaptionFiles(attempt, task.spec)
  const copied = copyPlan(plan)
  const segmenter =
    plan.packaging === null ? null : await segmenterOf(attempt, task, plan, { rest, cues, startSeconds })
  const late: Late[] = []
  progress.setPhase('transcoding')
  const encoded = await encode(attempt, copied, used, {
    decoding: null,
    joined: new StoredFeed(attempt, [...videos, ...rest.tracks.map((track) => [track])]),
    segmentPipes: segmenter,
    extractPipes: null,
    files: { ...NO_FILES, captions: await writeCaptionInputs(plan, captionFiles, workspace) },
    cues,
    startSeconds,
    // The source was judged by the parts; this is no source.
    damage: new DamageMonitor({
      media: { ...used, formats: [] },
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
    ...joinWarnings(encodedPlan, chunks),
    ...records.flatMap((record) => record.warnings),
  ]
  const warnings = mergeWarnings(plan.warnings, found)
  const measured = [
    ...encoded.map(({ probed }) => probed),
    ...rest.audioFileSeconds.map((durationSeconds) => ({ durationSeconds, video: null })),
  ]
  const seconds = plan.durationSeconds ?? used.durationSeconds
  const usage = usageReport(plan, seconds, measured, segmenter?.renditions ?? [])
  const objects = [...files, ...rest.objects]
  if (segmenter === null) return { objects, written: [], warnings, progress: progress.snapshot(), usage }
  const packaged = await finalizePackage(
    segmenter,
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

/** With the text and the pictures of the rest. */
async function segmenterOf(
  attempt: Attempt,
  task: TaskDescription,
  plan: Plan,
  { rest, ...timing }: Pick<ConstructorParameters<typeof Segmenter>[3], 'cues' | 'startSeconds'> & { rest: RestRecord },
): Promise<Segmenter> {
  const { secondsBefore, captions, subtitles, pictures } = rest
  const segmenter = new Segmenter(attempt, copyPlan(plan), task, { ...timing, secondsBefore, whole: plan })
  // Decoded for the duration of this video already.
  segmenter.takeText({ captions: { end: () => captions }, subtitles })
  if (pictures !== null) {
    segmenter.sheets = []
    for (const sheet of pictures.sheets) segmenter.sheets.push(await readPicture(attempt, sheet))
    segmenter.posters = [await readPicture(attempt, pictures.poster)]
  }
  return segmenter
}

async function readPicture({ taskClient, controller }: Attempt, picture: WorkObject): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of readWorkObjects(taskClient, [picture], controller.signal)) pieces.push(piece)
  return Buffer.concat(pieces)
}
