// In charge of: streaming an uploaded file into the bucket, from a raw body or from a form. At most one part of a
// multipart upload is in memory.
// Not in charge of: the upload's row in D1, limits that can be checked by headers (both uploadRoutes.ts).
import { RequestError } from '../http/requestError.ts'
import { StoreError } from '../storage/objectStore.ts'
import { r2Sink } from '../storage/r2/r2Store.ts'
import { parseMultipart } from './multipartForm.ts'

/** R2 requires parts of equal size, at least 5 MiB. */
const PART_BYTES = 8 * 1024 * 1024

export interface ReceivedFile {
  size: number
  etag: string
  contentType: string
  /** File name in the form, if there was one. */
  name: string | null
}

function truncatedBody(): RequestError {
  return new RequestError('invalid_request', 'The body ended before it was complete.')
}

export async function receiveRaw(
  bucket: R2Bucket,
  key: string,
  body: ReadableStream<Uint8Array>,
  length: number,
  contentType: string,
): Promise<ReceivedFile> {
  try {
    const { etag } = await r2Sink(bucket, '').put(key, body, length, contentType)
    return { size: length, etag, contentType, name: null }
  } catch (error) {
    throw error instanceof StoreError && error.code === 'body_broken' ? truncatedBody() : error
  }
}

/** The file of the form. A second file is refused; fields are ignored. */
export async function receiveForm(
  bucket: R2Bucket,
  key: string,
  body: ReadableStream<Uint8Array>,
  contentType: string,
): Promise<ReceivedFile> {
  const form = parseMultipart(contentType)
  let parts: MultipartWriter | null = null
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw truncatedBody()
      })
      const blocks = form.push(done ? null : value)
      const file = form.file()
      if (file) parts ??= new MultipartWriter(bucket, key, file.contentType)
      for (const block of blocks) await parts?.write(block)
      if (done) break
    }
    const file = form.file()
    if (!parts || !file) {
      throw new RequestError('invalid_request', 'There is no file in the form. Send one part with a file name.')
    }
    const { size, etag } = await parts.finish()
    return { size, etag, contentType: file.contentType, name: file.name }
  } catch (error) {
    await reader.cancel(error).catch(() => undefined)
    await parts?.abort()
    throw error
  }
}

/** Divides a stream of unknown length into equal parts. A file smaller than one part is a plain put. */
class MultipartWriter {
  readonly #sink: ReturnType<typeof r2Sink>
  readonly #key: string
  readonly #contentType: string
  readonly #etags: string[] = []
  #buffer = new Uint8Array(PART_BYTES)
  #filled = 0
  #upload: string | null = null

  constructor(bucket: R2Bucket, key: string, contentType: string) {
    this.#sink = r2Sink(bucket, '')
    this.#key = key
    this.#contentType = contentType
  }

  async write(block: Uint8Array): Promise<void> {
    for (let from = 0; from < block.length;) {
      // A full buffer is sent only when more bytes come, so that the last part is never empty.
      if (this.#filled === PART_BYTES) await this.#uploadPart()
      const count = Math.min(PART_BYTES - this.#filled, block.length - from)
      this.#buffer.set(block.subarray(from, from + count), this.#filled)
      this.#filled += count
      from += count
    }
  }

  async #uploadPart(): Promise<void> {
    this.#upload ??= await this.#sink.beginUpload(this.#key, this.#contentType)
    const part = this.#buffer.subarray(0, this.#filled)
    const n = this.#etags.length + 1
    this.#etags.push(await this.#sink.uploadPart(this.#key, this.#upload, n, part, part.length))
    this.#filled = 0
  }

  async finish(): Promise<{ size: number; etag: string }> {
    const size = this.#etags.length * PART_BYTES + this.#filled
    if (size === 0) throw new RequestError('invalid_request', 'The file in the form is empty.')
    if (this.#upload === null) {
      const { etag } = await this.#sink.put(this.#key, this.#buffer.subarray(0, size), size, this.#contentType)
      return { size, etag }
    }
    await this.#uploadPart()
    const parts = this.#etags.map((etag, index) => ({ n: index + 1, etag }))
    const { etag } = await this.#sink.completeUpload(this.#key, this.#upload, parts)
    this.#upload = null
    return { size, etag }
  }

  async abort(): Promise<void> {
    if (this.#upload !== null) await this.#sink.abortUpload(this.#key, this.#upload)
  }
}

/** Removes what a failed upload may have left at its key. */
export async function deleteObject(bucket: R2Bucket, key: string): Promise<void> {
  await bucket.delete(key)
}
