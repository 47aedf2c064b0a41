// In charge of: the segmented output of one run: a reader for every stream of the plan, and the recorded segments
// afterwards.
// Not in charge of: one stream (segmentWriter.ts), running ffmpeg (pipeline/encode.ts), manifests (finishPackage.ts).
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type FinishedObject, type TaskDescription } from '#contract/task/protocol.ts'
import { attemptDirectory } from '#contract/job/paths/outputNames.ts'
import { MAIN_TASK, partTaskNumber } from '#contract/taskId.ts'
import type { Attempt } from '../attempt.ts'
import { TaskError } from '#contract/taskError.ts'
import { CueInjector } from '../formats/scte35/cueInjector.ts'
import { CaptionDecoder } from '../formats/cea/captionDecoder.ts'
import type { Cue } from '../formats/scte35/cueScan.ts'
import type { CutEvent, Cutter } from './cutters/cutter.ts'
import { RefragmentingCutter } from './cutters/refragmentingCutter.ts'
import { constantRateRange } from './cutters/constantRateRange.ts'
import { CmafVideoCutter } from './cutters/cmafVideoCutter.ts'
import { TICKS_PER_SECOND } from '../formats/mpegts/clock.ts'
import { SMOOTH_TIMESCALE } from '../formats/mp4/movieFragment.ts'
import { TsCutter } from './cutters/tsCutter.ts'
import { TailCutter } from './cutters/tailCutter.ts'
import { bufferOf } from '../plan/video/rangeBuffer.ts'
import { MeteredCutter, type MeteredStream } from './cutters/meteredCutter.ts'
import type { SegmentedStream } from './segmentedStream.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { SegmentForm } from '#contract/codecs.ts'
import { type PipePlan, plannedPipes } from '../plan/model/plannedPipes.ts'
import type { PackagingPlan, RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { EncodedRange, Plan } from '#contract/task/plan/plan.ts'
import { TS_ORIGIN_TICKS } from '../plan/forms.ts'
import { objectNames, tarRequest } from './objectNames.ts'
import { intermediateUploads, workDirectory } from '../upload/workObjects.ts'
import { UploadQueue } from '../upload/uploadQueue.ts'
import { readJpegs } from '../ffmpeg/jpegReader.ts'
import { enqueueSidecars, type SidecarFile } from './sidecarFiles.ts'
import { writeSegments } from './segmentWriter.ts'
import { TarUpload } from '../upload/tarUpload.ts'
import { readCaptions } from './captionReader.ts'
import { readSubtitles, type SubtitleText } from './subtitleReader.ts'
import {
  beforeRange,
  cadenceFor,
  FROM_THE_BEGINNING,
  leadingRendition,
  requireCompleteRange,
  requireCompleteSegments,
  type RecordedRendition,
} from './segmentCheck.ts'

/** A segment larger than this multiple of its nominal size is out of control. */
const SIZE_FACTOR = 8
const SIZE_EXTRA_BYTES = 64 * 1024 * 1024

interface About {
  cues: readonly Cue[]
  /** The time in the source at which the outputs begin. */
  startSeconds: number
  /** How much of the copied streams comes before that time. */
  secondsBefore: number
  /** The plan of the whole job; missing = this is it. */
  whole?: Plan
  /** Called, in place of an error, if the run does not have all of its frames. */
  onIncomplete?: (error: Error) => void
}

export class Segmenter {
  /** Readers of `pipe:` 3 and up, in the order of the plan's streams. */
  readonly pipeReaders: readonly ((stream: Readable) => Promise<void>)[]
  /** The source's captions so far. */
  captions: Pick<CaptionDecoder, 'end'>
  /** The source's text subtitles, in the order of the plan, once their streams have ended. */
  subtitles: SubtitleText[] = []
  /** JPEGs, once their streams have ended; null = they are incomplete. */
  sheets: Uint8Array[] | null = null
  posters: Uint8Array[] | null = null
  readonly #attempt: Attempt
  /** The plan of the whole job. */
  readonly #plan: Plan
  readonly #range: EncodedRange | null
  readonly #onIncomplete: ((error: Error) => void) | null
  readonly #captionDecoder = new CaptionDecoder()
  readonly #packaging: PackagingPlan
  readonly #uploads: UploadQueue
  readonly #tar: TarUpload | null
  readonly #attemptDirectory: string
  readonly #cues: readonly Cue[]
  readonly #startSeconds: number
  readonly secondsBefore: number
  readonly #recorded: (RecordedRendition | null)[]
  readonly #metered: MeteredStream[] = []
  readonly #videoSegments = Promise.withResolvers<number>()
  #error: TaskError | null = null
  #bytes = 0

  /** `plan`: of this run, if it makes only a part of the job. */
  constructor(attempt: Attempt, plan: Plan, task: Pick<TaskDescription, 'job_id' | 'attempt' | 'part'>, about: About) {
    const { cues, startSeconds, secondsBefore, whole = plan, onIncomplete = null } = about
    if (whole.packaging === null) throw new TaskError('internal', 'A plan of single files has no segments.')
    const { taskClient, limiter, controller } = attempt
    this.#attempt = attempt
    this.#plan = whole
    this.#range = plan.range ?? null
    this.#onIncomplete = onIncomplete
    this.captions = this.#captionDecoder
    this.#packaging = whole.packaging
    const number = task.part === undefined ? MAIN_TASK : partTaskNumber(task.part.index)
    this.#attemptDirectory =
      whole.packaging.isIntermediate === true
        ? workDirectory(number, task.attempt)
        : attemptDirectory(task.job_id, task.attempt)
    this.#cues = cues
    this.#startSeconds = startSeconds
    this.secondsBefore = secondsBefore
    const signal = controller.signal
    this.#uploads = new UploadQueue({
      ...(whole.packaging.isIntermediate === true ? intermediateUploads(taskClient) : { taskClient }),
      limiter,
      signal,
      onFailure: (error) => controller.abort(error),
    })
    const pipes = plannedPipes(plan)
    const renditions = pipes.filter(({ kind }) => kind === 'rendition')
    const request = tarRequest(plan)
    this.#tar =
      request === null
        ? null
        : new TarUpload({ taskClient, limiter, signal, uploads: this.#uploads, request, streams: renditions.length })
    this.#recorded = renditions.map(() => null)
    this.pipeReaders = pipes.map((stream) => this.#readerFor(stream, renditions.indexOf(stream)))
  }

  /** The name of the attempt's directory, which is below the directory of each track. */
  get attemptDirectory(): string {
    return this.#attemptDirectory
  }

  /** The text of a joined source, which is read by other processes. */
  takeText({ captions, subtitles }: Pick<Segmenter, 'captions' | 'subtitles'>): void {
    this.captions = captions
    this.subtitles = subtitles
  }

  /** Uploads sidecar files. */
  enqueueFiles(files: readonly SidecarFile[]): void {
    enqueueSidecars(this.#uploads, this.#packaging.directory, files)
  }

  /** Bytes received from the encoder. */
  get bytes(): number {
    return this.#bytes
  }

  /** True while the encoder waits for transfers. */
  get isBlocked(): boolean {
    return this.#uploads.isFull
  }

  /** Called after ffmpeg ended successfully. Throws output_incomplete. */
  requireComplete(source: MediaInfo, seconds = this.#plan.durationSeconds): void {
    if (this.#onIncomplete === null) return this.#requireComplete(source, seconds)
    try {
      this.#requireComplete(source, seconds)
    } catch (error) {
      if (!(error instanceof TaskError) || error.code !== 'output_incomplete') throw error
      this.#onIncomplete(error)
    }
  }

  #requireComplete(source: MediaInfo, durationSeconds: number | null): void {
    if (this.#error !== null) throw this.#error
    const all = this.renditions
    if (this.#range !== null) requireCompleteRange(this.#range.to, all, source, this.#startSeconds)
    else if (all.length > 0)
      requireCompleteSegments({ ...this.#plan, durationSeconds }, all, source, this.#startSeconds)
  }

  get renditions(): RecordedRendition[] {
    return this.#recorded.filter((each) => each !== null)
  }

  /** The renditions with their counts. */
  get streams(): SegmentedStream[] {
    return this.#recorded.flatMap((recorded, position) => {
      const metered = this.#metered[position]
      return recorded === null || metered === undefined ? [] : [{ recorded, metered }]
    })
  }

  get tar(): TarUpload | null {
    return this.#tar
  }

  /** Resolves when everything is stored. Returns the objects that the commit has to complete. */
  async finish(): Promise<FinishedObject[]> {
    return this.#uploads.drain()
  }

  async waitForTransfers(): Promise<void> {
    await this.#uploads.waitForTransfers()
  }

  /** Chooses the reader for each kind of stream. */
  #readerFor(stream: PipePlan, position: number): (stream: Readable) => Promise<void> {
    switch (stream.kind) {
      case 'rendition':
        return (readable) => this.#writeRendition(readable, stream, position)
      case 'captions':
        return (readable) =>
          readCaptions(readable, this.#captionDecoder, Math.round(this.secondsBefore * TICKS_PER_SECOND))
      case 'subtitles':
        return async (readable) => void (this.subtitles[stream.track] = await readSubtitles(readable))
      case 'thumbnails':
        return async (readable) => void (this.sheets = await readJpegs(readable))
      case 'poster':
        return async (readable) => void (this.posters = await readJpegs(readable))
    }
  }

  async #writeRendition(
    readable: Readable,
    { rendition: number, form }: Extract<PipePlan, { kind: 'rendition' }>,
    position: number,
  ): Promise<void> {
    const rendition = this.#packaging.renditions[number]!
    const isFirst = rendition === leadingRendition(this.#packaging.renditions)
    const names = objectNames(this.#packaging, rendition, form, this.#attemptDirectory)
    const scratch = join(this.#attempt.workspace.out, `segments-${position}`)
    const range = this.#range
    const before = range === null ? FROM_THE_BEGINNING : beforeRange(rendition, range.from)
    const { cutter, describe } = this.#cutterFor(rendition, form, range === null ? null : before.frames)
    try {
      await mkdir(scratch, { recursive: true })
      const buffer = range === null || rendition.video === null ? null : bufferOf(rendition.video)
      const metered = new MeteredCutter(cutter, form, buffer)
      const ended = constantRateRange(metered, { range, packaging: this.#packaging }, rendition.video)
      const { recorded, incompleteError } = await writeSegments(readable, {
        ...names,
        cutter: ended.cutter,
        profile: rendition.kind === 'video' ? rendition.profile : null,
        uploads: this.#uploads,
        tar: this.#tar === null ? null : { tarUpload: this.#tar, stream: position },
        videoSegments: rendition.kind === 'video' || isFirst ? null : () => this.#videoSegments.promise,
        segmentsBefore: before.segments,
        storesInit: before.segments === 0,
        scratch,
        onBytes: (bytes) => {
          this.#bytes += bytes
        },
        maxSegmentBytes: this.#maxSegmentBytes(rendition),
      })
      this.#error ??= incompleteError
      this.#recorded[position] = {
        rendition,
        form,
        directory: names.tarDirectory,
        recorded,
        before,
        ...describe(),
        overrun: ended.overrun(),
      }
      this.#metered[position] = metered.result()
      if (isFirst) this.#videoSegments.resolve(recorded.segments.length)
    } finally {
      // Audio streams wait for this number, also if the video failed.
      if (isFirst) this.#videoSegments.resolve(0)
    }
  }

  #cutterFor(
    rendition: RenditionPlan,
    form: SegmentForm,
    framesBefore: number | null,
  ): {
    cutter: Cutter
    describe: () => Pick<RecordedRendition, 'timescale' | 'codecs' | 'codecPrivateData' | 'audioEnds'>
  } {
    // Audio is cut at the boundaries of the first video rendition.
    const cadence = cadenceFor(rendition.kind === 'video' ? rendition : leadingRendition(this.#packaging.renditions)!)
    if (framesBefore !== null && form !== 'cmaf')
      throw new TaskError('internal', `A range of ${rendition.id} cannot have the form ${form}.`)
    if (form === 'ts') {
      const cutter = new TsCutter(cadence, rendition.kind, TS_ORIGIN_TICKS)
      return {
        cutter: rendition.kind === 'audio' ? new TailCutter(cutter) : this.#injectCues(cutter),
        describe: () => ({
          timescale: TICKS_PER_SECOND,
          codecs: cutter.codecs,
          codecPrivateData: '',
          audioEnds: cutter.audioEnds,
        }),
      }
    }
    const passesOn = form === 'cmaf' && rendition.kind === 'video'
    const cutter = passesOn ? new CmafVideoCutter(cadence, framesBefore) : new RefragmentingCutter(cadence, form)
    return {
      cutter,
      describe: () => ({
        timescale: form === 'smooth' ? SMOOTH_TIMESCALE : (cutter.track?.timescale ?? 1),
        codecs: cutter.track === null ? [] : [cutter.track.codec],
        codecPrivateData: cutter.track?.codecPrivateData ?? '',
        audioEnds: [],
      }),
    }
  }

  #injectCues(cutter: Cutter): Cutter {
    const { cues } = this.#plan
    if (cues === null) return cutter
    return new CueInjectingCutter(
      new CueInjector({ pid: cues.pid, cueStreamType: cues.streamType, rateKbps: null, cues: this.#cues }),
      cutter,
    )
  }

  #maxSegmentBytes({ video, audio }: RenditionPlan): number {
    const { num, den } = this.#packaging.segmentDuration
    const kbps = (video?.maxKbps ?? 0) + audio.reduce((sum, track) => sum + track.bitrateKbps, 0)
    return SIZE_EXTRA_BYTES + (kbps * 125 * num * SIZE_FACTOR) / den
  }
}

/** Cues are inserted before the stream is cut, so that segments contain them. */
class CueInjectingCutter implements Cutter {
  readonly #injector: CueInjector
  readonly #cutter: Cutter

  constructor(injector: CueInjector, cutter: Cutter) {
    this.#injector = injector
    this.#cutter = cutter
  }

  push(bytes: Uint8Array): CutEvent[] {
    return this.#cutter.push(this.#injector.push(bytes))
  }

  end(videoSegments: number | null): CutEvent[] {
    return [...this.#cutter.push(this.#injector.end()), ...this.#cutter.end(videoSegments)]
  }
}
