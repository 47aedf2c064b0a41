// In charge of: stills, the animated preview and the waveform of one attempt: reading their pipes, the runs that read
// only the needed parts of the source, making the files, storing them.
// Not in charge of: which frames (plan/extracts), the arguments (argv/extractArgs.ts), the run that makes the outputs
// (pipeline/encode.ts).
import { open, readFile, rm, stat, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Warning } from '#contract/errors.ts'
import type { FinishedObject } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../attempt.ts'
import { EngineError } from '../ffmpeg/engineError.ts'
import { explainExit } from '../ffmpeg/exit.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { FIRST_PIPE_FD, runFfmpeg } from '../ffmpeg/run.ts'
import { FormatError } from '../formats/formatError.ts'
import { imageSplitter } from '../formats/imageSplitter.ts'
import { ffmpegArgs, NO_FILES } from '../plan/argv/ffmpegArgs.ts'
import { distinctFrames, framesOnly, withMainExtracts } from '../plan/argv/extractArgs.ts'
import { groupFrames, type FrameRange } from '../plan/extracts/groupFrames.ts'
import { extractPipes } from '../plan/model/plannedPipes.ts'
import type { AnimatedPreviewPlan, ExtractsPlan, StillsPlan } from '#contract/task/plan/extractsPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { toNumber } from '../formats/rational.ts'
import { inMemoryObject } from '../segmenter/sidecarFiles.ts'
import { ObjectUpload } from '../upload/objectUpload.ts'
import { UploadQueue } from '../upload/uploadQueue.ts'
import { encodeAvif, encodePreview } from './encodeFrames.ts'
import { WaveformFile } from './waveformFile.ts'

const STALL_MS = 60_000

export interface Extracted {
  /** Completed by the commit. */
  objects: FinishedObject[]
  warnings: Warning[]
}

type PipeReader = (stream: Readable) => Promise<void>

export class Extractor {
  /** Readers of the run that makes the outputs, in the order of its `extractPipes`. */
  readonly pipeReaders: readonly PipeReader[]
  readonly #attempt: Attempt
  readonly #plan: Plan
  readonly #extracts: ExtractsPlan
  readonly #uploads: UploadQueue
  readonly #waveform: WaveformFile | null
  /** Images that were read, by position of their element. */
  readonly #stills = new Map<number, number>()
  #previewFrames = 0
  #converting = 0
  #conversions = 0

  constructor(attempt: Attempt, plan: Plan, extracts: ExtractsPlan) {
    const { taskClient, limiter, controller } = attempt
    this.#attempt = attempt
    this.#plan = plan
    this.#extracts = extracts
    const { signal } = controller
    this.#uploads = new UploadQueue({ taskClient, limiter, signal, onFailure: (error) => controller.abort(error) })
    this.#waveform = extracts.waveform === null ? null : new WaveformFile(extracts.waveform, this.#scratch('peaks'))
    this.pipeReaders = this.#readersOf(withMainExtracts(plan))
  }

  /** True while a pipe waits for transfers, or for an image that is encoded. */
  get isBlocked(): boolean {
    return this.#uploads.isFull || this.#converting > 0
  }

  /** Frames of a job that makes no video: few of an indexed source are read by seeking to each. */
  async readFrames({ seekable, cpuSeconds }: { seekable: boolean; cpuSeconds: number | undefined }): Promise<void> {
    const { frames, stills, preview } = this.#extracts
    if (frames === null || !frames.separate) return
    const canSeek = seekable && frames.seekOriginSeconds !== null && frames.seekSeconds !== null
    const apart = canSeek ? frames.seekSeconds! * toNumber(frames.video.pictureRate) : Infinity
    const ranges = groupFrames([...stills.flatMap(distinctFrames), ...(preview?.frames ?? [])], apart)
    for (const [done, range] of ranges.entries()) {
      // A range of a source without an index is read from the beginning.
      await this.#readRange(range, seekable, cpuSeconds)
      this.#attempt.progress.onEncoderProgress({ fraction: (done + 1) / ranges.length, speed: null })
    }
  }

