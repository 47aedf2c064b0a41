// In charge of: the segments of a divided job that one attempt copied, with what its rest made beside them.
// Not in charge of: segments that the parts stored themselves (assembleParts.ts).
import type { FinishedObject } from '#contract/task/protocol.ts'
import type { Segmenter } from '../segmenter/segmenter.ts'
import type { RecordedRendition } from '../segmenter/segmentCheck.ts'
import type { SegmentedStream } from '../segmenter/segmentedStream.ts'
import type { SidecarFile, StoredPicture } from '../segmenter/sidecarFiles.ts'
import type { StoredSegments } from '../segmenter/storedSegments.ts'
import type { SubtitleText } from '../segmenter/subtitleReader.ts'
import type { RestRecord } from './partRecord.ts'

export class CopiedSegments implements StoredSegments {
  readonly #segmenter: Segmenter
  readonly #rest: RestRecord

  constructor(segmenter: Segmenter, rest: RestRecord) {
    this.#segmenter = segmenter
    this.#rest = rest
  }

  get attemptDirectory(): string {
    return this.#segmenter.attemptDirectory
  }

  get renditions(): RecordedRendition[] {
    return this.#segmenter.renditions
  }

  get streams(): SegmentedStream[] {
    return this.#segmenter.streams
  }

  get tar(): StoredSegments['tar'] {
    return this.#segmenter.tar
  }

  get secondsBefore(): number {
    return this.#rest.secondsBefore
  }

  get captions(): StoredSegments['captions'] {
    // Decoded for the duration of this video already.
    return { end: () => this.#rest.captions }
  }

  get subtitles(): readonly SubtitleText[] {
    return this.#rest.subtitles
  }

  get sheets(): readonly StoredPicture[] | null {
    return this.#rest.pictures?.sheets ?? null
  }

  get posters(): readonly StoredPicture[] | null {
    const { pictures } = this.#rest
    return pictures === null ? null : [pictures.poster]
  }

  enqueueFiles(files: readonly SidecarFile[]): void {
    this.#segmenter.enqueueFiles(files)
  }

  finish(): Promise<FinishedObject[]> {
    return this.#segmenter.finish()
  }
}
