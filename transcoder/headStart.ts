// In charge of: an ffprobe that starts before there is anything to read: it loads its libraries while the task is asked for and the
// source is opened, which take as long.
// Not in charge of: what it finds (probe.ts), how its requests are held back (gateway.ts).
import type { Attempt } from './attempt.ts'
import { askFfprobe } from './probe.ts'
import type { ProbeDocument } from './plan/document.ts'

/** Half of the silence that ffprobe takes for a broken connection (ffmpeg/cell.ts). */
const LONGEST_WAIT_MS = 10_000

export class HeadStart {
  readonly #attempt: Attempt
  readonly #asked: Promise<ProbeDocument>
  readonly #own = new AbortController()
  readonly #longestWaitMs: number
  readonly #began = performance.now()
  #isOver = false

  constructor(attempt: Attempt, longestWaitMs = LONGEST_WAIT_MS) {
    const { engine, gateway, workspace, halt } = attempt
    this.#attempt = attempt
    this.#longestWaitMs = longestWaitMs
    gateway.hold()
    const signal = AbortSignal.any([halt.signal, this.#own.signal])
    this.#asked = askFfprobe(engine, gateway.url, { signal, cwd: workspace.cwd }).finally(() => (this.#isOver = true))
    this.#asked.catch(() => undefined) // told by `probe`
  }

  /** Once the source can be read. Another ffprobe is started where this one may have given up waiting. Throws as `probe` does. */
  async probe(): Promise<ProbeDocument> {
    const { engine, gateway, workspace, halt } = this.#attempt
    const waits = !this.#isOver && performance.now() - this.#began < this.#longestWaitMs
    if (!waits) await this.end()
    gateway.release()
    return waits ? this.#asked : askFfprobe(engine, gateway.url, { signal: halt.signal, cwd: workspace.cwd })
  }

  /** Ends it where it is still running. Never rejects. */
  async end(): Promise<void> {
    this.#own.abort(new Error('the source was not read'))
    await this.#asked.catch(() => undefined)
  }
}
