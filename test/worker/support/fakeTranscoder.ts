// In charge of: fake transcoders, called through the dispatch binding: they accept /run and /cancel, and call the task
// API as real ones do.
import { runDurableObjectAlarm } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { vi } from 'vitest'
import type { FinishPost, ProgressPost, RunRequest, UploadReply } from '#contract/task/protocol.ts'
import { attemptDirectory } from '#contract/job/paths/outputNames.ts'
import { parseTaskId, partOf } from '#contract/taskId.ts'
import { taskMonitor } from '../../../worker/scheduler/applyEvent.ts'
import { STEP_TIMEOUT_MS } from '../../support/timeouts.ts'
import { BASE_URL } from './apiClient.ts'

export const noProgress: ProgressPost = {
  phase: 'transcoding',
  transcoded: 0,
  transcode_seconds: 0,
  speed: null,
  bytes_produced: 0,
  bytes_stored: 0,
  transfer_seconds: 0,
  eta_seconds: null,
}

export class FakeTranscoders {
  readonly runs: { slot: number; request: RunRequest }[] = []
  /** Number of starts that `answer` refused. */
  refusedStarts = 0
  readonly cancels: { task_id: string; attempt: number }[] = []
  /** Status of the answer to `/run`. */
  runStatus: (slot: number) => number = () => 202
  private nextRun = 0

  constructor() {
    vi.stubGlobal('fetch', async (input: RequestInfo, init?: RequestInit) => {
      const request = new Request(input, init)
      const url = new URL(request.url)
      const slot = /^transcoder-(\d)\.test$/.exec(url.hostname)?.[1]
      if (slot === undefined) throw new Error(`unexpected request to ${url.hostname}`)
      if (url.pathname === '/cancel') this.cancels.push(await request.json())
      if (url.pathname !== '/run') return new Response(null, { status: 202 })
      const status = this.runStatus(Number(slot))
      if (status !== 202) this.refusedStarts++
      else {
        this.runs.push({ slot: Number(slot), request: await request.json() })
      }
      return new Response(null, { status })
    })
  }

  /** Waits for the next attempt that the service starts. */
  async nextAttempt(): Promise<FakeAttempt> {
    // Polled, because workerd does not let one request's context wake another's.
    const run = await vi.waitUntil(() => this.runs[this.nextRun], { timeout: STEP_TIMEOUT_MS, interval: 5 })
    this.nextRun++
    return new FakeAttempt(run.request)
  }
}

export class FakeAttempt {
  readonly run: RunRequest
  constructor(run: RunRequest) {
    this.run = run
  }

  async taskApi(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const bytes = body instanceof Uint8Array
    return exports.default.fetch(
      new Request(`${BASE_URL}/task/${this.run.task_id}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.run.token}`,
          ...headers,
          ...(body === undefined
            ? {}
            : bytes
              ? { 'content-length': String(body.byteLength) }
              : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: bytes ? body : JSON.stringify(body) }),
      }),
    )
  }

  /** PUTs one object to the task API's output address; `path` is encoded as a real client does it. */
  putObject(path: string, bytes: Uint8Array | string, type = 'video/mp4', headers: Record<string, string> = {}) {
    const body = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes
    const encoded = path.split('/').map(encodeURIComponent).join('/')
    return exports.default.fetch(
      new Request(`${BASE_URL}/task/${this.run.task_id}/output/${encoded}`, {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${this.run.token}`,
          'content-type': type,
          'content-length': String(body.byteLength),
          ...headers,
        },
        body,
      }),
    )
  }

  /** Backend id of the job. */
  get job(): string {
    return parseTaskId(this.run.task_id).jobId
  }

  /** The directory below which this attempt at the main task stores. */
  get attemptDirectory(): string {
    return attemptDirectory(this.job, this.run.attempt)
  }

  /** The position of its part; null = it works on the main task. */
  get part(): number | null {
    return partOf(parseTaskId(this.run.task_id).number)
  }

  /** The Durable Object of its task. */
  get monitor() {
    return taskMonitor(env, this.run.task_id)
  }

  /** Runs the monitor's alarm, if one is set. */
  alarm(): Promise<boolean> {
    return runDurableObjectAlarm(this.monitor)
  }

  async heartbeat(change: Partial<ProgressPost> = {}): Promise<string> {
    return (
      await (await this.taskApi('POST', '/progress', { ...noProgress, ...change })).json<{ instruction: string }>()
    ).instruction
  }

  /** Stores one small object in one part; returns its entry for `finish`. */
  async storeObject(path: string, bytes: Uint8Array, type = 'video/mp4'): Promise<FinishPost['objects'][number]> {
    const begun = await this.taskApi('POST', '/uploads', {
      path,
      content_type: type,
      expected_size: bytes.byteLength,
    })
    if (!begun.ok) throw new Error(`begin: ${begun.status}`)
    const { upload } = await begun.json<UploadReply>()
    const part = await this.taskApi('PUT', `/uploads/${upload}/1`, bytes)
    if (!part.ok) throw new Error(`part: ${part.status} ${await part.text()}`)
    const { etag } = await part.json<{ etag: string }>()
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
    return {
      path,
      upload,
      size: bytes.byteLength,
      sha256: [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
      content_type: type,
      parts: [{ n: 1, etag }],
      profile: 0,
      role: 'media',
    }
  }

  /** Ends the job with one file of `bytes` bytes. */
  async complete(bytes = 6): Promise<Response> {
    return this.finish([await this.storeObject('film.mp4', new Uint8Array(bytes))])
  }

  /** Ends the main task's attempt: the job continues in so many parts. */
  divide(parts: number, options: { survey?: true } = {}): Promise<Response> {
    return this.taskApi('POST', '/divide', { parts, ...options })
  }

  /** Ends a part with its result. */
  deliver(record: Record<string, unknown> = {}, change: Record<string, unknown> = {}): Promise<Response> {
    const progress = { ...noProgress, transcoded: 1, transcode_seconds: 2, bytes_produced: 10, bytes_stored: 10 }
    return this.taskApi('POST', '/deliver', { record, warnings: [], progress, ...change })
  }

  /** Reports an error that ends the attempt, and the job unless its code is one of those that are tried again. */
  fail(code: string, error: Record<string, unknown> = {}): Promise<Response> {
    return this.taskApi('POST', '/fail', { reason: 'failed', error: { code, message: 'x', ...error } })
  }

  /** Gives its task back, as on SIGTERM. */
  giveBack(): Promise<Response> {
    return this.taskApi('POST', '/fail', { reason: 'interrupted' })
  }

  finish(objects: FinishPost['objects'], change: Partial<FinishPost> = {}): Promise<Response> {
    return this.taskApi('POST', '/finish', {
      objects,
      warnings: [],
      progress: {
        ...noProgress,
        phase: 'uploading',
        transcoded: 1,
        transcode_seconds: 4.25,
        speed: 2.4,
        bytes_produced: 1000,
        bytes_stored: 1000,
        transfer_seconds: 0.5,
      },
      ...change,
    })
  }
}
