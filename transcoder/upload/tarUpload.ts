// In charge of: the tar on its way to the store: members in an order that is the same in every run, one part in memory, no copy on disk.
// Not in charge of: its format (manifests/tar/tarLayout.ts), the segments as objects of their own (uploadQueue.ts).
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { MAX_PARTS, type FinishedObject, type UploadReply, type UploadRequest } from '#contract/task/protocol.ts'
import type { Door } from '../taskApi/taskClient.ts'
import { TaskError } from '#contract/taskError.ts'
import { TarLayout } from '../manifests/tar/tarLayout.ts'
import type { Lanes } from './transferLimiter.ts'
import type { Outbox } from './uploadQueue.ts'
import type { Payload } from './segmentBuffer.ts'

export interface Member {
  /** Below the tar's root. */
  path: string
  payload: Payload
}

export interface TarOptions {
  door: Pick<Door, 'openUpload' | 'part'>
  lanes: Lanes
  signal: AbortSignal
  outbox: Outbox
  request: UploadRequest
  /** Streams that give members. */
  streams: number
}

/**
 * Members come in the order of segments, and within one of streams. What has to wait for another stream's segment waits on
 * the disk and is not counted by the outbox: it waits for the encoder. What has its turn waits for the network, and is.
 */
export class TarFeed {
  readonly layout = new TarLayout()
  readonly #options: TarOptions
  /** Of each stream: the members of its segments in order, and whether there will be more. */
  readonly #queues: { turns: Member[][]; ended: boolean }[]
  readonly #hash = createHash('sha256')
  readonly #parts: FinishedObject['parts'] = []
  #next = 0
  #writing: Promise<void> = Promise.resolve()
  #opening: Promise<UploadReply> | null = null
  #buffer: Uint8Array[] = []
  #buffered = 0

  constructor(options: TarOptions) {
    this.#options = options
    this.#queues = Array.from({ length: options.streams }, () => ({ turns: [], ended: false }))
  }

  /** The members of one more segment of a stream. */
  offer(stream: number, members: readonly Member[]): void {
    for (const { payload } of members) payload.hold()
    this.#queues[stream]!.turns.push([...members])
    this.#turn()
  }

  /** A stream has no more segments. */
  ended(stream: number): void {
    this.#queues[stream]!.ended = true
    this.#turn()
  }

  /** Behind all segments: `members`, then the end. Throws what failed. */
  async end(members: readonly Member[]): Promise<FinishedObject> {
    for (const member of members) {
      member.payload.hold()
      this.#write(member)
    }
    await this.#writing
    await this.#push(this.layout.end())
    await this.#ship(this.#buffered)
    const { upload } = await this.#open()
    const { path, content_type: type } = this.#options.request
    const sha256 = this.#hash.digest('hex')
    const size = this.layout.bytes
    return { path, upload, size, sha256, content_type: type, parts: this.#parts, profile: null, role: 'tar' }
  }

  /** Writes whatever has its turn now. */
  #turn(): void {
    for (;;) {
      const queue = this.#queues[this.#next]!
      const members = queue.turns.shift()
      if (members === undefined && !queue.ended) return
      if (members === undefined && this.#queues.every(({ turns, ended }) => ended && turns.length === 0)) return
      for (const member of members ?? []) this.#write(member)
      this.#next = (this.#next + 1) % this.#queues.length
    }
  }

  #write(member: Member): void {
    this.#writing = this.#behind(this.#writing, member)
    this.#options.outbox.during(this.#writing)
  }

  async #behind(before: Promise<void>, { path, payload }: Member): Promise<void> {
    await before
    await this.#push(this.layout.header(path, payload.bytes))
    if (!('path' in payload.body)) await this.#push(payload.body)
    else for await (const chunk of createReadStream(payload.body.path)) await this.#push(chunk as Uint8Array)
    await this.#push(this.layout.padding(payload.bytes))
    await payload.release()
  }

  #open(): Promise<UploadReply> {
    this.#opening ??= this.#options.door.openUpload(this.#options.request, this.#options.signal)
    return this.#opening
  }

  async #push(bytes: Uint8Array): Promise<void> {
    const { part_size: partSize } = await this.#open()
    for (let at = 0; at < bytes.length;) {
      const piece = bytes.subarray(at, at + partSize - this.#buffered)
      at += piece.length
      this.#hash.update(piece)
      this.#buffer.push(piece)
      this.#buffered += piece.length
      if (this.#buffered === partSize) await this.#ship(partSize)
    }
  }

  async #ship(bytes: number): Promise<void> {
    if (bytes === 0) return
    const { door, lanes, signal, request } = this.#options
    const n = this.#parts.length + 1
    if (n > MAX_PARTS)
      throw new TaskError('output_too_large', `${request.path} needs more than ${MAX_PARTS} parts.`, {
        details: { size: this.layout.bytes },
      })
    const body = Buffer.concat(this.#buffer)
    this.#buffer = []
    this.#buffered = 0
    const { upload } = await this.#open()
    const { etag } = await lanes.run(bytes, signal, () => door.part(upload, n, body, signal))
    this.#parts.push({ n, etag })
  }
}
