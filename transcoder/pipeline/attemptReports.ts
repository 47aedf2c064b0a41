// In charge of: what an attempt sends besides its outputs: the source report, a preview image, the media facts of the
// outputs, the log. No job depends on any of these.
// Not in charge of: their content (plan/estimate/sourceReport.ts, sourcePreview.ts, outputAnalysis/, jobLog.ts), the
// result of the attempt (runTask.ts).
import { stat } from 'node:fs/promises'
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import { mediaFactsSchema } from '#contract/task/reportSchemas.ts'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import type { TaskDescription } from '#contract/task/protocol.ts'
import type { Attempt } from '../attempt.ts'
import type { TaskClient } from '../taskApi/taskClient.ts'
import type { EncodedFile } from './encode.ts'
import { analyzeFile } from '../outputAnalysis/fileAnalysis.ts'
import { probeRenditions, analyzePresentation } from '../outputAnalysis/presentationAnalysis.ts'
import type { SegmentedStream } from '../segmenter/segmentedStream.ts'
import { redactText, StaleAttempt } from '../errors.ts'
import type { JobLog } from './jobLog.ts'
import { plannedFiles } from '../plan/model/plannedFiles.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { capturePreview } from '../analysis/sourcePreview.ts'
import type { PresentationSets } from '../segmenter/finishPackage.ts'

/** These posts are optional for the job, so the attempt waits no longer than this for one. */
const POST_TIMEOUT_MS = 15_000

/** Only if the service accepts source reports. Throws only errors that end the attempt. */
export async function postSource(attempt: Attempt, task: TaskDescription, report: () => SourceReport): Promise<void> {
  if (task.accepts?.source !== true) return
  await bestEffort(attempt, 'the source report could not be sent', () =>
    attempt.taskClient.postSource(
      { source: report() },
      AbortSignal.any([attempt.controller.signal, AbortSignal.timeout(POST_TIMEOUT_MS)]),
    ),
  )
}

/** Only if the service accepts previews and the source has video. Throws only errors that end the attempt. */
export async function postPreview(attempt: Attempt, task: TaskDescription, media: MediaInfo): Promise<void> {
  if (task.accepts?.preview !== true) return
  const { engine, loopback, workspace, settings, taskClient, controller } = attempt
  await bestEffort(attempt, 'no poster could be made', async () => {
    const { ranges: seekable } = await loopback.open()
    const options = { cwd: workspace.cwd, signal: controller.signal, seekable, threads: settings.threads }
    const jpeg = await capturePreview(engine, loopback.url, media, options)
    if (jpeg !== null)
      await taskClient.putPreview(jpeg, AbortSignal.any([controller.signal, AbortSignal.timeout(POST_TIMEOUT_MS)]))
  })
}

/**
 * The facts of each file, in the order of the plan; null if the file could not be measured. `hasCaptions`: captions
 * were found in the source, or it was not checked. Throws only errors that end the attempt.
 */
export async function analyzeFiles(
  attempt: Attempt,
  plan: Plan,
  encoded: readonly EncodedFile[],
  hasCaptions: boolean,
): Promise<(MediaFacts | null)[]> {
  const { engine, workspace, controller } = attempt
  const scratchDirs = { cwd: workspace.cwd, scratch: workspace.out, signal: controller.signal }
  const facts: (MediaFacts | null)[] = []
  for (const [index, { container, path }] of plannedFiles(plan).entries()) {
    const { file, probed, meter } = encoded[index]!
    const measured = await bestEffort(attempt, `${path} could not be measured`, async () => {
      const { size: bytes } = await stat(file)
      const video = plan.outputs[index]?.video
      const captions = video?.captions === true && (hasCaptions || video.embedded !== null)
      const finished = { path: file, container, bytes, probed, counts: meter?.end() ?? null, captions }
      return validated(await analyzeFile(engine, finished, scratchDirs))
    })
    facts.push(measured ?? null)
  }
  return facts
}

/**
 * Probes the segments while the last of them are uploaded. The returned function is called once the tracks are known.
 * It returns the facts by path below the packaging directory; none if the segments could not be measured. Throws only
 * errors that end the attempt.
 */
export function analyzePackage(
  attempt: Attempt,
  { packaging }: Plan,
  found: {
    streams: readonly SegmentedStream[]
    hasCaptions: boolean
  },
): (sets: PresentationSets) => Promise<ReadonlyMap<string, MediaFacts>> {
  const analysis = packaging === null ? null : probeRenditions(attempt, packaging, found)
  analysis?.catch(() => undefined) // the error is reported where the promise is awaited
  return async (sets) =>
    (await bestEffort(attempt, 'the segments could not be measured', async () => {
      if (packaging === null || analysis === null) return new Map<string, never>()
      const measured = analyzePresentation(packaging, found.streams, await analysis, sets)
      return new Map([...measured].map(([path, facts]) => [path, validated(facts)]))
    })) ?? new Map<string, never>()
}

/**
 * Throws for facts that are out of bounds, which are then left out: the task API would reject the attempt's whole
 * result for them.
 */
function validated<Facts extends MediaFacts | null>(facts: Facts): Facts {
  if (facts !== null) mediaFactsSchema.parse(facts)
  return facts
}

/**
 * Work that runs in parallel with the attempt's main work and ends with it. An error in it aborts the attempt at once.
 */
export class SideTasks {
  readonly #controller: AbortController
  readonly #all: Promise<void>[] = []

  constructor(controller: AbortController) {
    this.#controller = controller
  }

  /** @returns a promise that resolves when the work has ended; it never rejects */
  run(work: () => Promise<void>): Promise<void> {
    const over = work().catch((error: unknown) => this.#controller.abort(error))
    this.#all.push(over)
    return over
  }

  /** Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#all)
  }

  /**
   * Returns the result of `work` after all background work started here has ended as well: an attempt reports its
   * result only then.
   */
  async around<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      await this.settled()
      this.#controller.signal.throwIfAborted()
    }
  }
}

/** Returns undefined after a failure, which is logged. */
async function bestEffort<T>(
  { log, controller }: Attempt,
  what: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    controller.signal.throwIfAborted()
    if (error instanceof StaleAttempt) throw error
    log.warn(what, { error: redactText(String(error)) })
    return undefined
  }
}

/** Sends the log one snapshot after the other, so that an older one never replaces a newer one. */
export class LogSender {
  /** Whether the service accepts a log. */
  isEnabled = false
  readonly #taskClient: TaskClient
  readonly #log: JobLog
  #sending: Promise<void> = Promise.resolve()
  /** The log's change count when it was last sent. */
  #sentChanges = -1

  constructor(taskClient: TaskClient, log: JobLog) {
    this.#taskClient = taskClient
    this.#log = log
  }

  /** Never rejects: the log is optional. */
  send(totalMs: number): Promise<void> {
    if (!this.isEnabled) return Promise.resolve()
    this.#sending = this.#sendAfter(this.#sending, totalMs)
    return this.#sending
  }

  async #sendAfter(previous: Promise<void>, totalMs: number): Promise<void> {
    await previous
    const { changes } = this.#log
    try {
      await this.#taskClient.putLog(this.#log.snapshot(), totalMs, AbortSignal.timeout(totalMs))
      this.#sentChanges = changes
    } catch {
      // The log is optional.
    }
  }

  /** The same, unless the service already has the whole log. */
  async flush(totalMs: number): Promise<void> {
    await this.#sending
    if (this.#sentChanges !== this.#log.changes) await this.send(totalMs)
  }
}
