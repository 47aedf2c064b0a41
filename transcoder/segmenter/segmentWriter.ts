// In charge of: one stream out of the encoder: bytes through its cutter into segments, each sent off as it is complete.
// Not in charge of: cutting (package/), sending (uploadQueue.ts), whether all streams together are whole (segmentCheck.ts).
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { TaskError } from '#contract/taskError.ts'
import type { Cut, Cutter, KeySpan } from './cutters/cutter.ts'
import { StreamError } from '../formats/streamError.ts'
import type { Outbox } from '../upload/uploadQueue.ts'
import { Payload, Spool } from '../upload/segmentBuffer.ts'
import type { Member, TarFeed } from '../upload/tarUpload.ts'

export interface TakenSegment {
  /** Below the rendition's directory. */
  uri: string
  start: number
  duration: number
  frames: number
  bytes: number
  sha256: string
  keys: KeySpan[]
}

export interface Taken {
  init: { uri: string; bytes: number; sha256: string } | null
  segments: TakenSegment[]
}

export interface Takings {
  cutter: Cutter
  /** Below the job's destination; `tarDirectory` is the same below the packaging's. */
  directory: string
  tarDirectory: string
  /** Names below `directory`. `start` in ticks of the stream. */
  initUri: string
  segmentUri: (number: number, start: number) => string
  contentType: string
  profile: number | null
  outbox: Outbox
  tar: { feed: TarFeed; stream: number } | null
  /** Segments that the video has, once it ended; null where this stream is that video. */
  videoSegments: Promise<number> | null
  /** A directory of this stream's own for segments under construction. */
  scratch: string
  onBytes: (bytes: number) => void
  /** Bytes of one segment beyond which it is a runaway. */
  largestSegment: number
}

/**
 * Reads to the end. What is wrong with the stream on the way rejects at once; what is wrong with its end is returned as
 * `broken`: ffmpeg's own ending explains it better, and is known only then.
 */
export async function take(stream: Readable, takings: Takings): Promise<{ taken: Taken; broken: TaskError | null }> {
  const taker = new Taker(takings)
  try {
    for await (const chunk of stream) {
      takings.onBytes((chunk as Buffer).length)
      await taker.follow(takings.cutter.push(chunk as Buffer))
    }
  } catch (error) {
    await taker.discard()
    throw explained(error)
  }
  try {
    await taker.follow(takings.cutter.end(await takings.videoSegments))
  } catch (error) {
    await taker.discard()
    return { taken: taker.taken, broken: asTaskError(error) }
  }
  takings.tar?.feed.ended(takings.tar.stream)
  return { taken: taker.taken, broken: null }
}

class Taker {
  readonly taken: Taken = { init: null, segments: [] }
  readonly #takings: Takings
  #spool: Spool | null = null
  #bytes = 0
  #initial: Member[] = []

  constructor(takings: Takings) {
    this.#takings = takings
  }

  async follow(cuts: readonly Cut[]): Promise<void> {
    for (const cut of cuts) {
      if (cut.kind === 'init') await this.#init(cut.bytes)
      else if (cut.kind === 'media') await this.#media(cut.bytes)
      else await this.#end(cut)
    }
  }

  async discard(): Promise<void> {
    await this.#spool?.discard()
  }

  async #init(bytes: Uint8Array): Promise<void> {
    const spool = new Spool(join(this.#takings.scratch, 'init'))
    await spool.write(bytes)
    const payload = await spool.end()
    this.taken.init = { uri: this.#takings.initUri, bytes: payload.bytes, sha256: payload.sha256 }
    this.#initial = [this.#post(this.#takings.initUri, payload)]
  }

  async #media(bytes: Uint8Array): Promise<void> {
    this.#spool ??= new Spool(join(this.#takings.scratch, `${this.taken.segments.length}`))
    this.#bytes += bytes.length
    if (this.#bytes > this.#takings.largestSegment)
      throw new TaskError('output_too_large', 'A segment exceeded its maximum size.')
    await this.#spool.write(bytes)
  }

  async #end(cut: Extract<Cut, { kind: 'end' }>): Promise<void> {
    const spool = this.#spool
    if (spool === null) throw new TaskError('internal', 'A segment without bytes was to be stored.')
    this.#spool = null
    this.#bytes = 0
    const payload = await spool.end()
    const { outbox, tar, segmentUri } = this.#takings
    const { start, duration, frames, keys } = cut
    const uri = segmentUri(this.taken.segments.length + 1, start)
    this.taken.segments.push({ uri, start, duration, frames, keys, bytes: payload.bytes, sha256: payload.sha256 })
    const member = this.#post(uri, payload)
    tar?.feed.offer(tar.stream, [...this.#initial, member])
    this.#initial = []
    await outbox.room()
  }

  #post(uri: string, payload: Payload): Member {
    const { outbox, directory, tarDirectory, contentType, profile } = this.#takings
    const member = { path: join(tarDirectory, uri), payload }
    outbox.post({ path: join(directory, uri), contentType, profile, payload })
    return member
  }
}

function asTaskError(error: unknown): TaskError {
  const told = explained(error)
  if (told instanceof TaskError) return told
  throw told
}

function explained(error: unknown): unknown {
  if (!(error instanceof StreamError)) return error
  return new TaskError(error.code === 'cut off' ? 'output_incomplete' : 'encoder_failed', error.message, {
    cause: error,
  })
}
