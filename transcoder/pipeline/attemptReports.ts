// In charge of: what an attempt tells beside its outputs: the source, a still of it, what was measured in what it wrote, its log.
// No job depends on any of it.
// Not in charge of: what is told (plan/estimate/sourceReport.ts, sourcePreview.ts, facts/, jobLog.ts), the ending (runTask.ts).
import { stat } from 'node:fs/promises'
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import { mediaFactsSchema } from '#contract/task/reportSchemas.ts'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import type { TaskDescription } from '#contract/task/protocol.ts'
import type { Attempt } from './attempt.ts'
import type { TaskClient } from '../taskApi/taskClient.ts'
import type { EncodedFile } from './encode.ts'
import { analyzeFile } from '../outputAnalysis/fileAnalysis.ts'
import { probeRenditions, analyzePresentation, type SegmentedStream } from '../outputAnalysis/presentationAnalysis.ts'
import { redactText, StaleAttempt } from '../errors.ts'
import type { JobLog } from './jobLog.ts'
import { plannedFiles } from '../plan/model/plannedFiles.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { Plan } from '../plan/model/plan.ts'
import { capturePreview } from '../analysis/sourcePreview.ts'
import type { PresentationSets } from '../segmenter/finishPackage.ts'

/** Nobody waits longer for what no job depends on. */
const POST_TIMEOUT_MS = 15_000

/** Where the service takes it. Throws only what ends the attempt. */
export async function postSource(attempt: Attempt, task: TaskDescription, report: () => SourceReport): Promise<void> {
  if (task.takes?.source !== true) return
  await bestEffort(attempt, 'the source could not be told', () =>
    attempt.door.postSource(
      { source: report() },
      AbortSignal.any([attempt.halt.signal, AbortSignal.timeout(POST_TIMEOUT_MS)]),
    ),
  )
}

/** Where the service takes one and the source has a picture. Throws only what ends the attempt. */
export async function postPreview(attempt: Attempt, task: TaskDescription, media: MediaInfo): Promise<void> {
  if (task.takes?.preview !== true) return
  const { engine, gateway, workspace, settings, door, halt } = attempt
  await bestEffort(attempt, 'no poster could be made', async () => {
    const { ranges: seekable } = await gateway.open()
    const options = { cwd: workspace.cwd, signal: halt.signal, seekable, threads: settings.threads }
    const picture = await capturePreview(engine, gateway.url, media, options)
    if (picture !== null)
      await door.putPreview(picture, AbortSignal.any([halt.signal, AbortSignal.timeout(POST_TIMEOUT_MS)]))
  })
}

/**
 * Of each file, in the order of the plan; null where it could not be measured. `hasCaptions`: the source was seen to have some,
 * or nobody looked. Throws only what ends the attempt.
 */
export async function analyzeFiles(
  attempt: Attempt,
  plan: Plan,
  encoded: readonly EncodedFile[],
  hasCaptions: boolean,
): Promise<(MediaFacts | null)[]> {
  const { engine, workspace, halt } = attempt
  const places = { cwd: workspace.cwd, scratch: workspace.out, signal: halt.signal }
  const facts: (MediaFacts | null)[] = []
  for (const [index, { container, path }] of plannedFiles(plan).entries()) {
    const { file, probed, meter } = encoded[index]!
    const measured = await bestEffort(attempt, `${path} could not be measured`, async () => {
      const { size: bytes } = await stat(file)
      const captions = hasCaptions && plan.outputs[index]?.video.captions === true
      const finished = { path: file, container, bytes, probed, counts: meter?.end() ?? null, captions }
      return validated(await analyzeFile(engine, finished, places))
    })
    facts.push(measured ?? null)
  }
  return facts
}

/**
 * Looks into what came out of the encoder while the last of it leaves. The function that it returns tells, once there are tracks,
 * what was found by the path below the directory of the packaging; nothing where it could not be measured. Throws only what ends
 * the attempt.
 */
export function analyzePackage(
  attempt: Attempt,
  { packaging }: Plan,
  found: { streams: readonly SegmentedStream[]; hasCaptions: boolean },
): (sets: PresentationSets) => Promise<ReadonlyMap<string, MediaFacts>> {
  const looking = packaging === null ? null : probeRenditions(attempt, packaging, found)
  looking?.catch(() => undefined) // told where it is waited for
  return async (sets) =>
    (await bestEffort(attempt, 'the segments could not be measured', async () => {
      if (packaging === null || looking === null) return new Map<string, never>()
      const measured = analyzePresentation(packaging, found.streams, await looking, sets)
      return new Map([...measured].map(([path, facts]) => [path, validated(facts)]))
    })) ?? new Map<string, never>()
}

/** The door refuses an attempt's whole result for a measure that is out of bounds: such a one is left out. */
function validated<Facts extends MediaFacts | null>(facts: Facts): Facts {
  if (facts !== null) mediaFactsSchema.parse(facts)
  return facts
}

/**
 * What goes on beside an attempt's work, and is over when the work is. What ends the attempt in it ends the work at once.
 */
export class Beside {
  readonly #halt: AbortController
  readonly #all: Promise<void>[] = []

  constructor(halt: AbortController) {
    this.#halt = halt
  }

  /** @returns once it is over; never rejects */
  run(work: () => Promise<void>): Promise<void> {
    const over = work().catch((error: unknown) => this.#halt.abort(error))
    this.#all.push(over)
    return over
  }

  /** Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#all)
  }

  /** What `work` comes to, once all that it began here is over as well: no end of an attempt goes out before it. */
  async around<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      await this.settled()
      this.#halt.signal.throwIfAborted()
    }
  }
}

/** undefined: it failed, which is a line of the log. */
async function bestEffort<T>({ log, halt }: Attempt, what: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    halt.signal.throwIfAborted()
    if (error instanceof StaleAttempt) throw error
    log.warn(what, { error: redactText(String(error)) })
    return undefined
  }
}

/** Sends the log as it is, one after another: an older one never replaces a newer. */
export class LogSender {
  /** Whether the service takes one. */
  wanted = false
  readonly #door: TaskClient
  readonly #log: JobLog
  #sending: Promise<void> = Promise.resolve()
  /** What the log had changed by when it was last taken. */
  #sent = -1

  constructor(door: TaskClient, log: JobLog) {
    this.#door = door
    this.#log = log
  }

  /** Never rejects: nothing depends on it. */
  send(totalMs: number): Promise<void> {
    if (!this.wanted) return Promise.resolve()
    this.#sending = this.#sendAfter(this.#sending, totalMs)
    return this.#sending
  }

  async #sendAfter(earlier: Promise<void>, totalMs: number): Promise<void> {
    await earlier
    const { changes } = this.#log
    try {
      await this.#door.putLog(this.#log.snapshot(), totalMs, AbortSignal.timeout(totalMs))
      this.#sent = changes
    } catch {
      // Nothing depends on it.
    }
  }

  /** The same, unless the service has all of it. */
  async flush(totalMs: number): Promise<void> {
    await this.#sending
    if (this.#sent !== this.#log.changes) await this.send(totalMs)
  }
}
