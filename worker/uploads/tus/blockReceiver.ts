// In charge of: the body of one PATCH: stored in parts as it arrives, with at most one part in memory; and the result
// if it is truncated, too long, or does not match its checksum.
// Not in charge of: which request may write, and when (resumableUpload.ts).
import { RequestError } from '../../http/requestError.ts'
import type { Checksum } from './tusHeaders.ts'
import type { UploadedPart, UploadStore } from './uploadStore.ts'
import { toHex } from '../../util/encoding.ts'

export interface UploadBlock {
  body: ReadableStream<Uint8Array>
  /** Content-Length; null if the request has none. */
  length: number | null
  checksum: Checksum | null
}

/**
 * Bytes without a checksum are stored as they arrive, and stay stored if the body is truncated. A block with a checksum
 * is stored as a whole or not at all: its parts are uploaded, and recorded after the checksum was verified.
 */
export class BlockReceiver {
  readonly #store: UploadStore
  readonly #block: UploadBlock
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #buffer: Uint8Array
  readonly #length: number
  readonly #hash: InstanceType<typeof crypto.DigestStream> | null
  readonly #hashing: WritableStreamDefaultWriter<ArrayBuffer | ArrayBufferView> | null
  #filled: number
  /** Bytes at the start of the buffer that are in SQLite already. */
  #savedTailBytes: number
  /** Number of the next part. */
  #nextPart: number
  #offset: number
  #unverifiedParts: UploadedPart[] = []
  #stopped = false
  /** Since when it waits for bytes; null while it processes some. */
  waitingSince: number | null = null

  constructor(store: UploadStore, block: UploadBlock, record: { offset: number; length: number }) {
    const partBytes = store.partSize()
    this.#store = store
    this.#block = block
    this.#reader = block.body.getReader()
    this.#length = record.length
    this.#offset = record.offset
    this.#nextPart = Math.floor(record.offset / partBytes) + 1
    this.#buffer = new Uint8Array(Math.min(partBytes, record.length))
    this.#filled = this.#savedTailBytes = store.loadTail(this.#buffer)
    if (this.#filled !== record.offset % partBytes) throw new Error('the stored tail does not fit the offset')
    this.#hash = block.checksum ? new crypto.DigestStream(block.checksum.algorithm) : null
    this.#hashing = this.#hash?.getWriter() ?? null
  }

  /** Ends it as if the connection had been closed. */
  abort(): void {
    this.#stopped = true
    void this.#reader.cancel('stopped').catch(() => undefined)
  }

  /** @throws RequestError invalid_request for a truncated body, too_large, checksum_mismatch */
  async receive(): Promise<void> {
    const from = this.#offset
    const whole = await this.#read()
    const announced = this.#block.length
    const complete = whole && !this.#stopped && (announced === null || this.#offset - from === announced)
    if (this.#hash) {
      if (!complete) {
        // Otherwise the digest's promise would be an unhandled rejection.
        await this.#hashing?.close()
        throw truncatedBlock('None of it was kept, because its checksum could not be verified.')
      }
      await this.#hashing?.close()
      if (toHex(await this.#hash.digest) !== this.#block.checksum?.digest) {
        throw new RequestError('checksum_mismatch', 'The chunk does not match its checksum. None of it was kept.')
      }
    }
    const isPart = this.#filled === this.#buffer.length || this.#offset === this.#length
    if (isPart && this.#filled > 0) await this.#uploadPart()
    this.#store.recordParts(
      this.#unverifiedParts,
      this.#offset,
      this.#buffer.subarray(0, this.#filled),
      this.#savedTailBytes,
    )
    if (!complete)
      throw truncatedBlock(
        'The bytes received before that are kept: request the offset with HEAD and continue from there.',
      )
  }

  /** → false for a truncated body. */
  async #read(): Promise<boolean> {
    for (;;) {
      this.waitingSince = Date.now()
      const piece = await this.#reader.read().catch(() => null)
      this.waitingSince = null
      if (!piece || this.#stopped) return false
      if (piece.done) return true
      if (this.#offset + piece.value.length > this.#length) {
        await this.#reader.cancel().catch(() => undefined)
        await this.#hashing?.close()
        throw new RequestError('too_large', `The body goes beyond the ${this.#length} bytes of the upload.`)
      }
      await this.#hashing?.write(piece.value)
      for (let at = 0; at < piece.value.length;) {
        if (this.#filled === this.#buffer.length) await this.#uploadPart()
        const count = Math.min(this.#buffer.length - this.#filled, piece.value.length - at)
        this.#buffer.set(piece.value.subarray(at, at + count), this.#filled)
        this.#filled += count
        this.#offset += count
        at += count
      }
    }
  }

  async #uploadPart(): Promise<void> {
    const part = await this.#store.uploadPart(this.#nextPart, this.#buffer.subarray(0, this.#filled))
    this.#nextPart++
    this.#filled = 0
    this.#savedTailBytes = 0
    this.#unverifiedParts.push(part)
    if (this.#hash) return
    this.#store.recordParts(this.#unverifiedParts, this.#offset, this.#buffer.subarray(0, 0), 0)
    this.#unverifiedParts = []
  }
}

function truncatedBlock(what: string): RequestError {
  return new RequestError('invalid_request', `The body ended before it was complete. ${what}`)
}
