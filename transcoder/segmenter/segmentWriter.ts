// In charge of: one stream from the encoder: passing its bytes through the cutter, and uploading each segment when it
// is complete.
// Not in charge of: cutting (cutters/), uploading (uploadQueue.ts), whether all streams together are complete
// (segmentCheck.ts).
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { TaskError } from '#contract/taskError.ts'
import type { CutEvent, Cutter, KeyFrameRange } from './cutters/cutter.ts'
import { FormatError } from '../formats/streamError.ts'
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
  contentType: string
  profile: number | null
  outbox: UploadQueue
  tar: { feed: TarUpload; stream: number } | null
  /** The number of segments of the video, once it has ended; null if this stream is that video. */
  videoSegments: Promise<number> | null
  /** A directory that only this stream uses, for segments under construction. */
  scratch: string
  onBytes: (bytes: number) => void
  /** Largest number of bytes of one segment; a larger one is out of control. */
  largestSegment: number
}

/**
 * Reads to the end. An error in the stream rejects at once. An error at the end of the stream is returned as `broken`:
 * ffmpeg's exit explains it better, and is known only later.
 */
export async function writeSegments(
  stream: Readable,
  takings: SegmentWriterOptions,
): Promise<{ taken: RecordedStream; broken: TaskError | null }> {
  const taker = new SegmentWriter(takings)
  try {
    for await (const chunk of stream) {
      takings.onBytes((chunk as Buffer).length)
      await taker.write(takings.cutter.push(chunk as Buffer))
    }
  } catch (error) {
    await taker.discard()
    throw toTaskError(error)
  }
  try {
    await taker.write(takings.cutter.end(await takings.videoSegments))
  } catch (error) {
    await taker.discard()
    return { taken: taker.taken, broken: requireTaskError(error) }
  }
  takings.tar?.feed.endStream(takings.tar.stream)
  return { taken: taker.taken, broken: null }
}

class SegmentWriter {
  readonly taken: RecordedStream = { init: null, segments: [] }
  readonly #takings: SegmentWriterOptions
  #spool: SegmentBuffer | null = null
  #bytes = 0
  #initial: TarMember[] = []

  constructor(takings: SegmentWriterOptions) {
    this.#takings = takings
  }

  async write(cuts: readonly CutEvent[]): Promise<void> {
    for (const cut of cuts) {
      if (cut.kind === 'init') await this.#writeInit(cut.bytes)
      else if (cut.kind === 'media') await this.#writeMedia(cut.bytes)
      else await this.#endSegment(cut)
    }
  }

  async discard(): Promise<void> {
    await this.#spool?.discard()
  }

  async #writeInit(bytes: Uint8Array): Promise<void> {
    const spool = new SegmentBuffer(join(this.#takings.scratch, 'init'))
    await spool.write(bytes)
    const payload = await spool.end()
    this.taken.init = { uri: this.#takings.initUri, bytes: payload.bytes, sha256: payload.sha256 }
    this.#initial = [this.#enqueue(this.#takings.initUri, payload)]
  }

  async #writeMedia(bytes: Uint8Array): Promise<void> {
    this.#spool ??= new SegmentBuffer(join(this.#takings.scratch, `${this.taken.segments.length}`))
    this.#bytes += bytes.length
    if (this.#bytes > this.#takings.largestSegment)
      throw new TaskError('output_too_large', 'A segment exceeded its maximum size.')
    await this.#spool.write(bytes)
  }

  async #endSegment(cut: Extract<CutEvent, { kind: 'end' }>): Promise<void> {
    const spool = this.#spool
    if (spool === null) throw new TaskError('internal', 'A segment without bytes was to be stored.')
    this.#spool = null
    this.#bytes = 0
    const payload = await spool.end()
    const { outbox, tar, segmentUri } = this.#takings
    const { start, duration, frames, keys } = cut
    const uri = segmentUri(this.taken.segments.length + 1, start)
    this.taken.segments.push({ uri, start, duration, frames, keys, bytes: payload.bytes, sha256: payload.sha256 })
    const member = this.#enqueue(uri, payload)
    tar?.feed.addSegment(tar.stream, [...this.#initial, member])
    this.#initial = []
    await outbox.waitForCapacity()
  }

  #enqueue(uri: string, payload: StoredBytes): TarMember {
    const { outbox, directory, tarDirectory, contentType, profile } = this.#takings
    const member = { path: join(tarDirectory, uri), payload }
    outbox.enqueue({ path: join(directory, uri), contentType, profile, payload })
    return member
  }
}

function requireTaskError(error: unknown): TaskError {
  const told = toTaskError(error)
  if (told instanceof TaskError) return told
  throw told
}

function toTaskError(error: unknown): unknown {
  if (!(error instanceof FormatError)) return error
  return new TaskError(error.code === 'cut off' ? 'output_incomplete' : 'encoder_failed', error.message, {
    cause: error,
  })
}
