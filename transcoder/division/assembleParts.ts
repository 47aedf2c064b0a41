// In charge of: putting a divided job together from the records of its parts, as if one run had made it.
// Not in charge of: joining the chunks of a stream (joinChunks.ts), manifests (segmenter/finishPackage.ts).
import type { Warning } from '#contract/errors.ts'
import { mergeWarnings } from '#contract/job/findings.ts'
import { attemptDirectory } from '#contract/job/paths/outputNames.ts'
import type { FinishedObject, TaskDescription } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import { joinDamage, type DamageSummary } from '../analysis/damage/damageReport.ts'
import type { Attempt } from '../attempt.ts'
import type { ProbedRendition } from '../outputAnalysis/presentationAnalysis.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { RecordedRendition } from '../segmenter/segmentCheck.ts'
import type { SegmentedStream } from '../segmenter/segmentedStream.ts'
import { enqueueSidecars, type SidecarFile, type StoredPicture } from '../segmenter/sidecarFiles.ts'
import type { StoredSegments } from '../segmenter/storedSegments.ts'
import type { SubtitleText } from '../segmenter/subtitleReader.ts'
import { UploadQueue } from '../upload/uploadQueue.ts'
import { joinChunks } from './joinChunks.ts'
import { joinWarnings } from './joinedBuffer.ts'
import type { ChunkRecord, PartRecord, RestRecord } from './partRecord.ts'

/** Where the files are stored that are made of all parts together: WebVTT. */
interface Assembly {
  attempt: Pick<Attempt, 'taskClient' | 'limiter' | 'controller'>
  task: Pick<TaskDescription, 'job_id' | 'attempt'>
}

/** `records`: of all parts, in any order. Throws if one is missing, or as `joinChunks` if they do not fit together. */
export function assembleParts(
  plan: Plan,
  records: readonly PartRecord[],
  { attempt, task }: Assembly,
): AssembledSegments {
  const { chunks, rest } = sortParts(plan, records)
  const { taskClient, limiter, controller } = attempt
  const uploads = new UploadQueue({
    taskClient,
    limiter,
    signal: controller.signal,
    onFailure: (error) => controller.abort(error),
  })
  const directory = plan.packaging?.directory ?? ''
  return new AssembledSegments({
    chunks,
    rest,
    streams: joinChunks(plan, chunks, rest),
    joinWarnings: joinWarnings(plan, chunks),
    probed: probedRenditions(plan, [...chunks, rest]),
    attemptDirectory: attemptDirectory(task.job_id, task.attempt),
    enqueue: (files) => enqueueSidecars(uploads, directory, files),
    drain: () => uploads.drain(),
  })
}

/** What a divided job made. */
interface Parts {
  chunks: readonly ChunkRecord[]
  rest: RestRecord
  streams: SegmentedStream[]
  joinWarnings: readonly Warning[]
  probed: ReadonlyMap<string, ProbedRendition>
  attemptDirectory: string
  enqueue: (files: readonly SidecarFile[]) => void
  drain: () => Promise<FinishedObject[]>
}

export class AssembledSegments implements StoredSegments {
  readonly tar = null
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get attemptDirectory(): string {
    return this.#parts.attemptDirectory
  }

  get streams(): SegmentedStream[] {
    return this.#parts.streams
  }

  get renditions(): RecordedRendition[] {
    return this.#parts.streams.map(({ recorded }) => recorded)
  }

  /** What ffprobe reports, by the id of the rendition. */
  get probed(): ReadonlyMap<string, ProbedRendition> {
    return this.#parts.probed
  }

  get secondsBefore(): number {
    return this.#parts.rest.secondsBefore
  }

  get captions(): StoredSegments['captions'] {
    // Decoded for the duration of this video already.
    return { end: () => this.#parts.rest.captions }
  }

  get subtitles(): readonly SubtitleText[] {
    return this.#parts.rest.subtitles
  }

  get sheets(): readonly StoredPicture[] | null {
    return this.#parts.rest.pictures?.sheets ?? null
  }

  get posters(): readonly StoredPicture[] | null {
    const { pictures } = this.#parts.rest
    return pictures === null ? null : [pictures.poster]
  }

  /** What `usageReport` reads of the audio files. */
  get audioFiles(): { durationSeconds: number | null; video: null }[] {
    return this.#parts.rest.audioFileSeconds.map((durationSeconds) => ({ durationSeconds, video: null }))
  }

  /** Size of the source; null = not known. */
  get sourceBytes(): number | null {
    return this.#parts.rest.sourceBytes
  }

  /** Found in the source by all parts. */
  get damage(): DamageSummary {
    return joinDamage(this.#records.map(({ damage }) => damage))
  }

  /** Warnings of all parts. The warnings of the plan and about damage are not among them. */
  get warnings(): Warning[] {
    return mergeWarnings([], [...this.#parts.joinWarnings, ...this.#records.flatMap(({ warnings }) => warnings)])
  }

  enqueueFiles(files: readonly SidecarFile[]): void {
    this.#parts.enqueue(files)
  }

  async finish(): Promise<FinishedObject[]> {
    const own = await this.#parts.drain()
    return [...this.#records.flatMap(({ objects }) => objects), ...own]
  }

  get #records(): readonly PartRecord[] {
    return [...this.#parts.chunks, this.#parts.rest]
  }
}

/** Throws if a record is missing. */
export function sortParts(plan: Plan, records: readonly PartRecord[]): { chunks: ChunkRecord[]; rest: RestRecord } {
  const expected = plan.division?.chunks.length ?? 0
  const chunks = records.filter((record) => record.kind === 'chunk').toSorted((a, b) => a.chunk - b.chunk)
  const [rest, ...more] = records.filter((record) => record.kind === 'rest')
  if (
    rest === undefined ||
    more.length > 0 ||
    chunks.length !== expected ||
    chunks.some(({ chunk }, index) => chunk !== index)
  )
    throw new TaskError('internal', `The job has ${expected} chunks, and records of ${chunks.length}.`)
  return { chunks, rest }
}

/** The first chunk states what a video is: all have the same init segment. */
function probedRenditions({ packaging }: Plan, records: readonly PartRecord[]): Map<string, ProbedRendition> {
  const probed = new Map<string, ProbedRendition>()
  for (const { streams } of records)
    for (const stream of streams) {
      const id = packaging?.renditions[stream.rendition]?.id
      if (id !== undefined && stream.probed !== null && !probed.has(id)) probed.set(id, stream.probed)
    }
  return probed
}
