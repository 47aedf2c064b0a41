// In charge of: carrying out a plan: what the run of ffmpeg needs, the run, what it leaves.
// Not in charge of: making the plan (surveyAndPlan.ts), the run itself (encode.ts), the result of the attempt
// (transcodeResult.ts).
import { MAIN_TASK, partTaskNumber } from '#contract/taskId.ts'
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../attempt.ts'
import { DamageMonitor } from '../analysis/damage/damageMonitor.ts'
import { codecChangeError } from '../analysis/damage/endedStreams.ts'
import { describeDamage, type DamageSummary } from '../analysis/damage/damageReport.ts'
import { BEGINNING_BYTES, begunWithin, MAY_BE_CUT } from '../analysis/damage/streamBeginning.ts'
import { workDirectory } from '../upload/workObjects.ts'
import { Extractor } from '../extracts/extractor.ts'
import type { Cue, CueFindings } from '../formats/scte35/cueScan.ts'
import { cutCues } from '../formats/scte35/cutCues.ts'
import { readCut } from '../plan/argv/cutArgs.ts'
import { withMainExtracts } from '../plan/argv/extractArgs.ts'
import { withSteadyMixes } from '../plan/argv/audioGraphs.ts'
import { timeLimits } from '../plan/estimate/deadline.ts'
import { joinedMedia } from '../plan/join/planJoin.ts'
import { hasTimedLength } from '../analysis/mediaLength.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { Warning } from '#contract/errors.ts'
import { measureSourceLengths } from './sourceLengths.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { plannedFiles } from '../plan/model/plannedFiles.ts'
import { extractPipes, plannedPipes } from '../plan/model/plannedPipes.ts'
import type { DrawnCaptions } from '../plan/streams/burnIn.ts'
import { secondsBeforeRange } from '../plan/model/encodedRange.ts'
import { warnClockJumps } from '../plan/streams/clockJumps.ts'
import { applyCut } from '../plan/streams/cut.ts'
import { outputStartSeconds, timelineOf } from '../plan/streams/outputTiming.ts'
import { Segmenter } from '../segmenter/segmenter.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import { requireDiskSpace } from '../workspace.ts'
import { writeBurnInFiles } from './burnIn/drawnCaptions.ts'
import { readSourceCaptions } from './frameCaptions.ts'
import { writeCaptionCarriers, writeCaptionInputs } from './captionTracks.ts'
import { AudioFormatChange, encode, type EncodedFile } from './encode.ts'
import type { Late } from './multiplexOutput.ts'
import { isSeekable, type OpenTask } from './openTask.ts'

/** A plan, with what it refers to. */
export interface FollowedPlan {
  plan: Plan
  drawn: DrawnCaptions | null
  /** The cues of the whole source. */
  cues: CueFindings | null
}

export interface Transcoded {
  plan: Plan
  /** The source with the cut. */
  used: MediaInfo
  /** The time in the source at which the outputs begin. */
  startSeconds: number
  cues: readonly Cue[]
  encoded: EncodedFile[]
  /** null = the plan has no packaging. */
  segments: Segmenter | null
  extractor: Extractor | null
  /** Found in the source by this run. */
  damage: DamageSummary
  late: Late[]
  /** What was found out about the source while it was encoded. */
  learned: Warning[]
}

/** What a run needs that encodes a range of the video, or none of it. */
export interface TranscodeOptions {
  /** The plan of the whole job; missing = this is it. */
  whole?: Plan
  /** Sees how the source is read. */
  watch?: ReadingWatch | undefined
  /** Another run reads all of the source, and reports what is wrong with its container. */
  ignoresContainer?: boolean
}

export interface ReadingWatch {
  /** For `LoopbackServer.observe`. */
  readonly onReader: (first: number) => (bytes: Uint8Array) => void
  /** Called with each line of ffmpeg. */
  readonly onLine: (line: string) => void
  /** Called, in place of an error, if the run does not have all of its frames. */
  readonly onIncomplete: (error: Error) => void
}

/** All files of the plan are complete on disk or in pipes; their uploads may still run. */
export async function transcode(
  open: OpenTask,
  followed: FollowedPlan,
  options: TranscodeOptions = {},
): Promise<Transcoded> {
  const codecChange = (cause?: unknown) =>
    codecChangeError(open.attempt.loopback.endedStreams, open, followed.plan, cause)
  const made = await transcodeOnce(open, followed, options, false)
    .catch((error: unknown) => {
      if (!(error instanceof AudioFormatChange)) throw error
      open.attempt.log.info('the audio changes its format midway; encoding again, with the audio decoded apart')
      return transcodeOnce(open, followed, options, true)
    })
    .catch((error: unknown) => {
      const isAbout = error instanceof TaskError && SOURCE_ERRORS.has(error.code)
      throw (isAbout ? codecChange(error) : null) ?? error
    })
  const change = codecChange()
  if (change !== null) throw change
  return made
}

/** What a change of the codec looks like to a decoder. */
const SOURCE_ERRORS: ReadonlySet<string> = new Set(['source_damaged', 'too_many_source_errors', 'output_incomplete'])

