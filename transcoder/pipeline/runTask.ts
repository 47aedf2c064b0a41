// In charge of: THE PIPELINE: one attempt at one task, from fetching the task to reporting its result.
// Not in charge of: any of its steps.
import { basename, join } from 'node:path'
import type { Warning } from '#contract/errors.ts'
import { mergeWarnings } from '#contract/job/findings.ts'
import type { EstimatePost, FinishPost, RunRequest, TaskDescription } from '#contract/task/protocol.ts'
import type { Attempt, AttemptOutlook } from '../attempt.ts'
import { Extractor } from '../extracts/extractor.ts'
import { findCues } from '../analysis/findCues.ts'
import { withCaptionLanguages } from '../analysis/captionLanguages.ts'
import { BEGINNING_BYTES, begunWithin, MAY_BE_CUT } from '../analysis/damage/streamBeginning.ts'
import { DamageMonitor } from '../analysis/damage/damageMonitor.ts'
import { damageWarnings, describeDamage, type DamageSummary } from '../analysis/damage/damageReport.ts'
import { lateWarnings, type Late } from './multiplexOutput.ts'
import { TaskClient } from '../taskApi/taskClient.ts'
import { ENCODE, encode, requireCompleteSource } from './encode.ts'
import { requireUnencrypted } from '../source/encryption/encryptionCheck.ts'
import { AttemptAbort, redactText } from '../errors.ts'
import { TaskError } from '#contract/taskError.ts'
import type { Engine } from '../ffmpeg/locate.ts'
import { LoopbackServer } from '../source/loopbackServer.ts'
import type { SourceReaderOptions } from '../source/sourceReader.ts'
import { prepareSource } from '../source/prepareSource.ts'
import { HeadStart } from './headStart.ts'
import { JoinedSource } from './join/joinedSource.ts'
import type { InputsContext } from './join/openInputs.ts'
import { readStreamDetails } from '../analysis/streamDetails.ts'
import { JobLog } from './jobLog.ts'
import { commitSignal, raceAbort } from './abortSignals.ts'
import { LOG_MS, reportFailure } from './reportFailure.ts'
import { usageReport } from './usageReport.ts'
import { hasStoredPlan, requireMatchingTask, specOf, storedPlanFor, storePlan } from './taskPlan.ts'
import type { Log } from '../log.ts'
import { fetchCaptionFiles } from '../source/captionFiles.ts'
import { readDrawnCaptions, writeBurnInFiles } from './burnIn/drawnCaptions.ts'
import { DrawnBitmaps } from './bitmapBurnIn.ts'
import { placedCaptions, writeCaptionCarriers, writeCaptionInputs } from './captionTracks.ts'
import { convertLogo } from '../source/logoImage.ts'
import { surveyVideo } from '../analysis/surveyVideo.ts'
import { measureSource } from '../analysis/measureSource.ts'
import { cutCues } from '../formats/scte35/cutCues.ts'
import { readCut } from '../plan/argv/cutArgs.ts'
import { withMainExtracts } from '../plan/argv/extractArgs.ts'
import { joinedMedia } from '../plan/join/planJoin.ts'
import { applyCut, cutSource } from '../plan/streams/cut.ts'
import { carriesCues } from '../plan/streams/cuePlan.ts'
import type { DrawnCaptions } from '../plan/streams/burnIn.ts'
import { timeLimits, type TimeLimits } from '../plan/estimate/deadline.ts'
import { planJob } from '../plan/planJob.ts'
import { estimateJob } from '../plan/estimate/estimateJob.ts'
import { plannedFiles } from '../plan/model/plannedFiles.ts'
import { extractPipes } from '../plan/model/plannedPipes.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { VideoSurvey } from '../plan/model/videoSurvey.ts'
import type { Plan } from '../plan/model/plan.ts'
import { withoutUnusedVideo } from '../plan/streams/unusedVideo.ts'
import { outputStartSeconds } from '../plan/streams/outputTiming.ts'
import { needsDeepProbe } from '../plan/streams/audioStreamCount.ts'
import { sourceReport } from '../plan/estimate/sourceReport.ts'
import { ResourceMeter } from './resourceUsage.ts'
import { ProgressTracker, startHeartbeat } from './progress.ts'
import { finalizePackage } from '../segmenter/finishPackage.ts'
import { Segmenter } from '../segmenter/segmenter.ts'
import type { Settings } from '../settings.ts'
import { SideTasks, LogSender, analyzeFiles, analyzePackage, postPreview, postSource } from './attemptReports.ts'
import { TransferLimiter } from '../upload/transferLimiter.ts'
import { openWorkspace, requireDiskSpace, type Workspace } from '../workspace.ts'

