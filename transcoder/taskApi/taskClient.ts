// In charge of: the protocol of the task API: addresses, token, timeouts and retries. This is the transcoder's only
// network code towards the Worker.
// Not in charge of: what is sent and when, the meaning of error responses (responseErrors.ts).
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { JobErrorCode } from '#contract/errorCodes.ts'
import type { AttemptLog } from '#contract/task/reportSchemas.ts'
import {
  inputPath,
  partRecordPath,
  workObjectPath,
  type DeliverPost,
  type DividePost,
  type EstimatePost,
  type FailPost,
  type FinishPost,
  type HlsDescription,
  type PartReply,
  type PlanPost,
  type ProgressPost,
  type ProgressReply,
  type SourcePost,
  type TaskDescription,
  type UploadReply,
  type UploadRequest,
  BUILD_HEADER,
} from '#contract/task/protocol.ts'
import { readAnswer, responseError, toTransient } from './responseErrors.ts'
import { defaultBackoff, UPSTREAM_RETRY_MS, retry, type Backoff, type RetryPolicy } from './retry.ts'

export interface TaskClientOptions {
  /** Base address of the Worker, without a slash at its end. */
  base: string
  taskId: string
  token: string
  backoff?: Backoff
  /** Longest silence of one transfer or response, in milliseconds. */
  stallMs?: number
  /** Milliseconds for which reading a resource of an HLS source is retried. */
  retryForMs?: number | undefined
  /** Milliseconds for which an unavailable source or store is retried before anything is encoded. */
  upstreamMs?: number | undefined
  /** Milliseconds for which an error that retries rarely resolve must last before it is reported. */
  connectionRetryMs?: number | undefined
}

/** A slice of a file, read again for every try: never more than one block of it is in memory. */
export interface FileSlice {
  path: string
  start: number
  /** Exclusive. */
  end: number
}

interface Call {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  headers?: Record<string, string>
  body?: unknown
  signal: AbortSignal
  /** Time for all tries together; 0 = one try. */
  totalMs: number
  /** The same for a source or store that is unavailable; absent = `totalMs`. */
  upstreamMs?: number
  timeoutMs: number
  /** The error code of a failure that the service does not explain. */
  code: JobErrorCode
}

const MINUTE_MS = 60_000

export class TaskClient {
  readonly #base: string
  readonly #token: string
  readonly #backoff: Backoff
  readonly #stallMs: number
  readonly #retryForMs: number
  readonly #upstreamMs: number
  readonly #connectionRetryMs: number | undefined
  #bytesRead = 0

  constructor(options: TaskClientOptions) {
    this.#base = `${options.base.replace(/(?<!\/)\/+$/, '')}/task/${encodeURIComponent(options.taskId)}`
    this.#token = options.token
    this.#backoff = options.backoff ?? defaultBackoff
    this.#stallMs = options.stallMs ?? MINUTE_MS
    this.#retryForMs = options.retryForMs ?? MINUTE_MS
    this.#upstreamMs = options.upstreamMs ?? UPSTREAM_RETRY_MS
    this.#connectionRetryMs = options.connectionRetryMs
  }

  /** Bytes read so far, of the source and of other files of the client. */
  get bytesRead(): number {
    return this.#bytesRead
  }

  /** For bodies that others read (fetchInput). */
  countRead(bytes: number): void {
    this.#bytesRead += bytes
  }

  /** @param build of this transcoder's ffmpeg */
  async fetchTask(build: string, signal: AbortSignal): Promise<TaskDescription> {
    const limits = { totalMs: MINUTE_MS, timeoutMs: 15_000, code: 'internal' } as const
    const headers = { [BUILD_HEADER]: build }
    return this.#call<TaskDescription>({ method: 'GET', path: '', headers, signal, ...limits })
  }

