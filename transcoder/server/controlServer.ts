// In charge of: the HTTP server through which the Worker starts and cancels attempts; that one attempt runs at a time.
// Not in charge of: the work of an attempt (runTask.ts), what happens to it when the process has to end
// (drain.ts).
import type { AttemptOutlook } from '../attempt.ts'
import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registration } from '#contract/task/registration.ts'
import { runRequestSchema, SERVICE_UNREACHABLE, TASK_PROTOCOL, type RunRequest } from '#contract/task/protocol.ts'
import { drain, type DrainableAttempt } from './drain.ts'
import { AttemptAbort } from '../errors.ts'
import type { SandboxReport } from '../ffmpeg/sandboxProbe.ts'
import type { Log } from '../log.ts'

/** Runs one attempt to its end. Never rejects: the result was reported to the Worker. */
export type RunAttempt = (request: RunRequest, controller: AbortController, outlook: AttemptOutlook) => Promise<void>

/** What is known of ffmpeg after the startup checks. */
export interface EngineInfo {
  version: string
  /** The sandbox in which ffmpeg runs. */
  sandbox?: SandboxReport
}

export interface ControlServerOptions {
  port: number
  secret: string | null
  version: string
  /** Name of this process: the service can tell it from another process at the same address. */
  instance: string
  /** An attempt that arrives earlier is accepted, and waits for this. Rejects if ffmpeg cannot be used. */
  engine: Promise<EngineInfo>
  run: RunAttempt
  /** Why the attempt could not reach the service, as a sentence; null = it can. */
  whyUnreachable: (request: RunRequest) => Promise<string | null>
  log: Log
  /** How long a new task waits for one that is ending or being cancelled, in milliseconds. */
  handoverMs?: number
}

interface RunningAttempt extends DrainableAttempt {
  request: RunRequest
}

const MAX_BODY_BYTES = 64 * 1024
/** How many ended attempts are remembered, to recognise repeated messages. */
const MAX_RECENT_ATTEMPTS = 32

export class ControlServer {
  readonly #options: ControlServerOptions
  readonly #server: Server
  readonly #recentAttempts: string[] = []
  readonly #drainAbort = new AbortController()
  #current: RunningAttempt | null = null
  #engine: EngineInfo | null = null
  /** Why ffmpeg cannot be used. */
  #unusable: string | null = null
  #stopping: Promise<void> | null = null

