// In charge of: uploading one output in parts while ffmpeg still writes it: which parts are final, and in what order
// they are sent.
// Not in charge of: detecting growth (fileGrowth.ts), sending a part (multipartUpload.ts).
import { stat } from 'node:fs/promises'
import { MIN_PART_BYTES, type FinishedObject, type UploadReply, type UploadRequest } from '#contract/task/protocol.ts'
import { isMp4, isRewritten } from '../plan/forms.ts'
import type { PlannedFile } from '../plan/model/plannedFiles.ts'
import { TaskError } from '#contract/taskError.ts'
import { MultipartUpload, type MultipartUploadOptions } from './multipartUpload.ts'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

class FileDigest {
  readonly #path: string
  readonly #signal: AbortSignal
  readonly #hash = createHash('sha256')
  readonly #observe: ((block: Uint8Array) => void) | undefined
  #done = 0
  #target = 0
  #running: Promise<void> | null = null

  /** `observe` receives every byte once, in order. */
  constructor(path: string, signal: AbortSignal, observe?: (block: Uint8Array) => void) {
    this.#path = path
    this.#signal = signal
    this.#observe = observe
  }

  /** The first `bytes` bytes are final: hash them in the background. Errors are thrown by `end`. */
  advance(bytes: number): void {
    this.#target = Math.max(this.#target, bytes)
    if (this.#running !== null || this.#done >= this.#target) return
    this.#running = this.#follow()
    this.#running.catch(() => undefined)
  }

  /** Hex digest of the whole file of `size` bytes. */
  async finish(size: number): Promise<string> {
    // #follow clears #running when it has caught up, so this loop ends; after a failure it stays set and throws here.
    while (this.#done < size) {
      this.advance(size)
      await this.#running
    }
    return this.#hash.digest('hex')
  }

  async #follow(): Promise<void> {
    while (this.#done < this.#target) {
      const upTo = this.#target
      const slice = createReadStream(this.#path, {
        start: this.#done,
        end: upTo - 1,
        highWaterMark: 1024 * 1024,
        signal: this.#signal,
      })
      for await (const block of slice) {
        this.#hash.update(block as Buffer)
        this.#observe?.(block as Buffer)
        this.#done += (block as Buffer).length
      }
      if (this.#done < upTo) throw new Error('a file became shorter while it was hashed')
    }
    this.#running = null
  }
}

/**
 * When the bytes of a growing file are final. `appended`: once written (MPEG-TS, bare audio frames).
 * `reserved`: once written, except the first `headBytes`, which are rewritten at the end (mp4 with space reserved for
 * its header).
 * `rewritten`: only at the end (mp4 whose header is moved to the front; mp3, webm, flac, wav, whose header is completed).
 */
export type WriteMode = { kind: 'appended' } | { kind: 'reserved'; headBytes: number } | { kind: 'rewritten' }

/** The box header of `mdat`, whose size is filled in at the end, follows the reservation. */
const MDAT_HEADER_BYTES = 4096

export function writeModeOf(container: PlannedFile['container'], headerReserveBytes: number | null): WriteMode {
  if (isRewritten(container)) return { kind: 'rewritten' }
  // A transport stream, or bare audio frames: bytes that were written never change.
  if (!isMp4(container)) return { kind: 'appended' }
  if (headerReserveBytes === null) return { kind: 'rewritten' }
  return { kind: 'reserved', headBytes: headerReserveBytes + MDAT_HEADER_BYTES }
}

export type UploadedObject = Pick<FinishedObject, 'upload' | 'size' | 'sha256' | 'parts'>

export interface ObjectUploadOptions extends MultipartUploadOptions {
  /** Called with the first transfer that failed permanently, also during the encode, which is then pointless. */
  onFailure: (error: Error) => void
  /** Receives every byte of the file once, in order, before `finish` resolves. */
  onBytes?: ((block: Uint8Array) => void) | undefined
}

export class ObjectUpload {
  readonly #file: string
  readonly #request: UploadRequest
  readonly #writeMode: WriteMode
  readonly #options: ObjectUploadOptions
  readonly #digest: FileDigest
  readonly #parts: MultipartUpload
  readonly #sending = new Map<number, Promise<void>>()
  #opening: Promise<UploadReply> | null = null
  #reply: UploadReply | null = null
  #failure: Error | null = null
  #size = 0

  constructor(file: string, request: UploadRequest, writeMode: WriteMode, options: ObjectUploadOptions) {
    this.#file = file
    this.#request = request
    this.#writeMode = writeMode
    this.#options = options
    this.#parts = new MultipartUpload(request, options)
    this.#digest = new FileDigest(file, options.signal, options.onBytes)
  }

  /** The file has at least `size` bytes now: sends the parts that are final. */
  advance(size: number): void {
    if (size <= this.#size || this.#writeMode.kind === 'rewritten' || this.#failure !== null) return
    this.#size = size
    if (this.#writeMode.kind === 'appended') this.#digest.advance(size)
    if (this.#reply !== null) return this.#sendFinalParts(this.#reply.part_size)
    // No upload is opened for a file that may turn out to be a single small part.
    if (this.#opening !== null || size < this.#headBytes + MIN_PART_BYTES) return
    this.#open().then(
      ({ part_size: partSize }) => this.#sendFinalParts(partSize),
      () => undefined, // reported through onFailure, and again by finish()
    )
  }

  get #headBytes(): number {
    return this.#writeMode.kind === 'reserved' ? this.#writeMode.headBytes : 0
  }

  #sendFinalParts(partSize: number): void {
    for (let n = Math.ceil(this.#headBytes / partSize) + 1; n * partSize <= this.#size; n++)
      this.#sendPart(n, n * partSize)
  }

  /**
   * The file is complete and was checked: sends the remaining parts and returns the object once everything is stored.
   */
  async finish(): Promise<UploadedObject> {
    const { size } = await stat(this.#file)
    if (size === 0) throw new TaskError('output_incomplete', `Nothing was written for ${this.#request.path}.`)
    const { upload, part_size: partSize } = await this.#open()
    const count = Math.ceil(size / partSize)
    this.#parts.requirePartCount(count, { size, part_size: partSize })
    // From the end, so that the beginning of the file is sent last.
    for (let n = count; n >= 1; n--) this.#sendPart(n, Math.min(size, n * partSize))
    const [sha256] = await Promise.all([this.#digest.finish(size), ...this.#sending.values()])
    if (this.#failure !== null) throw this.#failure
    return { upload, size, sha256, parts: this.#parts.parts }
  }

  /** Waits for transfers in progress, whether they succeed or not. The run aborts them first. */
  async waitForTransfers(): Promise<void> {
    await Promise.allSettled([this.#opening, ...this.#sending.values()])
  }

  #open(): Promise<UploadReply> {
    this.#opening ??= this.#parts.open().then(
      (reply) => {
        this.#reply = reply
        return reply
      },
      (error: unknown) => {
        throw this.#fail(error)
      },
    )
    return this.#opening
  }

  #sendPart(n: number, end: number): void {
    if (this.#sending.has(n) || this.#reply === null || this.#failure !== null) return
    const slice = { path: this.#file, start: (n - 1) * this.#reply.part_size, end }
    this.#sending.set(
      n,
      this.#parts.send(n, slice).catch((error: unknown) => void this.#fail(error)),
    )
  }

  #fail(error: unknown): Error {
    if (this.#failure === null) {
      this.#failure = error instanceof Error ? error : new Error(String(error))
      this.#options.onFailure(this.#failure)
    }
    return this.#failure
  }
}
