// In charge of: a task API that is strict about the protocol and injects faults on demand: cuts, error answers, stalls,
// changed versions. It records violations of the protocol in `breaches`, which tests check.
// Not in charge of: what the real task API does behind the protocol.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { attemptLogSchema, MAX_LOG_BYTES, MAX_PREVIEW_BYTES, type AttemptLog } from '#contract/task/reportSchemas.ts'
import { jpegSize } from '#contract/formats/jpegSize.ts'
import { allowedOutputsOf, type UploadMethod } from '#contract/task/allowedOutputs.ts'
import {
  deliverPostSchema,
  dividePostSchema,
  estimatePostSchema,
  failPostSchema,
  finishPostSchema,
  MAX_TASK_BODY_BYTES,
  planPostSchema,
  progressPostSchema,
  sourcePostSchema,
  uploadRequestSchema,
  workObjectName,
  type DeliverPost,
  type DividePost,
  type EstimatePost,
  type FailPost,
  type FinishPost,
  type HlsDescription,
  type PlanPost,
  type ProgressPost,
  type SourcePost,
} from '#contract/task/protocol.ts'
import { attemptDirectory } from '#contract/job/paths/outputNames.ts'
import { MAIN_TASK, partTaskNumber } from '#contract/taskId.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import type * as z from 'zod/mini'
import type { SurveyPlan } from '#contract/task/plan/divisionPlan.ts'
import type { TaskDescription } from './attemptFixture.ts'

/** Returns true if it answered (or broke) the request itself. `n` counts the requests of this operation, from 1. */
export type FaultInjector = (call: {
  request: IncomingMessage
  response: ServerResponse
  n: number
}) => boolean | Promise<boolean>

export type Operation =
  | 'task'
  | 'plan'
  | 'input'
  | 'hls'
  | 'piece'
  | 'logo'
  | 'captions'
  | 'source'
  | 'preview'
  | 'log'
  | 'uploads'
  | 'part'
  | 'output'
  | 'progress'
  | 'finish'
  | 'estimate'
  | 'divide'
  | 'deliver'
  | 'record'
  | 'work'
  | 'fail'

interface Upload {
  path: string
  partSize: number
  parts: Map<number, Buffer>
  order: number[]
}