  /** The first stored plan wins: the response may differ from what was sent. */
  async postPlan(body: PlanPost, signal: AbortSignal): Promise<unknown> {
    const limits = {
      totalMs: MINUTE_MS,
      upstreamMs: this.#upstreamMs,
      timeoutMs: 15_000,
      code: 'internal',
    } as const
    return (await this.#call<{ plan: unknown }>({ method: 'POST', path: '/plan', body, signal, ...limits })).plan
  }

  /** Sends the source report. */
  async postSource(body: SourcePost, signal: AbortSignal): Promise<void> {
    const limits = { totalMs: MINUTE_MS, timeoutMs: 15_000, code: 'internal' } as const
    await this.#call<unknown>({ method: 'POST', path: '/source', body, signal, ...limits })
  }

  /** Sends one JPEG of the source. */
  async putPreview(jpeg: Uint8Array, signal: AbortSignal): Promise<void> {
    await retry({ ...this.#retryPolicy(MINUTE_MS), signal }, () => this.#send('/preview', 'image/jpeg', jpeg, signal))
  }

  /** Sends the attempt's log as it is now; it replaces the one sent before. */
  async putLog(body: AttemptLog, totalMs: number, signal: AbortSignal): Promise<void> {
    const limits = { totalMs, timeoutMs: Math.min(15_000, totalMs), code: 'internal' } as const
    await this.#call<unknown>({ method: 'PUT', path: '/log', body, signal, ...limits })
  }

  /** One try: the next heartbeat is the retry. */
  async postProgress(body: ProgressPost, signal: AbortSignal): Promise<ProgressReply> {
    const limits = { totalMs: 0, timeoutMs: 5000, code: 'internal' } as const
    return this.#call<ProgressReply>({ method: 'POST', path: '/progress', body, signal, ...limits })
  }

  async openUpload(body: UploadRequest, signal: AbortSignal): Promise<UploadReply> {
    const limits = { totalMs: 2 * MINUTE_MS, timeoutMs: 30_000, code: 'output_unreachable' } as const
    return this.#call<UploadReply>({ method: 'POST', path: '/uploads', body, signal, ...limits })
  }

  /** Idempotent in the task API: if the attempt has already finished, its commit is answered again. */
  async postFinish(body: FinishPost, signal: AbortSignal): Promise<void> {
    const limits = { totalMs: 5 * MINUTE_MS, timeoutMs: 2 * MINUTE_MS, code: 'output_unreachable' } as const
    await this.#call<unknown>({ method: 'POST', path: '/finish', body, signal, ...limits })
  }

  /** The end of a dry run; idempotent in the task API. */
  async postEstimate(body: EstimatePost, signal: AbortSignal): Promise<void> {
    const limits = { totalMs: MINUTE_MS, timeoutMs: 15_000, code: 'internal' } as const
    await this.#call<unknown>({ method: 'POST', path: '/estimate', body, signal, ...limits })
  }

  /** The job goes on as parts; idempotent in the task API. */
  async postDivide(body: DividePost, signal: AbortSignal): Promise<void> {
    const limits = { totalMs: 2 * MINUTE_MS, timeoutMs: 30_000, code: 'internal' } as const
    await this.#call<unknown>({ method: 'POST', path: '/divide', body, signal, ...limits })
  }

  /** The result of a part; idempotent in the task API. */
  async postDeliver(body: DeliverPost, signal: AbortSignal): Promise<void> {
    const limits = { totalMs: 5 * MINUTE_MS, timeoutMs: MINUTE_MS, code: 'internal' } as const
    await this.#call<unknown>({ method: 'POST', path: '/deliver', body, signal, ...limits })
  }

  /** What another part of the job delivered; null = it has not. */
  async fetchPartRecord(index: number, signal: AbortSignal): Promise<unknown> {
    return retry({ ...this.#retryPolicy(2 * MINUTE_MS), signal }, async () => {
      try {
        const response = await this.#fetch(partRecordPath(index), {
          signal: AbortSignal.any([signal, AbortSignal.timeout(MINUTE_MS)]),
        })
        if (response.status === 404) {
          await response.body?.cancel()
          return null
        }
        return await readAnswer<unknown>(response, 'internal')
      } catch (error) {
        throw toTransient(error, 'internal', 'The service could not be reached')
      }
    })
  }

  async postFailure(body: FailPost, totalMs: number, signal: AbortSignal): Promise<void> {
    const limits = { totalMs, timeoutMs: Math.min(15_000, totalMs), code: 'internal' } as const
    await this.#call<unknown>({ method: 'POST', path: '/fail', body, signal, ...limits })
  }

  /** Stores part `n` (1-based). */
  async putUploadPart(
    upload: string,
    n: number,
    body: FileSlice | Uint8Array,
    signal: AbortSignal,
  ): Promise<PartReply> {
    const path = `/uploads/${encodeURIComponent(upload)}/${n}`
    return retry({ ...this.#retryPolicy(2 * MINUTE_MS), signal }, () =>
      this.#send(path, 'application/octet-stream', body, signal),
    )
  }

  /** Stores a whole object below the job's destination. Only for paths with the attempt's own directory in them. */
  async putObject(path: string, contentType: string, body: FileSlice | Uint8Array, signal: AbortSignal): Promise<void> {
    const address = `/output/${path.split('/').map(encodeURIComponent).join('/')}`
    await retry({ ...this.#retryPolicy(2 * MINUTE_MS), signal }, () => this.#send(address, contentType, body, signal))
  }

  /** Stores bytes for the attempt that puts the parts of this job together. `name`: below the attempt's own directory. */
  async putWork(name: string, body: FileSlice | Uint8Array, signal: AbortSignal): Promise<void> {
    await retry({ ...this.#retryPolicy(2 * MINUTE_MS), signal }, () =>
      this.#send(workObjectPath(name), 'application/octet-stream', body, signal),
    )
  }

  /** Reads what an attempt at a part of this job stored. */
  async fetchWork(name: string, signal: AbortSignal): Promise<Uint8Array> {
    return retry({ ...this.#retryPolicy(2 * MINUTE_MS), signal }, async () => {
      try {
        const response = await this.#fetch(workObjectPath(name), {
          headers: { 'accept-encoding': 'identity' },
          signal: AbortSignal.any([signal, AbortSignal.timeout(MINUTE_MS)]),
        })
        if (!response.ok) throw await responseError(response, 'internal')
        return new Uint8Array(await response.arrayBuffer())
      } catch (error) {
        throw toTransient(error, 'internal', 'What a part of the job stored could not be read')
      }
    })
  }

  async #send(
    path: string,
    contentType: string,
    body: FileSlice | Uint8Array,
    signal: AbortSignal,
  ): Promise<PartReply> {
    const stall = new StallTimer(this.#stallMs, signal)
    const length = 'path' in body ? body.end - body.start : body.length
    const blocks = 'path' in body ? fileBlocks(body) : memoryBlocks(body)
    const monitored = async function* (): AsyncGenerator<Uint8Array<ArrayBuffer>> {
      for await (const block of blocks) {
        stall.reset()
        yield block as Uint8Array<ArrayBuffer>
      }
    }
    try {
      const response = await this.#fetch(path, {
        method: 'PUT',
        // Without an explicit length its length would not be stated, and R2 rejects a part of unknown length.
        headers: { 'content-length': String(length), 'content-type': contentType },
        body: ReadableStream.from(monitored()),
        duplex: 'half',
        signal: stall.signal,
      })
      return await readAnswer<PartReply>(response, 'output_unreachable')
    } catch (error) {
      throw toTransient(error, 'output_unreachable', 'A part could not be stored')
    } finally {
      stall.stop()
      if (blocks instanceof Readable) blocks.destroy()
    }
  }

  /**
   * One read of source bytes without retry or check: sourceReader.ts does both. `range` is inclusive; null requests the
   * whole. `piece` counts from 0. The caller reads or cancels the body.
   */
  async fetchInput(
    range: { first: number; last: number } | null,
    etag: string | null,
    signal: AbortSignal,
    piece = 0,
  ): Promise<Response> {
    return this.#fetch(inputPath(piece), {
      headers: {
        // A compressed response would have no length, so that it could not be checked to be complete.
        'accept-encoding': 'identity',
        ...(range === null ? {} : { range: `bytes=${range.first}-${range.last}` }),
        ...(etag === null ? {} : { 'if-match': etag }),
      },
      signal,
    })
  }

  /** Describes the playlist at `/input`. */
  async fetchHls(signal: AbortSignal): Promise<HlsDescription> {
    const limits = {
      totalMs: 2 * MINUTE_MS,
      upstreamMs: this.#upstreamMs,
      timeoutMs: 2 * MINUTE_MS,
      code: 'source_unreachable',
    } as const
    return this.#call<HlsDescription>({ method: 'GET', path: '/input/hls', signal, ...limits })
  }

  /**
   * Passes the body of one resource of an HLS source to `consume`, which reads it; after a failure again from its
   * beginning.
   * `resource` is the path after `/input/hls/`.
   */
  async fetchHlsResource<T>(
    resource: string,
    signal: AbortSignal,
    consume: (body: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    return retry({ ...this.#retryPolicy(this.#retryForMs), signal }, async () => {
      const stall = new StallTimer(this.#stallMs, signal)
      try {
        const response = await this.#fetch(`/input/hls/${resource}`, {
          headers: { 'accept-encoding': 'identity' },
          signal: stall.signal,
        })
        if (!response.ok) throw await responseError(response, 'source_unreachable')
        // The body is referenced at once: Node cancels an unread body when its response is garbage-collected.
        const body = (response.body ?? new Blob([]).stream()).values()
        const count = (bytes: number): void => this.countRead(bytes)
        return await consume(
          (async function* () {
            for await (const block of body) {
              stall.reset()
              count(block.length)
              yield block
            }
          })(),
        )
      } catch (error) {
        signal.throwIfAborted()
        throw toTransient(error, 'source_unreachable', 'A file of the source could not be read')
      } finally {
        stall.stop()
      }
    })
  }

  /** The logo's bytes: its first bytes are those of an image, and it is within the size limit. */
  async fetchLogo(signal: AbortSignal): Promise<Uint8Array> {
    return retry({ ...this.#retryPolicy(MINUTE_MS), signal }, async () => {
      try {
        const response = await this.#fetch('/logo', {
          signal: AbortSignal.any([signal, AbortSignal.timeout(MINUTE_MS)]),
        })
        if (!response.ok) throw await responseError(response, 'logo_unavailable')
        return await this.#readWhole(response)
      } catch (error) {
        throw toTransient(error, 'logo_unavailable', 'The logo could not be fetched')
      }
    })
  }

  /** The bytes of the job's caption file with this index, within the size limit. */
  async fetchCaptions(index: number, signal: AbortSignal): Promise<Uint8Array> {
    return retry({ ...this.#retryPolicy(MINUTE_MS), signal }, async () => {
      try {
        const response = await this.#fetch(`/captions/${index}`, {
          signal: AbortSignal.any([signal, AbortSignal.timeout(MINUTE_MS)]),
        })
        if (!response.ok) throw await responseError(response, 'captions_unavailable')
        return await this.#readWhole(response)
      } catch (error) {
        throw toTransient(error, 'captions_unavailable', `Caption file ${index} could not be fetched`)
      }
    })
  }

  async #readWhole(response: Response): Promise<Uint8Array> {
    const bytes = new Uint8Array(await response.arrayBuffer())
    this.countRead(bytes.length)
    return bytes
  }

  #retryPolicy(totalMs: number, upstreamMs?: number): RetryPolicy {
    return { totalMs, upstreamMs, connectionRetryMs: this.#connectionRetryMs, backoff: this.#backoff }
  }

  async #fetch(
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
  ): Promise<Response> {
    return fetch(`${this.#base}${path}`, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${this.#token}` },
      redirect: 'error', // the token must not be sent to any other address
    })
  }

  async #call<T>(call: Call): Promise<T> {
    const once = async (): Promise<T> => {
      try {
        const response = await this.#fetch(call.path, {
          method: call.method,
          ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
          headers: { ...call.headers, ...(call.body === undefined ? {} : { 'content-type': 'application/json' }) },
          signal: AbortSignal.any([call.signal, AbortSignal.timeout(call.timeoutMs)]),
        })
        return await readAnswer<T>(response, call.code)
      } catch (error) {
        throw toTransient(error, call.code, 'The service could not be reached')
      }
    }
    return retry({ ...this.#retryPolicy(call.totalMs, call.upstreamMs), signal: call.signal }, once)
  }
}

const BLOCK_BYTES = 256 * 1024

function fileBlocks({ path, start, end }: FileSlice): Readable {
  return createReadStream(path, { start, end: end - 1, highWaterMark: BLOCK_BYTES })
}

function* memoryBlocks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) yield bytes.subarray(at, at + BLOCK_BYTES)
}

/** Aborts after `ms` without progress, or with its parent signal. */
export class StallTimer {
  readonly #ms: number
  readonly #controller = new AbortController()
  #timer: NodeJS.Timeout | undefined
  readonly signal: AbortSignal
  constructor(ms: number, parent: AbortSignal) {
    this.#ms = ms
    this.signal = AbortSignal.any([parent, this.#controller.signal])
    this.reset()
  }
  reset(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#controller.abort(new Error('no data was transferred for too long')), this.#ms)
  }
  stop(): void {
    clearTimeout(this.#timer)
  }
}
