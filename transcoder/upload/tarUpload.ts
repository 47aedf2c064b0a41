// In charge of: uploading the tar: members in an order that is the same in every run, one part in memory, no copy on
// disk.
// Not in charge of: its format (manifests/tar/tarLayout.ts), the segments as separate objects (uploadQueue.ts).
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { FinishedObject, UploadRequest } from '#contract/task/protocol.ts'
import { TarLayout } from '../manifests/tar/tarLayout.ts'
import { MultipartUpload, type MultipartUploadOptions } from './multipartUpload.ts'
import type { UploadQueue } from './uploadQueue.ts'
import type { StoredBytes } from './segmentBuffer.ts'

export interface TarMember {
  /** Below the tar's root. */
  path: string
  content: StoredBytes
}

export interface TarUploadOptions extends MultipartUploadOptions {
  uploads: UploadQueue
  request: UploadRequest
  /** The number of streams that add members. */
  streams: number
}

/**
 * Members are ordered by segment number, then by stream. A member that waits for another stream's segment waits for the
 * encoder: it stays on disk and is not counted by the upload queue. A member that is next waits for the network and is
 * counted.
 */
export class TarUpload {
  readonly layout = new TarLayout()
  readonly #options: TarUploadOptions
  /** For each stream: the members of its segments in order, and whether it has ended. */
  readonly #queues: { segments: TarMember[][]; hasEnded: boolean }[]
  readonly #hash = createHash('sha256')
  readonly #parts: MultipartUpload
  #partCount = 0
  #currentStream = 0
  #writing: Promise<void> = Promise.resolve()
  #buffer: Uint8Array[] = []
  #buffered = 0

  constructor(options: TarUploadOptions) {
    this.#options = options
    this.#parts = new MultipartUpload(options.request, options)
    this.#queues = Array.from({ length: options.streams }, () => ({ segments: [], hasEnded: false }))
  }

  /** Adds the members of one more segment of a stream. */
  addSegment(stream: number, members: readonly TarMember[]): void {
    for (const { content } of members) content.retain()
    this.#queues[stream]!.segments.push([...members])
    this.#writeReady()
  }

  /** The stream has no more segments. */
  endStream(stream: number): void {
    this.#queues[stream]!.hasEnded = true
    this.#writeReady()
  }

  /** Writes `members` after all segments, then the end of the tar. Throws the error of a failed upload. */
  async finish(members: readonly TarMember[]): Promise<FinishedObject> {
    for (const member of members) {
      member.content.retain()
      this.#write(member)
    }
    await this.#writing
    await this.#appendBytes(this.layout.end())
    await this.#sendPart(this.#buffered)
    const { upload } = await this.#parts.open()
    const { path, content_type: type } = this.#options.request
    const sha256 = this.#hash.digest('hex')
    const size = this.layout.bytes
    return { path, upload, size, sha256, content_type: type, parts: this.#parts.parts, profile: null, role: 'tar' }
  }

  /** Writes all members that are next. */
  #writeReady(): void {
    for (;;) {
      const queue = this.#queues[this.#currentStream]!
      const members = queue.segments.shift()
      if (members === undefined && !queue.hasEnded) return
      if (members === undefined && this.#queues.every(({ segments, hasEnded }) => hasEnded && segments.length === 0))
        return
      for (const member of members ?? []) this.#write(member)
      this.#currentStream = (this.#currentStream + 1) % this.#queues.length
    }
  }

  #write(member: TarMember): void {
    this.#writing = this.#writeAfter(this.#writing, member)
    this.#options.uploads.track(this.#writing)
  }

  async #writeAfter(before: Promise<void>, { path, content }: TarMember): Promise<void> {
    await before
    await this.#appendBytes(this.layout.header(path, content.bytes))
    if (!('path' in content.body)) await this.#appendBytes(content.body)
    else for await (const block of createReadStream(content.body.path)) await this.#appendBytes(block as Uint8Array)
    await this.#appendBytes(this.layout.padding(content.bytes))
    await content.release()
  }

  async #appendBytes(bytes: Uint8Array): Promise<void> {
    const { part_size: partSize } = await this.#parts.open()
    for (let at = 0; at < bytes.length;) {
      const block = bytes.subarray(at, at + partSize - this.#buffered)
      at += block.length
      this.#hash.update(block)
      this.#buffer.push(block)
      this.#buffered += block.length
      if (this.#buffered === partSize) await this.#sendPart(partSize)
    }
  }

  async #sendPart(bytes: number): Promise<void> {
    if (bytes === 0) return
    this.#partCount += 1
    this.#parts.requirePartCount(this.#partCount, { size: this.layout.bytes })
    const body = Buffer.concat(this.#buffer)
    this.#buffer = []
    this.#buffered = 0
    await this.#parts.send(this.#partCount, body)
  }
}
