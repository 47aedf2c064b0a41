// In charge of: uploading finished segments, and pausing the encoder while too many are waiting.
// Not in charge of: making segments (segmentWriter.ts), the protocol (taskClient.ts), how many transfers run at once
// (transferLimiter.ts).
import { MAX_TASK_BODY_BYTES, type FinishedObject } from '#contract/task/protocol.ts'
import type { TaskClient } from '../taskApi/taskClient.ts'
import type { TransferLimiter } from './transferLimiter.ts'
import { ObjectUpload } from './objectUpload.ts'
import { MultipartUpload } from './multipartUpload.ts'
import type { StoredBytes } from './segmentBuffer.ts'

/**
 * Segments that may be in upload before the streams have to wait. All streams wait together, and only for transfers: a
 * stream must never wait for another stream's segment, or ffmpeg, which writes to all of them, would block.
 */
const MAX_IN_FLIGHT = 6

export interface UploadItem {
  /** Below the job's destination. */
  path: string
  contentType: string
  /** Index in `videoProfiles`; null for anything else. */
  profile: number | null
  content: StoredBytes
  /** Set for an object with a permanent name, which only the commit completes: the role under which it is listed. */
  commitRole?: FinishedObject['role'] | undefined
}

export interface UploadQueueOptions {
  taskClient: Pick<TaskClient, 'putObject' | 'openUpload' | 'putUploadPart'>
  limiter: TransferLimiter
  signal: AbortSignal
  /** Called with the first transfer that failed permanently. */
  onFailure: (error: Error) => void
  maxInFlight?: number
  /** The largest object that is sent as one request, in bytes. */
  maxPutBytes?: number
}

export class UploadQueue {
  readonly #options: UploadQueueOptions
  readonly #objects: FinishedObject[] = []
  readonly #inFlight: Set<Promise<void>> = new Set()
  readonly #waiting: (() => void)[] = []
  #busy = 0
  #failure: Error | null = null

  constructor(options: UploadQueueOptions) {
    this.#options = options
  }

  /** True while a stream waits for transfers: the encoder then makes no progress without being stuck. */
  get isFull(): boolean {
    return this.#waiting.length > 0
  }

  /** Sends the item in the background. */
  enqueue(item: UploadItem): void {
    item.content.retain()
    this.track(this.#sendAndRelease(item))
  }

  /** Counts `work`, which must wait for nothing but the network, as one segment in upload. */
  track(work: Promise<void>): void {
    this.#busy += 1
    const counted = work
      .catch((error: unknown) => {
        if (this.#failure !== null) return
        this.#failure = error instanceof Error ? error : new Error(String(error))
        this.#options.onFailure(this.#failure)
      })
      .finally(() => {
        this.#busy -= 1
        this.#inFlight.delete(counted)
        this.#notifyWaiting()
      })
    this.#inFlight.add(counted)
  }

  /** Resolves when another segment may be made. Throws the error of a failed transfer. */
  async waitForCapacity(): Promise<void> {
    while (this.#busy >= (this.#options.maxInFlight ?? MAX_IN_FLIGHT) && this.#failure === null)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (this.#failure !== null) throw this.#failure
  }

  /**
   * Waits for everything in progress. Returns the objects that the commit has to complete. Throws the error of a failed
   * transfer.
   */
  async drain(): Promise<FinishedObject[]> {
    await this.waitForTransfers()
    if (this.#failure !== null) throw this.#failure
    return this.#objects
  }

  async waitForTransfers(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight)
  }

  #notifyWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async #sendAndRelease(item: UploadItem): Promise<void> {
    try {
      await this.#send(item)
    } finally {
      await item.content.release()
    }
  }

  async #send({ path, contentType, profile, content, commitRole }: UploadItem): Promise<void> {
    const { taskClient, limiter, signal, maxPutBytes = MAX_TASK_BODY_BYTES } = this.#options
    const { body, bytes } = content
    const request = { path, content_type: contentType, expected_size: bytes }
    if (commitRole !== undefined) {
      const parts = new MultipartUpload(request, this.#options)
      const { upload } = await parts.open()
      await parts.send(1, body)
      const stored = { upload, size: bytes, sha256: content.sha256, parts: parts.parts }
      this.#objects.push({ path, content_type: contentType, profile, role: commitRole, ...stored })
      return
    }
    if (bytes <= maxPutBytes || !('path' in body))
      return limiter.run(bytes, signal, () => taskClient.putObject(path, contentType, body, signal))
    const options = { taskClient, limiter, signal, onFailure: this.#options.onFailure }
    const stored = await new ObjectUpload(body.path, request, { kind: 'appended' }, options).finish()
    this.#objects.push({ path, content_type: contentType, profile, role: 'media', ...stored })
  }
}
