// In charge of: finished segments on their way to the door, and holding the encoder back while too many are.
// Not in charge of: making them (segmentWriter.ts), the protocol (taskClient.ts), how many transfers run at once (transferLimiter.ts).
import { MAX_TASK_BODY_BYTES, type FinishedObject } from '#contract/task/protocol.ts'
import type { TaskClient } from '../taskApi/taskClient.ts'
import type { TransferLimiter } from './transferLimiter.ts'
import { ObjectUpload } from './objectUpload.ts'
import type { StoredBytes } from './segmentBuffer.ts'

/**
 * Segments that may wait for the network before the streams do. All streams wait together, and only for transfers: a stream
 * whose segment is not complete never keeps another one waiting, or ffmpeg, which writes to all of them, would stand still.
 */
const MAX_IN_FLIGHT = 6

export interface UploadItem {
  /** Below the job's destination. */
  path: string
  contentType: string
  /** Position in `videoProfiles`; null for anything else. */
  profile: number | null
  payload: StoredBytes
  /** It has a name that stays, and so is only put in place by the commit: listed as this. */
  atCommit?: FinishedObject['role'] | undefined
}

export interface UploadQueueOptions {
  door: Pick<TaskClient, 'putObject' | 'openUpload' | 'putPart'>
  lanes: TransferLimiter
  signal: AbortSignal
  /** Called with the first transfer that failed for good. */
  onFailure: (error: Error) => void
  inFlight?: number
  /** The largest object that goes as one request, in bytes. */
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

  /** True while a stream waits for transfers: then the encoder stands still through no fault of its own. */
  get isFull(): boolean {
    return this.#waiting.length > 0
  }

  /** Sends it in the background. */
  enqueue(parcel: UploadItem): void {
    parcel.payload.retain()
    this.track(this.#sendAndRelease(parcel))
  }

  /** Counts `work`, which waits for the network and for nothing else, as one segment under way. */
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

  /** Resolves once another segment may be made. Throws what failed. */
  async waitForCapacity(): Promise<void> {
    while (this.#busy >= (this.#options.inFlight ?? MAX_IN_FLIGHT) && this.#failure === null)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (this.#failure !== null) throw this.#failure
  }

  /** Waits for everything under way. Returns the objects that the commit has to complete. Throws what failed. */
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
