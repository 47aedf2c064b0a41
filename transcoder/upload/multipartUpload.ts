// In charge of: one multipart upload: opened once, its parts stored by number.
// Not in charge of: which bytes make a part (objectUpload.ts, tarUpload.ts), how many transfers run at once
// (transferLimiter.ts).
import { MAX_UPLOAD_PARTS, type FinishedObject, type UploadReply, type UploadRequest } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import type { FileSlice, TaskClient } from '../taskApi/taskClient.ts'
import type { TransferLimiter } from './transferLimiter.ts'

export interface MultipartUploadOptions {
  taskClient: Pick<TaskClient, 'openUpload' | 'putUploadPart'>
  limiter: TransferLimiter
  signal: AbortSignal
}

export class MultipartUpload {
  readonly #request: UploadRequest
  readonly #options: MultipartUploadOptions
  readonly #etags = new Map<number, string>()
  #opening: Promise<UploadReply> | null = null

  constructor(request: UploadRequest, options: MultipartUploadOptions) {
    this.#request = request
    this.#options = options
  }

  open(): Promise<UploadReply> {
    this.#opening ??= this.#options.taskClient.openUpload(this.#request, this.#options.signal)
    return this.#opening
  }

  /** Throws if the object has more parts than a store accepts. */
  requirePartCount(count: number, details: Record<string, number>): void {
    if (count > MAX_UPLOAD_PARTS)
      throw new TaskError('output_too_large', `${this.#request.path} needs more than ${MAX_UPLOAD_PARTS} parts.`, {
        details,
      })
  }

  /** Stores part `n`, counted from 1. */
  async send(n: number, body: FileSlice | Uint8Array): Promise<void> {
    const { taskClient, limiter, signal } = this.#options
    const { upload } = await this.open()
    const bytes = 'path' in body ? body.end - body.start : body.length
    const { etag } = await limiter.run(bytes, signal, () => taskClient.putUploadPart(upload, n, body, signal))
    this.#etags.set(n, etag)
  }

  /** The stored parts by number. */
  get parts(): FinishedObject['parts'] {
    return [...this.#etags].toSorted(([a], [b]) => a - b).map(([n, etag]) => ({ n, etag }))
  }
}