export interface FakeSource {
  bytes: Buffer
  etag?: string
  ranges?: boolean
  /** False: chunked, without a length. */
  length?: boolean
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export class FakeTaskApi {
  readonly token = 'attempt-token-0123456789abcdef'
  readonly breaches: string[] = []
  readonly faults: Partial<Record<Operation, FaultInjector>> = {}
  readonly counts = new Map<Operation, number>()
  readonly inputRanges: string[] = []
  readonly uploads = new Map<string, Upload>()
  /** What was PUT to the output address, by path; the last one wins. */
  readonly outputs = new Map<string, Buffer>()
  readonly plans: PlanPost[] = []
  readonly beats: ProgressPost[] = []
  readonly fails: FailPost[] = []
  readonly sources: SourcePost[] = []
  readonly previews: Buffer[] = []
  readonly logs: AttemptLog[] = []
  finished: FinishPost | null = null
  estimated: EstimatePost | null = null
  divided: DividePost | null = null
  /** What the task that runs delivered. */
  delivered: DeliverPost | null = null
  /** What the parts of the job delivered, by their index. */
  readonly records = new Map<number, Record<string, unknown>>()
  /** What the parts left for the attempt that puts them together, by name. */
  readonly work = new Map<string, Buffer>()
  source: FakeSource
  /** Of a job with `inputs`: the sources after the first one. */
  furtherSources: FakeSource[] = []
  logo: Buffer = Buffer.alloc(0)
  /** The caption files of the job. */
  captions: Buffer[] = []
  /** Content of the playlist at the input; its only track has these segments. */
  hls: { description: HlsDescription; init?: Buffer; segments: Buffer[] } | null = null
  task: TaskDescription | null = null
  storedPlan: unknown = null
  /** Becomes a member of the first plan. */
  division: { chunks: number[]; survey?: SurveyPlan } | null = null
  partSize = 8 * 1024 * 1024
  instruction: 'continue' | 'cancel' | 'stop' = 'continue'
  url = ''
  readonly #server: Server
  readonly #waiters: { test: () => boolean; resolve: () => void }[] = []

  constructor(source: FakeSource = { bytes: Buffer.alloc(0) }) {
    this.source = source
    this.#server = createServer((request, response) => {
      this.#route(request, response)
        .catch((error: unknown) => {
          this.breaches.push(String(error))
          response.destroy()
        })
        .finally(() => this.#wake())
    })
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  /** Resolves when `test` is true; it is checked after every request. */
  waitFor(test: () => boolean): Promise<void> {
    if (test()) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push({ test, resolve }))
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) {
      if (waiter.test()) waiter.resolve()
      else this.#waiters.push(waiter)
    }
  }

  /** The committed objects, assembled from their parts. */
  objects(): Map<string, Buffer> {
    const objects = new Map<string, Buffer>()
    for (const object of this.finished?.objects ?? []) {
      const upload = this.uploads.get(object.upload)
      if (!upload) throw new Error(`unknown upload ${object.upload}`)
      const parts = object.parts.map(({ n, etag }, index) => {
        const part = upload.parts.get(n)
        if (n !== index + 1 || !part) throw new Error(`part ${n} of ${object.path} is missing or out of order`)
        if (etag !== `"${sha256(part).slice(0, 16)}"`) throw new Error(`wrong etag of part ${n}`)
        if (index < object.parts.length - 1 && part.length !== upload.partSize)
          throw new Error(`part ${n} is too small`)
        return part
      })
      const whole = Buffer.concat(parts)
      if (whole.length !== object.size || sha256(whole) !== object.sha256)
        throw new Error(`${object.path} has another size or hash than was declared`)
      objects.set(object.path, whole)
    }
    return objects
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? ''
    const piece = /^\/task\/[a-z0-9-]+\/input\/hls(?:\/p\/0\/(?:maps\/0|segments\/(\d+)))?$/.exec(url)
    const input = /^\/task\/[a-z0-9-]+\/input\/(\d{1,2})$/.exec(url)
    const caption = /^\/task\/[a-z0-9-]+\/captions\/(\d{1,2})$/.exec(url)
    const record = /^\/task\/[a-z0-9-]+\/parts\/(\d{1,3})$/.exec(url)
    const work = /^\/task\/[a-z0-9-]+\/work\/(.+)$/.exec(url)
    const output = /^\/task\/[a-z0-9-]+\/output\/(.+)$/.exec(url)
    const match =
      /^\/task\/([a-z0-9-]+)(?:\/(plan|input|logo|source|preview|log|uploads|progress|finish|estimate|divide|deliver|fail)(?:\/([^/]+)\/(\d+))?)?$/.exec(
        url,
      )
    const source = input === null ? this.source : [this.source, ...this.furtherSources][Number(input[1])]
    if ((!match && !output && !piece && !input && !caption && !record && !work) || source === undefined) {
      this.breaches.push(`no such address: ${request.method} ${url}`)
      return sendJson(response, 404, { error: { code: 'not_found', message: url } })
    }
    const hls = piece && (url.endsWith('/hls') ? 'hls' : 'piece')
    const operation = (hls ??
      (input
        ? 'input'
        : output
          ? 'output'
          : caption
            ? 'captions'
            : record
              ? 'record'
              : work
                ? 'work'
                : match?.[4] === undefined
                  ? (match?.[2] ?? 'task')
                  : 'part')) as Operation
    if (request.headers.authorization !== `Bearer ${this.token}`) {
      this.breaches.push(`wrong token on ${operation}`)
      return sendJson(response, 401, { error: { code: 'unauthorized', message: 'token' } })
    }
    const n = (this.counts.get(operation) ?? 0) + 1
    this.counts.set(operation, n)
    if (await this.faults[operation]?.({ request, response, n })) return
    switch (operation) {
      case 'task':
        return sendJson(
          response,
          200,
          this.task && { spec: toSpec(this.task.config, this.task.input_name), ...this.task },
        )
      case 'input':
        return this.input(request, response, Infinity, source)
      case 'hls':
        return sendJson(response, 200, this.hls!.description)
      case 'piece': {
        const bytes = piece![1] === undefined ? this.hls!.init! : this.hls!.segments[Number(piece![1])]!
        response.writeHead(200, { 'content-length': String(bytes.length) }).end(bytes)
        return
      }
      case 'logo':
        response.writeHead(200, { 'content-type': 'image/png' }).end(this.logo)
        return
      case 'captions': {
        const file = this.captions[Number(caption?.[1])]
        if (file === undefined)
          return sendJson(response, 422, { error: { code: 'captions_unavailable', message: url } })
        response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file)
        return
      }
      case 'source': {
        const post = this.#parse(sourcePostSchema, await readBody(request))
        if (post) this.sources.push(post)
        return sendJson(response, 200, {})
      }
      case 'preview': {
        const bytes = await readBody(request)
        if (jpegSize(bytes) === null || bytes.length > MAX_PREVIEW_BYTES) this.breaches.push('a preview that is none')
        this.previews.push(bytes)
        return sendJson(response, 200, {})
      }
      case 'log': {
        const bytes = await readBody(request)
        if (bytes.length > MAX_LOG_BYTES) this.breaches.push(`a log of ${bytes.length} bytes`)
        const post = this.#parse(attemptLogSchema, bytes)
        if (post) this.logs.push(post)
        return sendJson(response, 200, {})
      }
      case 'part':
        return this.#part(request, response, decodeURIComponent(match![3]!), Number(match![4]))
      case 'output':
        return this.#output(request, response, output![1]!.split('/').map(decodeURIComponent))
      case 'plan': {
        const post = this.#parse(planPostSchema, await readBody(request))
        if (post) this.plans.push(post)
        const foreign = post && this.#places?.firstForeignPath(post.plan)
        if (foreign) this.breaches.push(`the plan has ${foreign}, which is no output of the job`)
        if (post?.replaces === true) this.storedPlan = post.plan
        this.storedPlan ??= post && { ...post.plan, ...(this.division === null ? {} : { division: this.division }) }
        return sendJson(response, 200, { plan: this.storedPlan })
      }
      case 'uploads': {
        const post = this.#parse(uploadRequestSchema, await readBody(request))
        if (post) this.#place('parts', post.path, post.content_type)
        // An id with all characters that must be escaped in a path.
        const upload = `up/${this.uploads.size + 1}?x=ä+b c`
        this.uploads.set(upload, { path: post?.path ?? '', partSize: this.partSize, parts: new Map(), order: [] })
        return sendJson(response, 200, { upload, part_size: this.partSize })
      }
      case 'progress': {
        const post = this.#parse(progressPostSchema, await readBody(request))
        if (post) this.beats.push(post)
        return sendJson(response, 200, { instruction: this.instruction })
      }
      case 'finish': {
        this.finished = this.#parse(finishPostSchema, await readBody(request)) as FinishPost
        for (const { path, content_type: type } of this.finished.objects) this.#place('parts', path, type)
        for (const { path, content_type: type } of this.finished.written) this.#place('written', path, type)
        return sendJson(response, 200, { state: 'committing' })
      }
      case 'estimate': {
        this.estimated = this.#parse(estimatePostSchema, await readBody(request)) as unknown as EstimatePost
        return sendJson(response, 200, { state: 'completed' })
      }
      case 'divide': {
        this.divided = this.#parse(dividePostSchema, await readBody(request)) ?? null
        return sendJson(response, 200, { state: 'divided' })
      }
      case 'deliver': {
        this.delivered = this.#parse<DeliverPost>(deliverPostSchema, await readBody(request)) ?? null
        const part = this.task?.part
        if (part === undefined) this.breaches.push('a main task delivered the record of a part')
        else if (this.delivered !== null) this.records.set(part.index, this.delivered.record)
        return sendJson(response, 200, { state: 'completed' })
      }
      case 'record': {
        const found = this.records.get(Number(record![1]))
        if (found === undefined) return sendJson(response, 404, { error: { code: 'not_found', message: url } })
        return sendJson(response, 200, found)
      }
      case 'work':
        return this.#work(request, response, work![1]!)
      case 'fail': {
        const post = this.#parse(failPostSchema, await readBody(request))
        if (post) this.fails.push(post)
        return sendJson(response, 200, {})
      }
    }
  }

  /** Where the task's job may write; null for tests without a task. */
  get #places() {
    const { task } = this
    return task && allowedOutputsOf(task.config, task.input_name, this.#own(task))
  }

  #own({ job_id: job, attempt, part }: TaskDescription): string | null {
    return part === undefined ? attemptDirectory(job, attempt) : null
  }

  #place(sent: UploadMethod, path: string, type: string): void {
    const refusal = this.#places?.violation(sent, path, type)
    if (refusal) this.breaches.push(`${path} (${type}), sent as ${sent}, is no output of the job: its ${refusal}`)
  }

  #parse<T>(schema: z.ZodMiniType<T>, bytes: Buffer): T | undefined {
    const parsed = schema.safeParse(JSON.parse(bytes.toString('utf8')))
    if (!parsed.success) this.breaches.push(JSON.stringify(parsed.error.issues))
    return parsed.data
  }

  async #part(request: IncomingMessage, response: ServerResponse, id: string, n: number): Promise<void> {
    const upload = this.uploads.get(id)
    const length = Number(request.headers['content-length'] ?? Number.NaN)
    if (!upload) this.breaches.push(`unknown upload ${id}`)
    if (!(length > 0)) this.breaches.push(`part ${n} without a length`)
    if (length > MAX_TASK_BODY_BYTES || length > (upload?.partSize ?? 0)) this.breaches.push(`part ${n} too large`)
    const bytes = await readBody(request)
    upload?.parts.set(n, bytes)
    upload?.order.push(n)
    sendJson(response, 200, { etag: `"${sha256(bytes).slice(0, 16)}"` })
  }

  async #work(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    if (!workObjectName.test(name)) this.breaches.push(`${name} is no name of a work object`)
    if (request.method === 'GET') {
      const found = this.work.get(name)
      if (found === undefined) return sendJson(response, 404, { error: { code: 'not_found', message: name } })
      return void response.writeHead(200, { 'content-length': String(found.length) }).end(found)
    }
    const bytes = await readBody(request)
    if (Number(request.headers['content-length']) !== bytes.length) this.breaches.push(`${name} without its length`)
    if (bytes.length > MAX_TASK_BODY_BYTES) this.breaches.push(`${name} is too large for one request`)
    const { part, attempt, accepts } = this.task!
    const number = part === undefined ? MAIN_TASK : partTaskNumber(part.index)
    if (!name.startsWith(`${number}-${attempt}/`) || (part === undefined && accepts?.parts === undefined))
      this.breaches.push(`${name} is not of this attempt`)
    this.work.set(name, bytes)
    sendJson(response, 200, {})
  }

  async #output(request: IncomingMessage, response: ServerResponse, elements: string[]): Promise<void> {
    const length = Number(request.headers['content-length'] ?? Number.NaN)
    const bytes = await readBody(request)
    const path = elements.join('/')
    const own = this.task && this.#own(this.task)
    if (!(length > 0) || length !== bytes.length) this.breaches.push(`${path} with another length than it said`)
    if (length > MAX_TASK_BODY_BYTES) this.breaches.push(`${path} is too large for one request`)
    if (!request.headers['content-type']) this.breaches.push(`${path} without a type`)
    if (!elements.slice(0, -1).includes(own ?? ''))
      this.breaches.push(`${path} is not below the attempt's own directory`)
    this.#place('put', path, request.headers['content-type'] ?? '')
    this.outputs.set(path, bytes)
    sendJson(response, 200, { etag: `"${sha256(bytes).slice(0, 16)}"` })
  }

  /** The unmodified bytes of the source; fault injectors may call it with `cutAfter` to send only that many of them. */
  input(request: IncomingMessage, response: ServerResponse, cutAfter = Infinity, source = this.source): void {
    const { bytes, etag = '"v1"', ranges = true, length = true } = source
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    this.inputRanges.push(request.headers.range ?? 'whole')
    const condition = request.headers['if-match']
    if (condition !== undefined && condition !== etag) {
      response.setHeader('x-source-error', 'source_changed')
      return sendJson(response, 412, { error: { code: 'source_changed', message: 'The source has another version.' } })
    }
    let first = 0
    let last = bytes.length - 1
    const headers: Record<string, string> = { etag, 'accept-ranges': ranges ? 'bytes' : 'none' }
    if (range && ranges) {
      first = Number(range[1])
      last = Math.min(last, Number(range[2]))
      if (first > last) return void response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end()
      headers['content-range'] = `bytes ${first}-${last}/${bytes.length}`
    }
    const slice = bytes.subarray(first, last + 1)
    if (length) headers['content-length'] = String(slice.length)
    response.writeHead(range && ranges ? 206 : 200, headers)
    if (cutAfter >= slice.length) response.end(slice)
    else response.write(slice.subarray(0, cutAfter), () => response.destroy())
  }
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Reproducible bytes without repetition within the length of a range. */
export function pseudoRandomBytes(length: number, seed = 1): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let state = seed
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes[at] = state >>> 24
  }
  return bytes
}