export interface RunContext {
  /** A promise if the attempt begins before the checks of ffmpeg have ended. */
  engine: Engine | Promise<Engine>
  settings: Settings
  log: Log
  /** Aborted with an `AttemptAbort` from outside, and with the first error from inside. */
  controller: AbortController
  outlook?: AttemptOutlook
  source?: SourceReaderOptions
  /** The longest time without an answer to a heartbeat. */
  heartbeatTimeoutMs?: number
}

/**
 * Concurrent part uploads over all outputs: needs memory for 4 chunks, and is enough to use the full bandwidth despite
 * one round trip for each part.
 */
const MAX_TRANSFERS = 4
const MAX_TIMER_MS = 2 ** 31 - 1

/** Runs one attempt to its end and reports the result to the task API. Never rejects. */
export async function runTask(request: RunRequest, context: RunContext): Promise<void> {
  const { controller, settings } = context
  const secrets = [request.token]
  const jobLog = new JobLog(secrets)
  const log = jobLog.tee(context.log.with({ task: request.task_id, attempt: request.attempt }))
  const taskClient = new TaskClient({
    base: request.task_api_url,
    taskId: request.task_id,
    token: request.token,
    retryForMs: context.source?.retryForMs,
    upstreamMs: context.source?.upstreamMs,
    connectionRetryMs: context.source?.connectionRetryMs,
  })
  const limiter = new TransferLimiter(MAX_TRANSFERS)
  const meter = new ResourceMeter(settings.workDir)
  const progress = new ProgressTracker(
    () => limiter.stats(),
    () => performance.now(),
    () => ({ ...meter.usage(), bytes_read: taskClient.bytesRead }),
  )
  const sourceOptions: SourceReaderOptions = { ...context.source, onBytes: (count) => taskClient.countRead(count) }
  const heartbeatAbort = new AbortController()
  const stopHeartbeat = startHeartbeat(
    (post) => taskClient.postProgress(post, heartbeatAbort.signal),
    progress,
    {
      onInstruction: (instruction) =>
        controller.abort(new AttemptAbort(instruction === 'cancel' ? 'cancelled' : 'stopped')),
      onTimeout: () => controller.abort(new AttemptAbort('heartbeat_lost')),
    },
    context.heartbeatTimeoutMs === undefined ? {} : { timeoutMs: context.heartbeatTimeoutMs },
  )
  const logSender = new LogSender(taskClient, jobLog)
  const cleanups: (() => Promise<unknown>)[] = []
  let succeeded = false
  context.outlook?.setEstimator(() => progress.remainingSeconds())
  try {
    const located = await raceAbort(context.engine, controller.signal)
    jobLog.engine = located.version
    // The log is sent when the encode starts, so that the longest command is visible while it runs.
    const engine = jobLog.instrument(located, (purpose) => void (purpose === ENCODE && logSender.send(LOG_MS)))
    // Fetching the task, opening the source and starting ffprobe do not wait for each other.
    const taskRequest = taskClient.fetchTask(controller.signal)
    taskRequest.catch(() => undefined) // reported by `runPipeline`
    const workspace = await openWorkspace(settings.workDir, engine.sandbox?.user)
    cleanups.push(() => (settings.keepWork && !succeeded ? keepWorkspace(workspace, request, log) : workspace.remove()))
    jobLog.directory = workspace.root
    const loopback = await LoopbackServer.start(
      (range, etag, signal) => taskClient.fetchInput(range, etag, signal),
      controller.signal,
      // If the service does not know the attempt, the attempt ends with that answer of the service.
      (reason) => void taskRequest.then(() => controller.abort(reason)).catch(() => undefined),
      { ...sourceOptions, cacheFile: join(workspace.root, 'seen') },
    )
    cleanups.push(() => loopback.close())
    secrets.push(loopback.secret)
    const attempt = { engine, settings, log, taskClient, loopback, workspace, limiter, progress, controller }
    loopback.open().catch(() => undefined) // reported through `onFailure`, and where it is awaited
    const headStart = new HeadStart(attempt)
    cleanups.push(() => headStart.end())
    const sideTasks = new SideTasks(controller)
    const finished = await sideTasks.around(() =>
      runPipeline(attempt, request, {
        taskRequest,
        headStart,
        sideTasks,
        outlook: context.outlook,
        logSender,
        inputs: {
          source: sourceOptions,
          onCleanup: (cleanup) => void cleanups.push(cleanup),
          onSecret: (secret) => void secrets.push(secret),
        },
      }),
    )
    context.outlook?.onCommitting()
    // Before the result is reported, so that the log is complete when the job has ended.
    await logSender.flush(LOG_MS)
    if ('estimate' in finished) {
      await taskClient.postEstimate(finished, commitSignal(controller.signal))
      log.info('estimated', { outputs: finished.estimate.plan.outputs.length })
    } else {
      await taskClient.postFinish(finished, commitSignal(controller.signal))
      log.info('finished', { outputs: finished.objects.length, bytes: finished.progress.bytes_stored })
    }
    succeeded = true
  } catch (error) {
    // The first reason counts: what fails after an abort fails because of it. This also ends everything still in
    // progress.
    controller.abort(error)
    heartbeatAbort.abort()
    stopHeartbeat()
    await reportFailure({ taskClient, log, logSender, meter }, controller.signal.reason, secrets)
  } finally {
    heartbeatAbort.abort()
    stopHeartbeat()
    for (const cleanup of cleanups.toReversed())
      await cleanup().catch((error: unknown) =>
        log.warn('clean-up failed', { error: redactText(String(error), secrets) }),
      )
  }
}

