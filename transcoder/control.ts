// In charge of: the address that the Worker starts and cancels attempts at, and that one attempt runs at a time.
// Not in charge of: what an attempt does (run.ts).
import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runRequest, SUPPORTED_PROTOCOLS, type RunRequest } from '#contract/task.ts'
import { Halt } from './failure.ts'
import type { CellReport } from './ffmpeg/isolation.ts'
import type { Log } from './log.ts'

/** Runs one attempt to its end. It never rejects: how it ended was told to the Worker. `ending`: nothing but that is left. */
export type RunAttempt = (request: RunRequest, halt: AbortController, ending: () => void) => Promise<void>

export interface ControlOptions {
  host: string
  port: number
  secret: string | null
  version: string
  ffmpegVersion: string
  /** What holds ffmpeg. */
  cell?: CellReport
  run: RunAttempt
  log: Log
  /** How long a new task waits for one that is ending or was told to stop, in milliseconds. */
  handoverMs?: number
}

interface Current {
  request: RunRequest
  halt: AbortController
  /** The Worker may know of its end, and give its place away, before its answer is here. */
  ending: boolean
  ended: Promise<void>
}

const MAX_BODY_BYTES = 64 * 1024
/** Ended attempts that a repeated message is recognised by. */
const REMEMBERED = 32

export class Control {
  readonly #options: ControlOptions
  readonly #server: Server
  readonly #ended: string[] = []
  #current: Current | null = null
  #stopping = false

  constructor(options: ControlOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#route(request, response).catch((error: unknown) => {
        this.#options.log.error('request failed', { error: String(error) })
        if (!response.headersSent) answer(response, 500, failure('internal', 'The transcoder could not answer.'))
      })
    })
  }

  async listen(): Promise<string> {
    this.#server.listen(this.#options.port, this.#options.host)
    await once(this.#server, 'listening')
    const { address, port, family } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  }

  /** Takes no new task, gives the running one back, and closes. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#current?.halt.abort(new Halt('interrupted'))
    await this.#current?.ended
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const operation = `${request.method} ${request.url}`
    if (operation === 'GET /health') return answer(response, 200, this.#health())
    if (operation !== 'POST /run' && operation !== 'POST /cancel')
      return answer(response, 404, failure('not_found', 'There is no such address.'))
    if (!this.#admits(request))
      return answer(response, 401, failure('unauthorized', 'The shared secret is missing or wrong.'))
    const body = await readJson(request)
    if (body === undefined) return answer(response, 400, failure('invalid_request', 'The body is not JSON.'))
    return operation === 'POST /run' ? this.#run(body, response) : this.#cancel(body, response)
  }

  async #run(body: unknown, response: ServerResponse): Promise<void> {
    const protocol = (body as { protocol?: unknown } | null)?.protocol
    if (typeof protocol === 'number' && !SUPPORTED_PROTOCOLS.includes(protocol)) {
      const message = `Protocol ${protocol} is not supported; this transcoder speaks ${SUPPORTED_PROTOCOLS.join(', ')}.`
      return answer(response, 400, failure('protocol_mismatch', message))
    }
    const parsed = runRequest.safeParse(body)
    if (!parsed.success) {
      const fields = parsed.error.issues.map((issue) => issue.path.join('.') || 'body').join(', ')
      return answer(response, 400, failure('invalid_request', `These fields are missing or wrong: ${fields}.`))
    }
    const wanted = parsed.data
    const accepted = { task_id: wanted.task_id, attempt: wanted.attempt }
    const key = `${wanted.task_id} ${wanted.attempt}`
    // Queue messages come more than once (I11): the same attempt is started once.
    const known = (): boolean => this.#isCurrent(wanted) || this.#ended.includes(key)
    if (known()) return answer(response, 202, accepted)
    await this.#makeRoom(wanted)
    if (known()) return answer(response, 202, accepted)
    if (this.#stopping) return answer(response, 503, failure('unavailable', 'This transcoder is stopping.'))
    if (this.#current !== null) return answer(response, 503, failure('unavailable', 'This transcoder is busy.'))
    this.#start(wanted, key)
    answer(response, 202, accepted)
  }

  #start(request: RunRequest, key: string): void {
    const current: Current = { request, halt: new AbortController(), ending: false, ended: Promise.resolve() }
    this.#current = current
    current.ended = this.#options
      .run(request, current.halt, () => (current.ending = true))
      .catch((error: unknown) => this.#options.log.error('run rejected', { error: String(error) }))
      .finally(() => {
        this.#current = null
        this.#ended.push(key)
        if (this.#ended.length > REMEMBERED) this.#ended.shift()
      })
  }

  /** Waits for an attempt that is ending; a newer attempt of the same task ends the older one, which is stale by that fact. */
  async #makeRoom(wanted: RunRequest): Promise<void> {
    const current = this.#current
    if (current === null) return
    if (current.request.task_id === wanted.task_id && current.request.attempt < wanted.attempt)
      current.halt.abort(new Halt('stopped'))
    if (!current.ending && !current.halt.signal.aborted) return
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.handoverMs ?? 5000)
    })
    await Promise.race([current.ended, patience])
    clearTimeout(timer)
  }

  #cancel(body: unknown, response: ServerResponse): void {
    const { task_id: taskId, attempt } = (body ?? {}) as { task_id?: unknown; attempt?: unknown }
    if (typeof taskId !== 'string' || typeof attempt !== 'number')
      return answer(response, 400, failure('invalid_request', 'task_id and attempt are needed.'))
    const current = this.#current
    // An attempt that is not here is no error: the heartbeat tells it, wherever it runs.
    if (current?.request.task_id === taskId && current.request.attempt === attempt)
      current.halt.abort(new Halt('cancelled'))
    answer(response, 202, { task_id: taskId, attempt })
  }

  #isCurrent(wanted: RunRequest): boolean {
    return this.#current?.request.task_id === wanted.task_id && this.#current.request.attempt === wanted.attempt
  }

  #health(): Record<string, unknown> {
    const current = this.#current?.request
    return {
      state: this.#stopping ? 'stopping' : current ? 'busy' : 'idle',
      ...(current ? { task_id: current.task_id, attempt: current.attempt } : {}),
      version: this.#options.version,
      ffmpeg: this.#options.ffmpegVersion,
      ...(this.#options.cell === undefined ? {} : { cell: this.#options.cell }),
    }
  }

  #admits(request: IncomingMessage): boolean {
    if (this.#options.secret === null) return true
    const given = request.headers['x-splicepoint-transcoder']
    // Digests have one length, so that the comparison takes the same time for every guess.
    const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
    return timingSafeEqual(digest(typeof given === 'string' ? given : ''), digest(this.#options.secret))
  }
}

function failure(code: string, message: string): unknown {
  return { error: { code, message } }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** undefined when the body is too large or no JSON. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk as Buffer)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
