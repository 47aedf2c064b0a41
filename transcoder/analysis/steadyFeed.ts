// In charge of: running the process that decodes audio whose format changes midway, into the pipe of the process that
// reads it; and noticing that a source needs it.
// Not in charge of: the arguments (plan/argv/steadyAudio.ts), when which format begins (analysis/damage/).
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { filteredPad } from './damage/ffmpegMessages.ts'
import type { AudioStream } from '../plan/model/mediaInfo.ts'
import { FIRST_PIPE_FD, runFfmpeg, type FfmpegPrograms, type FfmpegResult, type PipeFeed } from '../ffmpeg/run.ts'

/** What the process writes to. */
export const STEADY_PIPE = `pipe:${FIRST_PIPE_FD}`

interface Options {
  cwd: string
  onLine: (line: string) => boolean
  /** Throws if the run did not end well. */
  requireEnd: (result: FfmpegResult) => void
  cpuSeconds?: number | undefined
}

export class SteadyFeed {
  readonly #engine: FfmpegPrograms
  readonly #args: readonly string[]
  readonly #options: Options
  /** The other process does not take what this one has. */
  #isHeldBack = false

  constructor(engine: FfmpegPrograms, args: readonly string[], options: Options) {
    this.#engine = engine
    this.#args = args
    this.#options = options
  }

  /** True while the other process may be waiting for this one. */
  get isStarving(): boolean {
    return !this.#isHeldBack
  }

  pipeFeed(): PipeFeed {
    return {
      count: 1,
      write: async ([pipe], ended) => {
        const { cwd, onLine, requireEnd, cpuSeconds = 0 } = this.#options
        const result = await runFfmpeg(this.#engine, this.#args, {
          cwd,
          purpose: 'decode audio that changes',
          signal: ended,
          limits: { cpuSeconds },
          isBlocked: () => this.#isHeldBack,
          onLine,
          // The pipe is ended below: its end would look like the end of the source.
          pipeReaders: [(stream) => pipeline(stream, (blocks) => this.#pass(blocks, pipe!, ended), { signal: ended })],
        })
        if (ended.aborted) return
        requireEnd(result)
        pipe!.end()
      },
    }
  }

  async #pass(blocks: AsyncIterable<Buffer>, pipe: NodeJS.WritableStream, ended: AbortSignal): Promise<void> {
    for await (const block of blocks) {
      if (pipe.write(block)) continue
      this.#isHeldBack = true
      await once(pipe, 'drain', { signal: ended })
      this.#isHeldBack = false
    }
  }
}

/** The filters of a stream are made a second time: its channels or its sample rate have changed. */
export class FormatChangeWatch {
  readonly #seen = new Set<string>()
  readonly #pads: ReadonlySet<string>

  constructor(streams: readonly AudioStream[]) {
    const inputs = streams.filter(({ bursts }) => bursts !== undefined)
    this.#pads = new Set([
      ...streams.map(({ index }) => `0:${index}`),
      ...inputs.map((_stream, position) => `${position + 1}:0`),
    ])
  }

  /** True for the line of a change. */
  isChange(line: string): boolean {
    const pad = filteredPad(line)
    if (pad === null || !this.#pads.has(pad)) return false
    if (this.#seen.has(pad)) return true
    this.#seen.add(pad)
    return false
  }
}
