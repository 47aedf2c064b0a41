// In charge of: programs that start before there is anything to read: they load their libraries while the task is asked for and the
// source is opened, which take as long. ffprobe reads first; then what takes the pictures of an H.264 source out, if it is one.
// Not in charge of: what they find (probe.ts, streamDetails.ts), how their requests are held back (loopbackServer.ts).
import type { Attempt } from './attempt.ts'
import type { Engine } from '../ffmpeg/locate.ts'
import type { FfmpegPrograms, RunEnd, RunStart } from '../ffmpeg/run.ts'
import type { Held } from '../source/loopbackServer.ts'
import { beginPictures, isTakenEarly } from '../analysis/streamDetails.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import { askFfprobe, readProbe } from '../analysis/probe.ts'

/** Half of the silence that they take for a broken connection (ffmpeg/inputAllowlist.ts). */
const LONGEST_WAIT_MS = 10_000

/** One program that waits. */
class Early<T> {
  readonly #held: Held
  readonly #work: Promise<T>
  readonly #own = new AbortController()
  #isOver = false

  constructor({ gateway, halt }: Attempt, work: (url: string, signal: AbortSignal) => Promise<T>) {
    this.#held = gateway.hold()
    this.#work = work(this.#held.url, AbortSignal.any([halt.signal, this.#own.signal]))
    this.#work.catch(() => undefined).finally(() => (this.#isOver = true))
  }

  /** It has given up waiting. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Lets it read. */
  read(): Promise<T> {
    this.#held.release()
    return this.#work
  }

  /** Ends it where it is still running. Never rejects. */
  async end(): Promise<void> {
    this.#own.abort(new Error('it has nothing to read'))
    await this.#work.catch(() => undefined)
  }
}

export class HeadStart {
  readonly #attempt: Attempt
  readonly #longestWaitMs: number
  readonly #began = performance.now()
  readonly #probe: Early<Awaited<ReturnType<typeof askFfprobe>>>
  readonly #pictures: Early<Uint8Array | null>
  /** Once the pictures are read. */
  readonly #reads = Promise.withResolvers<void>()

  constructor(attempt: Attempt, longestWaitMs = LONGEST_WAIT_MS) {
    const { workspace } = attempt
    const engine: Engine & FfmpegPrograms = attempt.engine
    this.#attempt = attempt
    this.#longestWaitMs = longestWaitMs
    const places = { cwd: workspace.cwd, scratch: workspace.out }
    this.#probe = new Early(attempt, (url, signal) => askFfprobe(engine, url, { signal, cwd: workspace.cwd }))
    // One that reads nothing is not worth a line of the log; nor is what it cannot read: then it is run again, or there are no pictures.
    const quiet = {
      ...engine,
      onRun: (start: RunStart) => {
        let told: ((end: RunEnd) => void) | undefined
        void this.#reads.promise.then(() => (told = engine.onRun?.(start)))
        return ({ code }: RunEnd) => told?.({ code, stderr: '' })
      },
    }
    this.#pictures = new Early(attempt, (url, signal) => beginPictures(quiet, url, { ...places, signal }))
  }

  /** Once the source can be read. Another ffprobe is started where this one may have given up waiting. Throws as `probe` does. */
  async probe(program: number | null): Promise<MediaInfo> {
    const { engine, gateway, workspace, halt } = this.#attempt
    if (!this.#probe.isOver && performance.now() - this.#began < this.#longestWaitMs)
      return readProbe(await this.#probe.read(), program)
    await this.end()
    return readProbe(await askFfprobe(engine, gateway.url, { signal: halt.signal, cwd: workspace.cwd }), program)
  }

  /** Once `media` is known. Null where its pictures have to be taken out by another run, or are not wanted. */
  async pictures(media: MediaInfo | null): Promise<Uint8Array | null> {
    if (media !== null && isTakenEarly(media) && !this.#pictures.isOver) {
      this.#reads.resolve()
      return this.#pictures.read()
    }
    await this.#pictures.end()
    return null
  }

  /** Ends what is still running. Never rejects. */
  async end(): Promise<void> {
    await Promise.all([this.#probe.end(), this.#pictures.end()])
  }
}
