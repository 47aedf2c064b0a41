// In charge of: an attempt at one part of a divided job: a chunk of the video, or everything else.
// Not in charge of: what the part consists of (division/plan/partPlan.ts), its record (division/recordParts.ts).
import type { Warning } from '#contract/errors.ts'
import type { DeliverPost, TaskDescription } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import { LAST_CHUNK } from '#contract/task/partPositions.ts'
import { partTaskNumber } from '#contract/taskId.ts'
import type { Attempt } from '../attempt.ts'
import { ChunkReading } from './chunkReading.ts'
import { type PartRecord, decodePartRecord, encodePartRecord } from './partRecord.ts'
import { chunkRecordOf, restRecordOf, type RestFacts } from './recordParts.ts'
import { UnlikeChunks } from './unlikeChunks.ts'
import { putWorkObject, workDirectory } from '../upload/workObjects.ts'
import { encodedSegments } from './plan/encodedSegments.ts'
import { partsOf, planOfPart, type PartPlan } from './plan/partPlan.ts'
import { isSoughtTransport } from './plan/soughtTransport.ts'
import { surveyPartsOf } from './plan/surveyPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { withMainExtracts } from '../plan/argv/extractArgs.ts'
import { forEngine } from '../plan/planEngine.ts'
import { ExpectedBytes } from '../source/expectedBytes.ts'
import { endedStreamWarnings } from '../analysis/damage/endedStreams.ts'
import { lateWarnings } from '../pipeline/multiplexOutput.ts'
import { openTask, type OpenTask, type Surroundings } from '../pipeline/openTask.ts'
import { LOG_MS } from '../pipeline/reportFailure.ts'
import { readSourceCues } from '../pipeline/surveyAndPlan.ts'
import { dividedPlan, requirePlannedBuild, requirePlannedSource } from './dividedPlan.ts'
import { isEmpty, transcode, type Transcoded } from '../pipeline/transcode.ts'
import { storedFiles } from '../pipeline/transcodeResult.ts'
import { drawnInChunk } from './drawnSubtitles.ts'
import { makeSurveyPart } from './survey.ts'
import { requireRecord } from './jobRecords.ts'
import { videoSeconds } from './joinChunks.ts'
import { withReading } from './partReading.ts'
import { encodeSourceFacts, SOURCE_MEMBER } from './sourceFacts.ts'

/** The source is not analysed again: the plan says everything. */
export async function makePart(
  attempt: Attempt,
  task: TaskDescription,
  surroundings: Surroundings,
  index: number,
): Promise<DeliverPost> {
  const whole = forEngine(dividedPlan(task), attempt.engine.features)
  requirePlannedBuild(attempt, whole)
  const surveys = surveyPartsOf(whole.division!)
  const part = partsOf(whole.division!)[index - surveys]
  if (index >= surveys && part === undefined)
    throw new TaskError('internal', `The plan of the job has no part ${index}.`)
  // Until it is known what the part reads: ffprobe wants the beginning.
  attempt.loopback.expect(new ExpectedBytes([]))
  requirePlannedSource(whole, await attempt.loopback.version())
  const open = await openTask(attempt, task, surroundings)
  await surroundings.headStart.end()
  if (part === undefined) return makeSurveyPart(open, whole, index)
  try {
    return await makeChunkOrRest(open, whole, part)
  } catch (error) {
    if (!(error instanceof UnlikeChunks)) throw error
    // One task makes the whole job when all parts have ended.
    attempt.log.warn('the job cannot be made in parts', { reason: error.message })
    attempt.progress.onEncodeEnd()
    const refusal = encodePartRecord({ kind: 'refusal', version: 1, reason: error.message })
    return { record: refusal, warnings: [], progress: attempt.progress.snapshot() }
  }
}