  constructor(options: ControlServerOptions) {
    this.#options = options
    options.engine.then(
      (facts) => (this.#engine = facts),
      (error: unknown) => (this.#unusable = error instanceof Error ? error.message : String(error)),
    )
    this.#server = createServer((request, response) => {
      this.#route(request, response).catch((error: unknown) => {
        this.#options.log.error('request failed', { error: String(error) })
        if (!response.headersSent) sendJson(response, 500, errorBody('internal', 'The transcoder could not answer.'))
      })
    })
  }

  async listen(host: string): Promise<string> {
    this.#server.listen(this.#options.port, host)
    await once(this.#server, 'listening')
    const { address, port, family } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  }

  /**
   * Accepts no new task, and closes once the running attempt has ended: the attempt may finish if that is expected
   * within `seconds`, otherwise it is given back. A second call waits with the first.
   */
  stop(seconds: number): Promise<void> {
    this.#stopping ??= this.#stop(seconds)
    return this.#stopping
  }

  /** For the registration at the service. */
  report(): Pick<Registration, 'state' | 'ffmpeg'> {
    return { state: this.#stopping === null ? 'ready' : 'draining', ffmpeg: this.#engine?.version ?? null }
  }

  /** Stops waiting: the running attempt is given back now. */
  hurry(): void {
    this.#drainAbort.abort()
  }

  /** Waits until the running attempt has ended, and closes. */
  async close(): Promise<void> {
    await this.#current?.done
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #stop(seconds: number): Promise<void> {
    const { log } = this.#options
    if (this.#current !== null) await drain(this.#current, { seconds, urgentSignal: this.#drainAbort.signal, log })
    await this.close()
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const operation = `${request.method} ${request.url}`
    if (operation === 'GET /health') return sendJson(response, this.#unusable === null ? 200 : 503, this.#health())
    if (operation !== 'POST /run' && operation !== 'POST /cancel')
      return sendJson(response, 404, errorBody('not_found', 'This address does not exist.'))
    if (!this.#isAuthorized(request))
      return sendJson(response, 401, errorBody('unauthorized', 'The shared secret is missing or wrong.'))
    const body = await readJson(request)
    if (body === undefined) return sendJson(response, 400, errorBody('invalid_request', 'The body is not JSON.'))
    return operation === 'POST /run' ? this.#run(body, response) : this.#cancel(body, response)
  }

  async #run(body: unknown, response: ServerResponse): Promise<void> {
    const protocol = (body as { protocol?: unknown } | null)?.protocol
    if (typeof protocol === 'number' && protocol !== TASK_PROTOCOL) {
      const message = `Protocol ${protocol} is not supported; this transcoder supports ${TASK_PROTOCOL}.`
      return sendJson(response, 400, errorBody('protocol_mismatch', message))
    }
    const parsed = runRequestSchema.safeParse(body)
    if (!parsed.success) {
      const fields = parsed.error.issues.map((issue) => issue.path.join('.') || 'body').join(', ')
      return sendJson(response, 400, errorBody('invalid_request', `These fields are missing or wrong: ${fields}.`))
    }
    const wanted = parsed.data
    const accepted = { task_id: wanted.task_id, attempt: wanted.attempt }
    const key = `${wanted.task_id} ${wanted.attempt}`
    // Queue messages can be delivered more than once (I11): the same attempt is started once.
    const known = (): boolean => this.#isCurrent(wanted) || this.#recentAttempts.includes(key)
    if (known()) return sendJson(response, 202, accepted)
    this.#cancelOlderAttempt(wanted)
    if (this.#rejectsTasks(response)) return
    const [unreachable] = await Promise.all([this.#options.whyUnreachable(wanted), this.#waitForEnding()])
    if (unreachable !== null) {
      this.#options.log.warn('task refused', { error: unreachable })
      return sendJson(response, 503, errorBody(SERVICE_UNREACHABLE, unreachable))
    }
    if (known()) return sendJson(response, 202, accepted)
    if (this.#rejectsTasks(response)) return
    if (this.#current !== null) return sendJson(response, 503, errorBody('unavailable', 'This transcoder is busy.'))
    this.#start(wanted, key)
    sendJson(response, 202, accepted)
  }

  /** Responds if no task is accepted any more. */
  #rejectsTasks(response: ServerResponse): boolean {
    if (this.#unusable !== null)
      sendJson(response, 503, errorBody('unavailable', `This transcoder cannot be used. ${this.#unusable}`))
    else if (this.#stopping !== null) sendJson(response, 503, errorBody('stopping', 'This transcoder is stopping.'))
    else return false
    return true
  }

  #start(request: RunRequest, key: string): void {
    const current: RunningAttempt = {
      request,
      controller: new AbortController(),
      isCommitting: false,
      remainingSeconds: () => null,
      done: Promise.resolve(),
    }
    this.#current = current
    current.done = this.#options
      .run(request, current.controller, {
        onCommitting: () => (current.isCommitting = true),
        setEstimator: (remainingSeconds) => (current.remainingSeconds = remainingSeconds),
      })
      .catch((error: unknown) => this.#options.log.error('run rejected', { error: String(error) }))
      .finally(() => {
        this.#current = null
        this.#recentAttempts.push(key)
        if (this.#recentAttempts.length > MAX_RECENT_ATTEMPTS) this.#recentAttempts.shift()
      })
  }

  /** A request for a newer attempt of the same task means that the older one is stale. */
  #cancelOlderAttempt(wanted: RunRequest): void {
    const current = this.#current
    if (current?.request.task_id === wanted.task_id && current.request.attempt < wanted.attempt)
      current.controller.abort(new AttemptAbort('stopped'))
  }

  /** Waits for an attempt that is ending. */
  async #waitForEnding(): Promise<void> {
    const current = this.#current
    if (current === null || (!current.isCommitting && !current.controller.signal.aborted)) return
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.handoverMs ?? 5000)
    })
    await Promise.race([current.done, timeout])
    clearTimeout(timer)
  }

  #cancel(body: unknown, response: ServerResponse): void {
    const { task_id: taskId, attempt } = (body ?? {}) as { task_id?: unknown; attempt?: unknown }
    if (typeof taskId !== 'string' || typeof attempt !== 'number')
      return sendJson(response, 400, errorBody('invalid_request', 'task_id and attempt are needed.'))
    const current = this.#current
    // An attempt that does not run here is no error: the answer to its heartbeat cancels it, wherever it runs.
    if (current?.request.task_id === taskId && current.request.attempt === attempt)
      current.controller.abort(new AttemptAbort('cancelled'))
    sendJson(response, 202, { task_id: taskId, attempt })
  }

  #isCurrent(wanted: RunRequest): boolean {
    return this.#current?.request.task_id === wanted.task_id && this.#current.request.attempt === wanted.attempt
  }

  #health(): Record<string, unknown> {
    const current = this.#current?.request
    return {
      state: this.#state(),
      ...(current ? { task_id: current.task_id, attempt: current.attempt } : {}),
      version: this.#options.version,
      instance: this.#options.instance,
      ffmpeg: this.#engine?.version ?? null,
      ...(this.#engine?.sandbox === undefined ? {} : { sandbox: this.#engine.sandbox }),
      ...(this.#unusable === null ? {} : { error: this.#unusable }),
    }
  }

  /** preparing: ffmpeg is being checked; a task is accepted already. */
  #state(): 'unusable' | 'draining' | 'busy' | 'preparing' | 'idle' {
    if (this.#unusable !== null) return 'unusable'
    if (this.#stopping !== null) return 'draining'
    if (this.#current !== null) return 'busy'
    return this.#engine === null ? 'preparing' : 'idle'
  }

  #isAuthorized(request: IncomingMessage): boolean {
    if (this.#options.secret === null) return true
    const given = request.headers['x-splicepoint-transcoder']
    // Digests have equal lengths, so that the comparison takes the same time for every guess.
    const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
    return timingSafeEqual(digest(typeof given === 'string' ? given : ''), digest(this.#options.secret))
  }
}

function errorBody(code: string, message: string): unknown {
  return { error: { code, message } }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** undefined if the body is too large or not JSON. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const blocks: Buffer[] = []
  let size = 0
  for await (const block of request) {
    size += (block as Buffer).length
    if (size > MAX_BODY_BYTES) return undefined
    blocks.push(block as Buffer)
  }
  try {
    return JSON.parse(Buffer.concat(blocks).toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
