// In charge of: THE PIPELINE: one attempt at one task, from fetching the task to reporting its result.
// Not in charge of: any of its steps.
import { basename, join } from 'node:path'
import { partOf, parseTaskId } from '#contract/taskId.ts'
import { HEARTBEAT_MS, type RunRequest } from '#contract/task/protocol.ts'
import type { AttemptOutlook } from './attempt.ts'
import { TaskClient } from './taskApi/taskClient.ts'
import { ENCODE } from './pipeline/encode.ts'
import { AttemptAbort, redactText } from './errors.ts'
import type { Engine } from './ffmpeg/locate.ts'
import type { guardAttempt } from './pipeline/attemptGuard.ts'
import { AttemptTimers } from './pipeline/attemptTimers.ts'
import { runSteps } from './attemptSteps.ts'
import { LoopbackServer } from './source/loopbackServer.ts'
import type { SourceReaderOptions } from './source/sourceReader.ts'
import { HeadStart } from './pipeline/headStart.ts'
import { JobLog } from './pipeline/jobLog.ts'
import { LOG_MS, reportFailure } from './pipeline/reportFailure.ts'
import { reportResult } from './pipeline/reportResult.ts'
import type { Log } from './log.ts'
import { ResourceMeter } from './pipeline/resourceUsage.ts'
import { ProgressTracker, startHeartbeat } from './pipeline/progress.ts'
import type { Settings } from './settings.ts'
import { SideTasks, LogSender } from './pipeline/attemptReports.ts'
import { TransferLimiter } from './upload/transferLimiter.ts'
import { openWorkspace, type Workspace } from './workspace.ts'

/**
 * When the process has to end, a commit in progress gets this long: half of the time within which the process has to
 * exit.
 */
const COMMIT_GRACE_MS = 5000

/** Waits for `wanted` until `signal` aborts. */
async function raceAbort<T>(pending: T | Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const interruption = Promise.withResolvers<never>()
  const stop = (): void => interruption.reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([pending, interruption.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/**
 * An abort ends a commit in progress at once, except when the process has to end: then the commit may still succeed.
 */
function commitSignal(attemptSignal: AbortSignal): AbortSignal {
  const commit = new AbortController()
  const stop = (): void => {
    const patient = attemptSignal.reason instanceof AttemptAbort && attemptSignal.reason.kind === 'interrupted'
    setTimeout(() => commit.abort(attemptSignal.reason), patient ? COMMIT_GRACE_MS : 0).unref()
  }
  if (attemptSignal.aborted) stop()
  else attemptSignal.addEventListener('abort', stop, { once: true })
  return commit.signal
}

export interface RunContext {
  /** A promise if the attempt begins before the checks of ffmpeg have ended. */
  engine: Engine | Promise<Engine>
  settings: Settings
  log: Log
  /** Aborted with an `AttemptAbort` from outside, and with the first error from inside. */
  controller: AbortController
  outlook?: AttemptOutlook
  source?: SourceReaderOptions
  /** Where this process is a transcoder: it may be ended. */
  guard?: typeof guardAttempt
  /** The longest time without an answer to a heartbeat. */
  heartbeatTimeoutMs?: number
}

/**
 * Concurrent part uploads over all outputs: needs memory for 4 blocks, and is enough to use the full bandwidth despite
 * one round trip for each part.
 */
const MAX_TRANSFERS = 4

/** Each of many parts probes the source. Where no index states the end of the part, it reads on beyond that end. */
const PART_READS: SourceReaderOptions = { firstReadBytes: 256 * 1024, rangeBytes: 2 * 1024 * 1024 }

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
  const isPart = partOf(parseTaskId(request.task_id).number) !== null
  const sourceOptions: SourceReaderOptions = {
    ...(isPart ? PART_READS : {}),
    ...context.source,
    onBytes: (count) => taskClient.countRead(count),
  }
  const releaseGuard = context.guard?.(request, () => progress.phase)
  let heartbeatMs = HEARTBEAT_MS
  const heartbeatAbort = new AbortController()
  const stopHeartbeat = startHeartbeat(
    (post) => taskClient.postProgress(post, heartbeatAbort.signal),
    progress,
    {
      onInstruction: (instruction) =>
        controller.abort(new AttemptAbort(instruction === 'cancel' ? 'cancelled' : 'stopped')),
      onTimeout: () => controller.abort(new AttemptAbort('heartbeat_lost')),
    },
    {
      everyMs: () => heartbeatMs,
      ...(context.heartbeatTimeoutMs === undefined ? {} : { timeoutMs: context.heartbeatTimeoutMs }),
    },
  )
  const logSender = new LogSender(taskClient, jobLog)
  const timers = new AttemptTimers(controller)
  const cleanups: (() => Promise<unknown>)[] = []
  let succeeded = false
  context.outlook?.setEstimator(() => progress.remainingSeconds())
  try {
    const located = await raceAbort(context.engine, controller.signal)
    jobLog.engine = located.version
    // The log is sent when the encode starts, so that the longest command is visible while it runs.
    const engine = jobLog.instrument(located, (purpose) => void (purpose === ENCODE && logSender.send(LOG_MS)))
    // Fetching the task, opening the source and starting ffprobe do not wait for each other.
    const taskRequest = taskClient.fetchTask(engine.build, controller.signal)
    taskRequest.then((task) => (heartbeatMs = task.heartbeat_ms ?? heartbeatMs)).catch(() => undefined) // reported by `runSteps`
    const workspace = await openWorkspace(settings.workDir, engine.sandbox?.user)
    cleanups.push(() => (settings.keepWork && !succeeded ? keepWorkspace(workspace, request, log) : workspace.remove()))
    jobLog.directory = workspace.root
    const loopback = await LoopbackServer.start(
      (range, etag, signal) => taskClient.fetchInput(range, etag, signal),
      controller.signal,
      // If the service does not know the attempt, the attempt ends with that answer of the service. An attempt that only
      // puts parts together reads no source; if it has to make the job after all, its steps check that the source was complete.
      (reason) =>
        void taskRequest
          .then(({ assemble, surveyed }) => (assemble ?? surveyed) === undefined && controller.abort(reason))
          .catch(() => undefined),
      { ...sourceOptions, cacheFile: join(workspace.root, 'seen') },
    )
    cleanups.push(() => loopback.close())
    secrets.push(loopback.secret)
    const attempt = { engine, settings, log, taskClient, loopback, workspace, limiter, progress, controller }
    loopback.open().catch(() => undefined) // reported through `onFailure`, and where it is awaited
    const headStart = new HeadStart(attempt)
    cleanups.push(() => headStart.end())
    const sideTasks = new SideTasks(controller)
    const result = await sideTasks.around(() =>
      runSteps(attempt, request, {
        taskRequest,
        headStart,
        sideTasks,
        outlook: context.outlook,
        logSender,
        timers,
        inputs: {
          source: sourceOptions,
          onCleanup: (cleanup) => void cleanups.push(cleanup),
          onSecret: (secret) => void secrets.push(secret),
        },
      }).finally(() => timers.clear()),
    )
    context.outlook?.onCommitting()
    // Before the result is reported, so that the log is complete when the job has ended.
    await logSender.flush(LOG_MS)
    await reportResult(taskClient, result, log, commitSignal(controller.signal))
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
    await releaseGuard?.()
  }
}

/** KEEP_WORK=1. The name of the directory is found in the log, and by the number of the attempt. */
async function keepWorkspace(workspace: Workspace, request: RunRequest, log: Log): Promise<void> {
  const path = await workspace.keep(`${request.task_id}-${request.attempt}`)
  log.info('workspace kept', { directory: basename(path) })
}