/** KEEP_WORK=1. The name of the directory is found in the log, and by the number of the attempt. */
async function keepWorkspace(workspace: Workspace, request: RunRequest, log: Log): Promise<void> {
  const path = await workspace.keep(`${request.task_id}-${request.attempt}`)
  log.info('workspace kept', { directory: basename(path) })
}

/** What one attempt at a task starts with. */
interface Surroundings {
  taskRequest: Promise<TaskDescription>
  headStart: HeadStart
  sideTasks: SideTasks
  outlook: AttemptOutlook | undefined
  logSender: LogSender
  /** How further inputs are opened. */
  inputs: Omit<InputsContext, 'attempt' | 'spec'>
}

/**
 * get the task → probe → plan → encode, with uploads in parallel → send the rest → what to commit. A dry run ends with
 * its plan.
 */
async function runPipeline(
  attempt: Attempt,
  request: RunRequest,
  { taskRequest, headStart, sideTasks, outlook, logSender, inputs }: Surroundings,
): Promise<FinishPost | EstimatePost> {
  const { taskClient, loopback, engine, settings, workspace, progress, log, controller } = attempt
  const task = await taskRequest
  requireMatchingTask(task, request)
  logSender.isEnabled = task.accepts?.log === true
  log.info('task accepted', { job: task.job_id })
  const deadline = setTimeout(
    () =>
      controller.abort(
        new TaskError('too_long_for_one_attempt', 'The task exceeded the maximum duration of one attempt.'),
      ),
    Math.min(task.max_attempt_ms, MAX_TIMER_MS),
  )
  let deadlineTimer: NodeJS.Timeout | undefined
  try {
    progress.setPhase('probing')
    if (task.kind === 'plan') outlook?.setEstimator(elapsedAsEstimate())
    const spec = specOf(task)
    if (spec.inputs !== null) await headStart.end()
    const joined = spec.inputs === null ? null : await JoinedSource.open({ attempt, spec, ...inputs })
    const { size: sizeBytes } = joined ?? (await prepareSource(attempt, spec))
    // The wait for a live event to end may have taken hours.
    const began = performance.now()
    const probed =
      joined?.firstMedia ??
      (await headStart.probe(spec.program).catch(async (error: unknown) => {
        requireCompleteSource(attempt) // a failed read of the source explains more than the resulting error of ffprobe
        await requireUnencrypted(loopback, spec, null, controller.signal)
        throw error
      }))
    const media = withoutUnusedVideo(spec, probed)
    // Read in every attempt: the plan contains the frames at which cues splice, not the cues, which may be megabytes.
    const sourceCues =
      joined === null && carriesCues(spec)
        ? await findCues(loopback, media, outputStartSeconds(spec, media), controller.signal)
        : null
    const logo = spec.logo
      ? await convertLogo(engine, await taskClient.fetchLogo(controller.signal), workspace, controller.signal)
      : null
    const bitmaps = await DrawnBitmaps.open(attempt, spec, media)
    const captionFiles = await fetchCaptionFiles(taskClient, spec, controller.signal)
    const reportSource = (analyzed: MediaInfo) =>
      postSource(attempt, task, () => sourceReport(spec, { media: analyzed, found: sourceCues, sizeBytes }))
    // Assumed until the source was checked.
    let hasCaptions = spec.inputs === null
    let drawn: DrawnCaptions | null = null
    const isSeekable = async (): Promise<boolean> => (await loopback.open()).ranges
    const analyzeAndPlan = async () => {
      if (joined !== null) {
        const planned = await joined.analyzeAndPlan(task, logo, captionFiles)
        drawn = planned.drawn
        await reportSource(planned.media)
        return planned
      }
      const earlyVideo = headStart.elementaryStream(needsDeepProbe(spec, media) ? null : media)
      const scratchDirs = {
        cwd: workspace.cwd,
        scratch: workspace.out,
        signal: controller.signal,
        early: earlyVideo,
      }
      // The preview is made in parallel with the following steps. A source that is read in order allows one connection
      // only: its preview waits for the caption check.
      const ranges = (await loopback.open()).ranges && !needsDeepProbe(spec, media)
      const encryptionChecked = requireUnencrypted(loopback, spec, media, controller.signal)
      // A preview of an encrypted source would be noise; the job ends with the error that it is encrypted.
      const preview = () => postPreview(attempt, task, probed)
      if (ranges) void sideTasks.run(async () => encryptionChecked.then(preview, () => undefined))
      // Both read the source; one that is read in order allows one connection only.
      const listing = (): Promise<VideoSurvey | null> =>
        surveyVideo(engine, loopback.url, { spec, media }, { ...scratchDirs, ranges: ranges ? loopback : null })
      const early = ranges ? listing() : null
      early?.catch(() => undefined) // reported where it is awaited
      const [detailed] = await Promise.all([
        readStreamDetails(engine, loopback.url, spec, media, scratchDirs),
        encryptionChecked,
      ])
      const inspected = await withCaptionLanguages(loopback, spec, detailed, controller.signal)
      hasCaptions = inspected.video?.closedCaptions === true
      // Sent before anything is measured or rejected: a client sees what the source contains even if planning fails.
      const reported = sideTasks.run(() => reportSource(inspected))
      const shown = inspected.unusedVideo === undefined ? inspected : probed
      if (!ranges) await postPreview(attempt, task, shown)
      const survey = early ?? listing()
      const options = { ...scratchDirs, threads: settings.threads, seekable: await isSeekable() }
      const surveyed = withSurvey(inspected, await survey)
      const used = cutSource(spec, surveyed)
      const analyzed = await measureSource(engine, loopback.url, { spec, media: used }, options)
      requireCompleteSource(attempt)
      const whole = withScan(inspected, analyzed)
      if (whole !== inspected) void sideTasks.run(() => reported.then(() => reportSource(whole)))
      drawn = await readDrawnCaptions(attempt, { spec, media, files: captionFiles })
      const cues = cutCues(sourceCues, analyzed.cut)
      const bitmapTrack = (await bitmaps?.measure(spec, analyzed)) ?? null
      const plan = planJob(spec, analyzed, engine.features, cues, logo, captionFiles, drawn, bitmapTrack)
      await reported
      return { media: whole, plan }
    }
    if (task.kind === 'plan') {
      const { media: analyzed, plan } = await analyzeAndPlan()
      await requireOutputSpace(attempt, plan)
      const source = { media: analyzed, found: sourceCues, sizeBytes }
      const estimate = estimateJob(spec, source, plan, settings)
      return { estimate, warnings: plan.warnings, progress: progress.snapshot() }
    }
    // An older transcoder stored the plan, but not the source report.
    const followed = storedPlanFor(attempt, task)
    if (followed !== null)
      await Promise.all([
        reportSource(followed.join === undefined ? media : joinedMedia(followed.join)),
        headStart.end(),
      ])
    if (followed !== null)
      drawn =
        joined === null
          ? await readDrawnCaptions(attempt, { spec, media, files: captionFiles })
          : await joined.readDrawn(followed.join, captionFiles)
    const plan = followed ?? (await storePlan(attempt, (await analyzeAndPlan()).plan, hasStoredPlan(task)))
    await requireOutputSpace(attempt, plan)
    const seekable = await isSeekable()
    const ofPieces = plan.join === undefined ? null : joinedMedia(plan.join)
    const known = ofPieces ?? media
    const used = ofPieces ?? applyCut(spec, media, plan.cut == null ? null : { ...plan.cut, endsAfterSource: false })
    const cues = joined?.cues(plan) ?? cutCues(sourceCues, plan.cut)?.cues ?? []
    const outputBytes = plannedFiles(plan).reduce((sum, output) => sum + output.expectedBytes, 0)
    const limits = timeLimits(plan, known, {
      vcpus: settings.machine.vcpus,
      sourceBytes: sizeBytes,
      outputBytes,
    })
    if (limits !== null)
      deadlineTimer = setTimeout(abortOverdue, remainingWallMs(limits, performance.now() - began), controller, limits)

    const beginning = await beginningOf(loopback, known, controller.signal)
    const pieces = joined?.feed(plan, limits?.cpuSeconds) ?? null
    loopback.stopCaching()
    progress.setPhase('transcoding')
    const timing = {
      cues,
      startSeconds: outputStartSeconds(spec, used),
      secondsBefore: readCut(plan, seekable).cut?.startSeconds ?? 0,
    }
    const segments = plan.packaging === null ? null : new Segmenter(attempt, plan, task, timing)
    const damage = new DamageMonitor({
      media: known,
      plan,
      startSeconds: timing.startSeconds,
      begunWithin: begunWithin(beginning, known),
      limit: spec.maxSourceErrors,
      onExceeded: (error) => controller.abort(error),
    })
    const late: Late[] = []
    const extractor = plan.extracts == null ? null : new Extractor(attempt, plan, plan.extracts)
    const main = withMainExtracts(plan)
    const encoded = isEmpty(main)
      ? []
      : await encode(attempt, main, used, {
          joined: pieces,
          damage,
          onLate: (each) => late.push(each),
          cues,
          seekable,
          segmentPipes: segments,
          extractPipes: extractor,
          captions: await writeCaptionInputs(plan, captionFiles, workspace),
          burnIn: await writeBurnInFiles(plan, drawn, workspace),
          bitmaps: (await bitmaps?.writeMovie(plan, spec, used)) ?? null,
          carriers: await writeCaptionCarriers(
            plan,
            {
              spec,
              files: captionFiles,
              ofPieces: joined === null ? null : () => joined.frameCaptions(plan),
            },
            workspace,
          ),
          startSeconds: timing.startSeconds,
          readers: sideTasks.settled(),
          cpuSeconds: limits?.cpuSeconds,
        })
    await extractor?.readFrames({ seekable, cpuSeconds: limits?.cpuSeconds })
    progress.onEncodeEnd()
    if (pieces !== null) segments?.takeText(pieces)
    const found = pieces?.damage ?? damage.summary()
    // The log is sent while the last uploads end.
    void logSender.send(LOG_MS)

    progress.setPhase('uploading')
    const extracted = (await extractor?.finish()) ?? { objects: [], warnings: [] }
    const warnings = mergeWarnings(plan.warnings, [
      ...reportDamage(log, found),
      ...lateWarnings(late),
      ...extracted.warnings,
    ])
    const stored = await Promise.all(encoded.map((each) => each.stored))
    controller.signal.throwIfAborted()
    const measured = await analyzeFiles(attempt, plan, encoded, hasCaptions)
    const mediaFiles = plannedFiles(plan).map((output, index) => ({
      path: output.path,
      content_type: output.contentType,
      profile: output.profile,
      role: 'media' as const,
      ...stored[index]!,
      ...(measured[index] ? { media: measured[index] } : {}),
    }))
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
  } finally {
    clearTimeout(deadline)
    clearTimeout(deadlineTimer)
  }
}

