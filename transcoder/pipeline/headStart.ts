// In charge of: starting programs before their input is available. They load their libraries while the task is fetched
// and the source is opened. ffprobe reads first, then the program that extracts the frames of an H.264 source.
// Not in charge of: their results (probe.ts, streamDetails.ts), holding back their requests (loopbackServer.ts).
import type { Attempt } from '../attempt.ts'
import type { Engine } from '../ffmpeg/locate.ts'
import type { FfmpegPrograms, RunEnd, RunStart } from '../ffmpeg/run.ts'
import type { HeldAddress } from '../source/loopbackServer.ts'
import { unnamedAudioOf } from '../formats/mpegts/elementaryKind.ts'
import { startVideoExtraction, canExtractEarly } from '../analysis/streamDetails.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import { askFfprobe, readProbe } from '../analysis/probe.ts'

/** Half of the silence after which the programs take the connection for broken (ffmpeg/inputAllowlist.ts). */
const LONGEST_WAIT_MS = 10_000

/** One started program whose request is held back. */
class EarlyRead<T> {
  readonly #held: HeldAddress
  readonly #work: Promise<T>
  readonly #own = new AbortController()
  #isOver = false

  constructor({ loopback, controller }: Attempt, work: (url: string, signal: AbortSignal) => Promise<T>) {
    this.#held = loopback.hold()
    this.#work = work(this.#held.url, AbortSignal.any([controller.signal, this.#own.signal]))
    this.#work.catch(() => undefined).finally(() => (this.#isOver = true))
  }

  /** The program has given up waiting. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Lets the program read. */
  read(): Promise<T> {
    this.#held.release()
    return this.#work
  }

  /** Ends the program if it is still running. Never rejects. */
  async end(): Promise<void> {
    this.#own.abort(new Error('it has nothing to read'))
    await this.#work.catch(() => undefined)
  }
}

export class HeadStart {
  readonly #attempt: Attempt
  readonly #longestWaitMs: number
  readonly #began = performance.now()
  readonly #probe: EarlyRead<Awaited<ReturnType<typeof askFfprobe>>>
  readonly #elementaryStream: EarlyRead<Uint8Array | null>
  /** Resolves when the frames have been read. */
  readonly #reads = Promise.withResolvers<void>()

  constructor(attempt: Attempt, longestWaitMs = LONGEST_WAIT_MS) {
    const { workspace } = attempt
    const engine: Engine & FfmpegPrograms = attempt.engine
    this.#attempt = attempt
    this.#longestWaitMs = longestWaitMs
    const places = { cwd: workspace.cwd, scratch: workspace.out }
    this.#probe = new EarlyRead(attempt, (url, signal) => askFfprobe(engine, url, { signal, cwd: workspace.cwd }))
    // A program that reads nothing is not logged. Nor is a failure to read: the program is then run again, or its
    // frames are not used.
    const quiet = {
      ...engine,
      onRun: (start: RunStart) => {
        let onEnd: ((end: RunEnd) => void) | undefined
        void this.#reads.promise.then(() => (onEnd = engine.onRun?.(start)))
        return ({ code }: RunEnd) => onEnd?.({ code, stderr: '' })
      },
    }
    this.#elementaryStream = new EarlyRead(attempt, (url, signal) =>
      startVideoExtraction(quiet, url, { ...places, signal }),
    )
  }

  /**
   * Called once the source can be read. Starts ffprobe again if this one may have given up waiting. Throws as `probe`
   * does.
   */
  async probe(program: number | null): Promise<MediaInfo> {
    const { engine, loopback, workspace, controller } = this.#attempt
    if (!this.#probe.isOver && performance.now() - this.#began < this.#longestWaitMs)
      return readProbe(await this.#probe.read(), program, unnamedAudioOf(loopback.programs))
    await this.end()
    const document = await askFfprobe(engine, loopback.url, { signal: controller.signal, cwd: workspace.cwd })
    return readProbe(document, program, unnamedAudioOf(loopback.programs))
  }

  /** Called once `media` is known. Null if another run has to extract the frames, or if they are not needed. */
  async elementaryStream(media: MediaInfo | null): Promise<Uint8Array | null> {
    if (media !== null && canExtractEarly(media) && !this.#elementaryStream.isOver) {
      this.#reads.resolve()
      return this.#elementaryStream.read()
    }
    await this.#elementaryStream.end()
    return null
  }

  /** Ends the programs that still run. Never rejects. */
  async end(): Promise<void> {
    await Promise.all([this.#probe.end(), this.#elementaryStream.end()])
  }
}