  /** Makes the remaining files. Resolves when all are stored. */
  async finish(): Promise<Extracted> {
    const { preview, waveform } = this.#extracts
    const objects: FinishedObject[] = []
    if (preview !== null) {
      if (this.#previewFrames === 0)
        throw new TaskError('output_incomplete', 'No frame for the animated preview could be read.')
      const made = this.#scratch(`preview.${preview.format}`)
      await encodePreview(this.#attempt, preview, this.#scratch('frames'), made)
      await rm(this.#scratch('frames'), { force: true })
      objects.push(await this.#store(made, preview, 'preview'))
    }
    if (waveform !== null && this.#waveform !== null) {
      const made = this.#scratch(`waveform.${waveform.format}`)
      await this.#waveform.finish(made)
      objects.push(await this.#store(made, waveform, 'waveform'))
    }
    const warnings = this.#missing()
    const stills = await this.#uploads.drain()
    const order = (path: string) =>
      this.#extracts.stills.findIndex(({ images }) => images.some((each) => each.path === path))
    const sorted = stills.toSorted((a, b) => order(a.path) - order(b.path) || (a.path < b.path ? -1 : 1))
    return { objects: [...sorted, ...objects], warnings }
  }

  /** The source may end before the time that it states. */
  #missing(): Warning[] {
    return this.#extracts.stills.flatMap(({ index, images }): Warning[] => {
      const read = this.#stills.get(index) ?? 0
      if (read === 0)
        throw new TaskError('output_incomplete', `No frame for stills[${index}] could be read.`, {
          field: `stills[${index}]`,
        })
      // Without a stated length, every_seconds asks for more than there can be.
      if (read === images.length || this.#plan.durationSeconds === null) return []
      return [
        {
          code: 'stills_left_out',
          field: `stills[${index}]`,
          message: `${images.length - read} of ${images.length} stills are left out: the video ends before their times.`,
        },
      ]
    })
  }

  async #readRange(range: FrameRange, seekable: boolean, cpuSeconds: number | undefined): Promise<void> {
    const { engine, loopback, settings, workspace, controller } = this.#attempt
    const { stills, preview } = this.#extracts
    const has = (frames: readonly number[]) => frames.some((frame) => frame >= range.from && frame <= range.to)
    const part = {
      stills: stills.filter((still) => has(distinctFrames(still))),
      preview: preview !== null && has(preview.frames) ? preview : null,
    }
    const plan = framesOnly(this.#plan, part, range)
    const readers = this.#readersOf(plan)
    const args = ffmpegArgs(plan, {
      input: { kind: 'source', url: loopback.url, flags: inputFlags(loopback.url), bursts: [], seekable, steady: null },
      files: NO_FILES,
      carrierClock: 'filter',
      outputs: readers.map((_reader, index) => `pipe:${FIRST_PIPE_FD + index}`),
      threads: settings.threads,
      cores: settings.machine.vcpus,
    })
    const result = await runFfmpeg(engine, args, {
      cwd: workspace.cwd,
      purpose: 'extract frames',
      signal: controller.signal,
      stallMs: STALL_MS,
      limits: { cpuSeconds: cpuSeconds ?? 0 },
      pipeReaders: readers,
      // What is before the first frame is read without any progress.
      bytesRead: () => loopback.bytesServed,
      isBlocked: () => this.isBlocked,
    })
    controller.signal.throwIfAborted()
    const integrity = loopback.integrity()
    if (!integrity.complete)
      throw integrity.error ?? new TaskError('source_incomplete', 'The source could not be read to its end.')
    if (result.ended === 'stalled')
      throw new TaskError('no_progress', 'Reading frames made no progress for too long and was stopped.')
    const failure = explainExit(result)
    if (failure !== null) throw new TaskError(failure.code, failure.message)
  }

  #readersOf(plan: Plan): PipeReader[] {
    return extractPipes(plan).map((pipe): PipeReader => {
      switch (pipe.kind) {
        case 'still':
          return (stream) => this.#readStills(stream, pipe.still)
        case 'preview':
          return (stream) => this.#readPreview(stream, pipe.preview)
        case 'waveform':
          return (stream) => this.#waveform!.read(stream)
      }
    })
  }

  async #readStills(stream: Readable, still: StillsPlan): Promise<void> {
    const splitter = imageSplitter(still.format === 'avif' ? 'png' : still.format)
    const frames = distinctFrames(still)
    let next = 0
    try {
      for await (const block of stream)
        for (const image of splitter.push(block as Buffer)) {
          const frame = frames[next++]
          if (frame === undefined)
            throw new EngineError('output_broken', `There are more images than frames for stills[${still.index}].`)
          const content = still.format === 'avif' ? await this.#avif(image, still.quality) : Buffer.from(image)
          for (const { path } of still.images.filter((each) => each.frame === frame)) {
            await this.#uploads.waitForCapacity()
            this.#uploads.enqueue({
              path,
              contentType: still.contentType,
              profile: null,
              content: inMemoryObject(content),
              commitRole: 'still',
            })
            this.#stills.set(still.index, (this.#stills.get(still.index) ?? 0) + 1)
          }
        }
      splitter.end()
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      // ffmpeg's exit explains the end better.
      if (error.code !== 'cut off') throw new EngineError('output_broken', error.message, error)
    }
  }

  async #avif(image: Uint8Array, quality: number): Promise<Buffer> {
    const number = ++this.#conversions
    const [from, to] = [this.#scratch(`still-${number}.png`), this.#scratch(`still-${number}.avif`)]
    this.#converting += 1
    try {
      await writeFile(from, image)
      await encodeAvif(this.#attempt, from, to, quality)
      return await readFile(to)
    } finally {
      this.#converting -= 1
      await Promise.all([from, to].map((path) => rm(path, { force: true })))
    }
  }

  async #readPreview(stream: Readable, { width, height, frames }: AnimatedPreviewPlan): Promise<void> {
    const frameBytes = width * height * 3
    const limit = frames.length * frameBytes
    let bytes = 0
    const file: FileHandle = await open(this.#scratch('frames'), 'a')
    try {
      for await (const block of stream) {
        bytes += (block as Buffer).length
        if (bytes > limit) throw new EngineError('output_broken', 'There are more frames than the preview has.')
        await file.appendFile(block as Buffer)
      }
    } finally {
      await file.close()
    }
    this.#previewFrames += Math.floor(bytes / frameBytes)
  }

  async #store(
    file: string,
    { path, contentType }: { path: string; contentType: string },
    role: 'preview' | 'waveform',
  ): Promise<FinishedObject> {
    const { taskClient, limiter, controller } = this.#attempt
    const { size } = await stat(file)
    const request = { path, content_type: contentType, expected_size: size }
    const upload = new ObjectUpload(
      file,
      request,
      { kind: 'appended' },
      {
        taskClient,
        limiter,
        signal: controller.signal,
        onFailure: (error) => controller.abort(error),
      },
    )
    const stored = await upload.finish()
    await rm(file, { force: true })
    return { path, content_type: contentType, profile: null, role, ...stored }
  }

  #scratch(name: string): string {
    return join(this.#attempt.workspace.out, `extract-${name}`)
  }
}
