// In charge of: what every attempt has before there is a plan: the specification, the opened and probed source, the
// other files of the client.
// Not in charge of: analysing the source (surveyAndPlan.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { TaskDescription } from '#contract/task/protocol.ts'
import { BurstFiles } from '../analysis/burstFiles.ts'
import { explainRefusal } from '../analysis/fileKind.ts'
import type { Attempt, AttemptOutlook } from '../attempt.ts'
import type { CaptionFile } from '../formats/captions/captionFile.ts'
import type { LogoImage, MediaInfo } from '../plan/model/mediaInfo.ts'
import type { Timeline } from '../plan/planContext.ts'
import { timelineOf } from '../plan/streams/outputTiming.ts'
import { withoutUnusedVideo } from '../plan/streams/unusedVideo.ts'
import { fetchCaptionFiles } from '../source/captionFiles.ts'
import { requireUnencrypted } from '../source/encryption/encryptionCheck.ts'
import { convertLogo } from '../source/logoImage.ts'
import { prepareSource } from '../source/prepareSource.ts'
import type { LogSender, SideTasks } from './attemptReports.ts'
import type { AttemptTimers } from './attemptTimers.ts'
import { DrawnBitmaps } from './bitmapBurnIn.ts'
import { requireCompleteSource } from './encode.ts'
import type { HeadStart } from './headStart.ts'
import { splitSource } from './join/sourcePieces.ts'
import { JoinedSource } from './join/joinedSource.ts'
import type { InputsContext } from './join/openInputs.ts'
import { withLengths } from './sourceLengths.ts'
import { followsOneFile } from './taskPlan.ts'

/** What one attempt at a task starts with. */
export interface Surroundings {
  taskRequest: Promise<TaskDescription>
  headStart: HeadStart
  sideTasks: SideTasks
  outlook: AttemptOutlook | undefined
  logSender: LogSender
  timers: AttemptTimers
  /** How further inputs are opened. */
  inputs: Omit<InputsContext, 'attempt' | 'spec'>
}

/** A task whose source is open. */
export interface OpenTask {
  attempt: Attempt
  task: TaskDescription
  surroundings: Surroundings
  spec: JobSpec
  /** null = the source is one file. */
  joined: JoinedSource | null
  /** Bytes of the whole source; null = not known. */
  sizeBytes: number | null
  /** Milliseconds of `performance.now()`: the wait for a live event to end may have taken hours. */
  began: number
  /** The source as ffprobe reports it, and without a video stream that no output uses. */
  probed: MediaInfo
  media: MediaInfo
  /** Of `media`. */
  timeline: Timeline
  logo: LogoImage | null
  /** null = the job draws none, or the attempt makes a part of it, which has stored ones. */
  bitmaps: DrawnBitmaps | null
  /** Audio that is taken out of the source. */
  bursts: BurstFiles
  captionFiles: CaptionFile[]
}

export async function openTask(attempt: Attempt, task: TaskDescription, surroundings: Surroundings): Promise<OpenTask> {
  const { taskClient, loopback, engine, workspace, progress, controller } = attempt
  const { headStart, inputs } = surroundings
  progress.setPhase('probing')
  const requested = task.spec
  const opened = requested.inputs === null ? await prepareSource(attempt, requested) : null
  const openedAt = performance.now()
  const found =
    opened === null
      ? null
      : await headStart.probe(requested.program).catch(async (error: unknown) => {
          requireCompleteSource(attempt) // a failed read of the source explains more than the resulting error of ffprobe
          await requireUnencrypted(loopback, requested, null, controller.signal)
          throw await explainRefusal(loopback, error, controller.signal)
        })
  const pieces =
    found === null || followsOneFile(task) ? null : await splitSource(attempt, requested, found.formats, headStart)
  const spec = pieces?.spec ?? requested
  if (spec.inputs !== null) await headStart.end()
  const joined =
    spec.inputs === null ? null : await JoinedSource.open({ attempt, spec, ...inputs, split: pieces?.split })
  const { size: sizeBytes } = joined ?? opened!
  const began = opened === null ? performance.now() : openedAt
  const probed = joined?.firstMedia ?? (await withLengths(attempt, found!, sizeBytes))
  const media = withoutUnusedVideo(spec, probed)
  const logo = spec.logo
    ? await convertLogo(engine, await taskClient.fetchLogo(controller.signal), workspace, controller.signal)
    : null
  const bitmaps = task.part === undefined ? await DrawnBitmaps.open(attempt, spec, media) : null
  const captionFiles = await fetchCaptionFiles(attempt, spec)
  return {
    attempt,
    task,
    surroundings,
    spec,
    joined,
    sizeBytes,
    began,
    probed,
    media,
    timeline: timelineOf(spec, media, engine.features),
    logo,
    bitmaps,
    bursts: new BurstFiles(attempt),
    captionFiles,
  }
}

/** The source can be read at any position. */
export async function isSeekable({ attempt: { loopback } }: OpenTask): Promise<boolean> {
  return (await loopback.open()).ranges
}
