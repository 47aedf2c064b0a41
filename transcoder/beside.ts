// In charge of: what an attempt tells beside its outputs: the source, a still of it, its log. No job depends on any of it.
// Not in charge of: what is told (plan/sourceReport.ts, preview.ts, jobLog.ts), the ending (run.ts).
import type { SourceReport } from '#contract/estimate.ts'
import type { TaskDescription } from '#contract/task.ts'
import type { Attempt } from './attempt.ts'
import type { Door } from './door.ts'
import { scrub, StaleAttempt } from './failure.ts'
import type { JobLog } from './jobLog.ts'
import type { MediaInfo } from './plan/media.ts'
import { still } from './preview.ts'

/** Where the service takes it. Throws only what ends the attempt. */
export async function sendSource(attempt: Attempt, task: TaskDescription, report: () => SourceReport): Promise<void> {
  if (task.takes?.source !== true) return
  await beside(attempt, 'the source could not be told', () =>
    attempt.door.source({ source: report() }, attempt.halt.signal),
  )
}

/** Where the service takes one and the source has a picture. Throws only what ends the attempt. */
export async function sendPreview(attempt: Attempt, task: TaskDescription, media: MediaInfo): Promise<void> {
  if (task.takes?.preview !== true) return
  const { engine, gateway, workspace, settings, door, halt } = attempt
  await beside(attempt, 'no poster could be made', async () => {
    const { ranges: seekable } = await gateway.open()
    const options = { cwd: workspace.cwd, signal: halt.signal, seekable, threads: settings.threads }
    const picture = await still(engine, gateway.url, media, options)
    if (picture !== null) await door.preview(picture, halt.signal)
  })
}

async function beside({ log, halt }: Attempt, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    halt.signal.throwIfAborted()
    if (error instanceof StaleAttempt) throw error
    log.warn(what, { error: scrub(String(error)) })
  }
}

/** Sends the log as it is, one after another: an older one never replaces a newer. */
export class LogSender {
  /** Whether the service takes one. */
  wanted = false
  readonly #door: Door
  readonly #log: JobLog
  #sending: Promise<void> = Promise.resolve()

  constructor(door: Door, log: JobLog) {
    this.#door = door
    this.#log = log
  }

  /** Never rejects: nothing depends on it. */
  send(totalMs: number): Promise<void> {
    if (!this.wanted) return Promise.resolve()
    this.#sending = this.#sending.then(() =>
      this.#door.log(this.#log.snapshot(), totalMs, AbortSignal.timeout(totalMs)).catch(() => undefined),
    )
    return this.#sending
  }
}