async function transcodeOnce(
  open: OpenTask,
  { plan, drawn, cues: sourceCues }: FollowedPlan,
  { watch, whole, ignoresContainer = false }: TranscodeOptions,
  steady: boolean,
): Promise<Transcoded> {
  const { attempt, task, surroundings, spec, joined, sizeBytes, began, bitmaps, captionFiles } = open
  const { loopback, settings, workspace, progress, log, controller } = attempt
  await requireOutputSpace(attempt, plan)
  const seekable = await isSeekable(open)
  const media = await open.bursts.follow(plan.pids?.bursts ?? [], open.media, plan.deepProbe)
  const ofPieces = plan.reads.kind === 'pieces' ? joinedMedia(plan.reads.join) : null
  const known = ofPieces ?? media
  const timeline = timelineOf(spec, media, attempt.engine.features)
  const used = ofPieces ?? applyCut(media, timeline, plan.cut === null ? null : { ...plan.cut, endsAfterSource: false })
  const cues = joined?.cues(plan) ?? cutCues(sourceCues, plan.cut)?.cues ?? []
  const outputBytes = plannedFiles(plan).reduce((sum, output) => sum + output.expectedBytes, 0)
  const limits = timeLimits(plan, known, {
    vcpus: settings.machine.vcpus,
    sourceBytes: sizeBytes,
    outputBytes,
  })
  if (limits !== null) surroundings.timers.limitWork(limits, performance.now() - began)

  const beginning = await beginningOf(loopback, known, controller.signal)
  const pieces = joined?.feed(plan, { cpuSeconds: limits?.cpuSeconds, steady }) ?? null
  const startSeconds = outputStartSeconds(spec, used)
  loopback.stopCaching()
  if (watch !== undefined) loopback.observe(watch.onReader)
  progress.setPhase('transcoding')
  const timing = {
    cues,
    startSeconds,
    secondsBefore: readCut(plan, seekable).cut?.startSeconds ?? 0,
  }
  const segments =
    plan.packaging === null
      ? null
      : new Segmenter(attempt, plan, task, {
          ...timing,
          ...(whole === undefined ? {} : { whole }),
          ...(watch === undefined ? {} : { onIncomplete: watch.onIncomplete }),
        })
  const damage = new DamageMonitor({
    media: known,
    plan,
    startSeconds: timing.startSeconds,
    secondsBefore: secondsBeforeRange(plan),
    clockSeconds: timing.secondsBefore,
    ignoresContainer,
    begunWithin: begunWithin(beginning, known),
    limit: spec.maxSourceErrors,
    onExceeded: (error) => controller.abort(error),
  })
  const late: Late[] = []
  let measured: MediaInfo | null = null
  const isMeasurable = joined === null && plan.range === undefined && plan.cut === null && hasTimedLength(known)
  const extractor = plan.extracts === null ? null : new Extractor(attempt, plan, plan.extracts)
  const main = withMainExtracts(steady ? withSteadyMixes(plan, known.audio) : plan)
  const encoded = isEmpty(main)
    ? []
    : await encode(attempt, main, used, {
        decoding: {
          workDirectory: workDirectory(
            task.part === undefined ? MAIN_TASK : partTaskNumber(task.part.index),
            task.attempt,
          ),
          seekable,
          // The pieces of a joined source are decoded by processes of their own.
          steady: steady && joined === null,
          readers: surroundings.sideTasks.settled(),
          measuredSource: async () => (measured ??= isMeasurable ? await measureSourceLengths(attempt, used) : null),
          maxSeconds: task.max_source_seconds ?? Infinity,
          cpuSeconds: limits?.cpuSeconds,
          onLine: watch?.onLine ?? null,
        },
        joined: pieces,
        cues,
        segmentPipes: segments,
        extractPipes: extractor,
        startSeconds: timing.startSeconds,
        damage,
        onLate: (each) => late.push(each),
        files: {
          captions: await writeCaptionInputs(plan, captionFiles, workspace),
          burnIn: await writeBurnInFiles(plan, drawn, workspace),
          bitmaps: (await bitmaps?.writeMovie(plan, { media: used, startSeconds })) ?? null,
          carriers: await writeCaptionCarriers(
            plan,
            {
              spec,
              files: captionFiles,
              ofSource: async () =>
                joined === null
                  ? readSourceCaptions(attempt, plan, { loopback, media, timeline, sizeBytes, seekable })
                  : { fields: await joined.frameCaptions(plan) },
            },
            workspace,
          ),
        },
      }).catch(async (error: unknown) => {
        // The next run writes the same objects.
        if (error instanceof AudioFormatChange) await segments?.waitForTransfers()
        throw error
      })
  await extractor?.readFrames({ seekable, cpuSeconds: limits?.cpuSeconds })
  progress.onEncodeEnd()
  if (pieces !== null) segments?.takeText(pieces)
  const found = pieces?.damage ?? damage.summary()
  if (found.total > 0) log.warn('the source is damaged', { found: describeDamage(found) })
  return {
    plan,
    used,
    startSeconds: timing.startSeconds,
    cues,
    encoded,
    segments,
    extractor,
    damage: found,
    late,
    learned: measured === null ? [] : warnClockJumps(measured),
  }
}

/** The run that makes the outputs would make nothing: all files are read in runs of their own. */
export function isEmpty(plan: Plan): boolean {
  return plannedFiles(plan).length === 0 && plannedPipes(plan).length === 0 && extractPipes(plan).length === 0
}

/** The first bytes of the source. Empty if they are not needed, or if reading them would need another connection. */
async function beginningOf(loopback: LoopbackServer, media: MediaInfo, signal: AbortSignal): Promise<Uint8Array> {
  const mayBeCut = media.formats.some((format) => MAY_BE_CUT.has(format))
  if (!mayBeCut || !(await loopback.open()).ranges) return new Uint8Array()
  return loopback.readRange(0, BEGINNING_BYTES, signal)
}

/** A dry run checks this too: it has to predict the errors that the job would meet. */
export async function requireOutputSpace({ workspace }: Attempt, plan: Plan): Promise<void> {
  if (plan.durationSeconds === null) return
  const bytes = plannedFiles(plan).reduce((sum, output) => sum + output.expectedBytes, 0)
  await requireDiskSpace(workspace.out, bytes)
}