/** Throws UnlikeChunks. */
async function makeChunkOrRest(open: OpenTask, whole: Plan, part: PartPlan): Promise<DeliverPost> {
  const { attempt, surroundings } = open
  // If a chunk was refused, the rest has no use.
  if (part.kind === 'rest') await requireUsableVideo(attempt, whole)
  const cues = part.kind === 'rest' ? await readSourceCues(open) : null
  const { drawn, bitmaps } = part.kind === 'chunk' ? await drawnInChunk(open, whole) : { drawn: null, bitmaps: null }
  const reading = part.kind === 'chunk' && isSoughtTransport(open.media) ? new ChunkReading(open.media, whole) : null
  const segmented = part.kind === 'chunk' ? encodedSegments(whole) : whole
  const transcoded = await transcode(
    { ...open, bitmaps },
    { plan: await withReading(open, planOfPart(whole, part)), drawn, cues },
    {
      whole: segmented,
      watch: reading ?? undefined,
      ignoresContainer: part.kind === 'chunk' && hasRest(segmented),
    },
  )
  // The log is sent while the last uploads end.
  void surroundings.logSender.send(LOG_MS)
  attempt.progress.setPhase('uploading')
  const record = await recordOf(open, whole, part, transcoded, reading)
  attempt.controller.signal.throwIfAborted()
  return {
    record: {
      ...encodePartRecord(record),
      ...(part.kind === 'rest' ? { [SOURCE_MEMBER]: encodeSourceFacts(transcoded) } : {}),
    },
    warnings: record.warnings,
    progress: attempt.progress.snapshot(),
  }
}

/** The rest of the job reads the source: it makes more than files of its own. */
function hasRest(whole: Plan): boolean {
  return !isEmpty(withMainExtracts(planOfPart(whole, { kind: 'rest' })))
}

async function recordOf(
  open: OpenTask,
  whole: Plan,
  part: PartPlan,
  made: Transcoded,
  reading: ChunkReading | null,
): Promise<PartRecord> {
  const { attempt, task } = open
  const { segments, damage, late } = made
  const ended = endedStreamWarnings(attempt.loopback.endedStreams, open, made.plan)
  const warnings: Warning[] = [...lateWarnings(late), ...ended]
  if (part.kind === 'chunk') {
    if (segments === null) throw new TaskError('internal', 'A chunk has no segments.')
    // Uploads that have begun are completed: nothing may write when the part has ended.
    if (reading !== null) await segments.finish()
    const read = reading?.record(made.plan)
    return chunkRecordOf(segments, encodedSegments(whole), part.chunk, {
      damage,
      warnings,
      ...(read === undefined ? {} : { read }),
    })
  }
  const facts = await restFacts(open, whole, made, warnings)
  if (segments === null) return restRecordOf(whole, facts, null)
  const directory = workDirectory(partTaskNumber(task.part!.index), task.attempt)
  return restRecordOf(whole, facts, {
    segmenter: segments,
    videoSeconds: await lastVideoSeconds(attempt, whole),
    store: (name, picture) =>
      putWorkObject(attempt.taskClient, `${directory}/${name}`, picture, attempt.controller.signal),
  })
}

async function restFacts(
  { attempt, sizeBytes }: OpenTask,
  { audioFiles }: Plan,
  { plan, encoded, extractor, damage }: Transcoded,
  warnings: readonly Warning[],
): Promise<RestFacts> {
  const extracted = await extractor?.finish()
  const files = encoded.slice(0, audioFiles.length)
  return {
    damage,
    warnings: [...warnings, ...(extracted?.warnings ?? [])],
    files: [...(await storedFiles(attempt, { ...plan, audioFiles }, files, true)), ...(extracted?.objects ?? [])],
    audioFileSeconds: files.map(({ probed }) => probed.durationSeconds),
    sourceBytes: sizeBytes,
    tracks: await Promise.all(encoded.slice(audioFiles.length).map(({ stored }) => stored)),
  }
}

/** The time at which the video of the outputs ends. */
async function lastVideoSeconds(attempt: Attempt, whole: Plan): Promise<number> {
  return videoSeconds(decodePartRecord(await requireRecord(attempt, positionOf(whole))))
}

/** Throws UnlikeChunks if the part that made it found that one task has to make the job. */
async function requireUsableVideo({ taskClient, controller }: Attempt, whole: Plan): Promise<void> {
  const record = await taskClient.fetchPartRecord(positionOf(whole), controller.signal)
  if (record !== null) decodePartRecord(record)
}

function positionOf({ division }: Plan): number {
  return surveyPartsOf(division!) + LAST_CHUNK
}
