// In charge of: uploading finished segments, and pausing the encoder while too many are waiting.
// Not in charge of: making segments (segmentWriter.ts), the protocol (taskClient.ts), how many transfers run at once
// (transferLimiter.ts).
import { MAX_TASK_BODY_BYTES, type FinishedObject } from '#contract/task/protocol.ts'
import type { TaskClient } from '../taskApi/taskClient.ts'
import type { TransferLimiter } from './transferLimiter.ts'
import { ObjectUpload } from './objectUpload.ts'
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
  payload: StoredBytes
  /** Set for an object with a permanent name, which only the commit completes: the role under which it is listed. */
  atCommit?: FinishedObject['role'] | undefined
}

export interface UploadQueueOptions {
  door: Pick<TaskClient, 'putObject' | 'openUpload' | 'putPart'>
  lanes: TransferLimiter
  signal: AbortSignal
  /** Called with the first transfer that failed permanently. */
  onFailure: (error: Error) => void
  inFlight?: number
  /** The largest object that is sent as one request, in bytes. */
  largestPut?: number
}

export class UploadQueue {
  readonly #options: UploadQueueOptions
  readonly #objects: FinishedObject[] = []
  readonly #under: Set<Promise<void>> = new Set()
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
  enqueue(parcel: UploadItem): void {
    parcel.payload.retain()
    this.track(this.#sendAndRelease(parcel))
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
        this.#under.delete(counted)
        this.#notifyWaiting()
      })
    this.#under.add(counted)
  }

  /** Resolves when another segment may be made. Throws the error of a failed transfer. */
  async waitForCapacity(): Promise<void> {
    while (this.#busy >= (this.#options.inFlight ?? MAX_IN_FLIGHT) && this.#failure === null)
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
    while (this.#under.size > 0) await Promise.all(this.#under)
  }

  #notifyWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async #sendAndRelease(parcel: UploadItem): Promise<void> {
    try {
      await this.#send(parcel)
    } finally {
      await parcel.payload.release()
    }
  }

  async #send({ path, contentType, profile, payload, atCommit }: UploadItem): Promise<void> {
    const { door, lanes, signal, largestPut = MAX_TASK_BODY_BYTES } = this.#options
    const { body, bytes } = payload
    if (atCommit !== undefined) {
      const request = { path, content_type: contentType, expected_size: bytes }
      const { upload } = await door.openUpload(request, signal)
      const { etag } = await lanes.run(bytes, signal, () => door.putPart(upload, 1, body, signal))
      const { sha256 } = payload
      const stored = { upload, size: bytes, sha256, parts: [{ n: 1, etag }] }
      this.#objects.push({ path, content_type: contentType, profile, role: atCommit, ...stored })
      return
    }
    if (bytes <= largestPut || !('path' in body))
      return lanes.run(bytes, signal, () => door.putObject(path, contentType, body, signal))
    const request = { path, content_type: contentType, expected_size: bytes }
    const options = { door, lanes, signal, onFailure: this.#options.onFailure }
    const stored = await new ObjectUpload(body.path, request, { kind: 'appended' }, options).finish()
    this.#objects.push({ path, content_type: contentType, profile, role: 'media', ...stored })
  }
}