/** The run that makes the outputs would make nothing: all files are read in runs of their own. */
function isEmpty(plan: Plan): boolean {
  return plannedFiles(plan).length === 0 && plan.packaging === null && extractPipes(plan).length === 0
}

/** The first bytes of the source. Empty if they are not needed, or if reading them would need another connection. */
async function beginningOf(loopback: LoopbackServer, media: MediaInfo, signal: AbortSignal): Promise<Uint8Array> {
  const mayBeCut = media.formats.some((format) => MAY_BE_CUT.has(format))
  if (!mayBeCut || !(await loopback.open()).ranges) return new Uint8Array()
  return loopback.readRange(0, BEGINNING_BYTES, signal)
}

function withSurvey(media: MediaInfo, survey: VideoSurvey | null): MediaInfo {
  return media.video === null || survey === null ? media : { ...media, video: { ...media.video, survey } }
}

/** The source with what was measured in its frames. */
function withScan(source: MediaInfo, measured: MediaInfo): MediaInfo {
  if (source.video === null || measured.video === null || measured.video.scan === source.video.scan) return source
  return { ...source, video: { ...source.video, scan: measured.video.scan } }
}

function reportDamage(log: Log, found: DamageSummary): Warning[] {
  if (found.total > 0) log.warn('the source is damaged', { found: describeDamage(found) })
  return damageWarnings(found)
}

/** A dry run has no measurable progress: its remaining time is assumed to equal the time elapsed. */
function elapsedAsEstimate(): () => number {
  const began = performance.now()
  return () => (performance.now() - began) / 1000
}

function remainingWallMs({ wallSeconds }: TimeLimits, passedMs: number): number {
  return Math.min(Math.max(0, wallSeconds * 1000 - passedMs), MAX_TIMER_MS)
}

function abortOverdue(controller: AbortController, { wallSeconds }: TimeLimits): void {
  const why = 'The task took many times longer than a source of this length and outputs of this size should take.'
  controller.abort(new TaskError('deadline_exceeded', why, { details: { allowed_seconds: Math.ceil(wallSeconds) } }))
}

/** A dry run checks this too: it has to predict the errors that the job would meet. */
async function requireOutputSpace({ workspace }: Attempt, plan: Plan): Promise<void> {
  if (plan.durationSeconds === null) return
  const bytes = plannedFiles(plan).reduce((sum, output) => sum + output.expectedBytes, 0)
  await requireDiskSpace(workspace.out, bytes)
}
