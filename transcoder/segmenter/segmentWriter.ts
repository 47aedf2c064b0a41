// In charge of: one stream from the encoder: passing its bytes through the cutter, and uploading each segment when it
// is complete.
// Not in charge of: cutting (cutters/), uploading (uploadQueue.ts), whether all streams together are complete
// (segmentCheck.ts).
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { TaskError } from '#contract/taskError.ts'
import { MAX_RENDITION_SEGMENTS, tooManySegments } from '../plan/segmentCount.ts'
import type { CutEvent, Cutter, KeyFrameRange } from './cutters/cutter.ts'
import { FormatError } from '../formats/formatError.ts'
import type { UploadQueue } from '../upload/uploadQueue.ts'
import { StoredBytes, SegmentBuffer } from '../upload/segmentBuffer.ts'
import type { TarMember, TarUpload } from '../upload/tarUpload.ts'

export interface RecordedSegment {
  /** Below the rendition's directory. */
  uri: string
  start: number
  duration: number
  frames: number
  bytes: number
  sha256: string
  keys: KeyFrameRange[]
}

export interface RecordedStream {
  init: { uri: string; bytes: number; sha256: string } | null
  segments: RecordedSegment[]
}

export interface SegmentWriterOptions {
  cutter: Cutter
  /** Below the job's destination; `tarDirectory` is the same below the packaging directory. */
  directory: string
  tarDirectory: string
  /** Names below `directory`. `start` in ticks of the stream. */
  initUri: string
  segmentUri: (number: number, start: number) => string
  /** Segments of the output before the first one of this stream. */
  segmentsBefore: number
  /** False: another part of the job stores the same init segment. */
  storesInit: boolean
  contentType: string
  profile: number | null
  uploads: UploadQueue
  tar: { tarUpload: TarUpload; stream: number } | null
  /** The number of segments of the video, once it has ended; null if this stream is that video. */
  videoSegments: (() => Promise<number>) | null
  /** A directory that only this stream uses, for segments under construction. */
  scratch: string
  onBytes: (bytes: number) => void
  /** Largest number of bytes of one segment; a larger one is out of control. */
  maxSegmentBytes: number
}

/**
 * Reads to the end. An error in the stream rejects at once. An error at the end of the stream is returned as
 * `incompleteError`: ffmpeg's exit explains it better, and is known only later.
 */
export async function writeSegments(
  stream: Readable,
  options: SegmentWriterOptions,
): Promise<{ recorded: RecordedStream; incompleteError: TaskError | null }> {
  const writer = new SegmentWriter(options)
  try {
    for await (const block of stream) {
      options.onBytes((block as Buffer).length)
      await writer.write(options.cutter.push(block as Buffer))
    }
  } catch (error) {
    await writer.discard()
    throw toTaskError(error)
  }
  try {
    await writer.write(options.cutter.end((await options.videoSegments?.()) ?? null))
  } catch (error) {
    await writer.discard()
    return { recorded: writer.recorded, incompleteError: requireTaskError(error) }
  }
  options.tar?.tarUpload.endStream(options.tar.stream)
  return { recorded: writer.recorded, incompleteError: null }
}

class SegmentWriter {
  readonly recorded: RecordedStream = { init: null, segments: [] }
  readonly #options: SegmentWriterOptions
  #buffer: SegmentBuffer | null = null
  #bytes = 0
  #pendingInit: TarMember[] = []

  constructor(options: SegmentWriterOptions) {
    this.#options = options
  }

  async write(cuts: readonly CutEvent[]): Promise<void> {
    for (const cut of cuts) {
      if (cut.kind === 'init') await this.#writeInit(cut.bytes)
      else if (cut.kind === 'media') await this.#writeMedia(cut.bytes)
      else await this.#endSegment(cut)
    }
  }

  async discard(): Promise<void> {
    await this.#buffer?.discard()
  }

  async #writeInit(bytes: Uint8Array): Promise<void> {
    const buffer = new SegmentBuffer(join(this.#options.scratch, 'init'))
    await buffer.write(bytes)
    const content = await buffer.finish()
    this.recorded.init = { uri: this.#options.initUri, bytes: content.bytes, sha256: content.sha256 }
    if (this.#options.storesInit) this.#pendingInit = [this.#enqueue(this.#options.initUri, content)]
  }

  async #writeMedia(bytes: Uint8Array): Promise<void> {
    this.#buffer ??= new SegmentBuffer(join(this.#options.scratch, `${this.recorded.segments.length}`))
    this.#bytes += bytes.length
    if (this.#bytes > this.#options.maxSegmentBytes)
      throw new TaskError('output_too_large', 'A segment exceeded its maximum size.')
    await this.#buffer.write(bytes)
  }

  async #endSegment(cut: Extract<CutEvent, { kind: 'end' }>): Promise<void> {
    const buffer = this.#buffer
    if (this.recorded.segments.length >= MAX_RENDITION_SEGMENTS) throw tooManySegments(MAX_RENDITION_SEGMENTS + 1)
    if (buffer === null) throw new TaskError('internal', 'A segment is empty.')
    this.#buffer = null
    this.#bytes = 0
    const content = await buffer.finish()
    const { uploads, tar, segmentUri, segmentsBefore } = this.#options
    const { start, duration, frames, keys } = cut
    const uri = segmentUri(segmentsBefore + this.recorded.segments.length + 1, start)
    this.recorded.segments.push({ uri, start, duration, frames, keys, bytes: content.bytes, sha256: content.sha256 })
    const member = this.#enqueue(uri, content)
    tar?.tarUpload.addSegment(tar.stream, [...this.#pendingInit, member])
    this.#pendingInit = []
    await uploads.waitForCapacity()
  }

  #enqueue(uri: string, content: StoredBytes): TarMember {
    const { uploads, directory, tarDirectory, contentType, profile } = this.#options
    const member = { path: join(tarDirectory, uri), content }
    uploads.enqueue({ path: join(directory, uri), contentType, profile, content })
    return member
  }
}

function requireTaskError(error: unknown): TaskError {
  const converted = toTaskError(error)
  if (converted instanceof TaskError) return converted
  throw converted
}

function toTaskError(error: unknown): unknown {
  if (!(error instanceof FormatError)) return error
  return new TaskError(error.code === 'cut off' ? 'output_incomplete' : 'encoder_failed', error.message, {
    cause: error,
  })
}
