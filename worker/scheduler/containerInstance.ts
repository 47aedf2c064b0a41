// In charge of: one container of the production transcoder: started for one attempt, watched, and destroyed before it
// can serve another attempt.
// Not in charge of: its Durable Object (transcoderContainer.ts), its outgoing requests (taskApi/outbound.ts), local
// transcoders (dispatch.ts).
//
// Uses the low-level container API (`ctx.container`); docs/internals/containers.md says why.
import { log } from '../log.ts'
import type { StartFailure } from '#contract/task/lifecycle.ts'
import type { RunRequest } from '#contract/task/protocol.ts'
import { readTranscoderHealth, type ContainerHealth } from './containerHealth.ts'

/** The attempt that a container works on. */
export interface ContainerAttempt {
  jobId: string
  task: string
  attempt: number
}

/** Why no attempt was started. `detail` is for logs. */
export interface StartRefusal {
  reason: StartFailure
  detail: string
}

/** What a container needs of its Durable Object. */
export interface ContainerHost {
  container: Container
  storage: Pick<DurableObjectStorage, 'get' | 'put' | 'delete' | 'setAlarm'>
  /** Routes the container's requests to the task API. Called before a start and when the Durable Object wakes up. */
  routeOutbound(): Promise<void>
  /** Whether the attempt still needs its container. */
  isCurrent(serving: ContainerAttempt): Promise<boolean>
  /** The container ended while it worked on that attempt. */
  attemptLost(serving: ContainerAttempt): Promise<void>
}

export interface ContainerTimeouts {
  /** One request to the container, and its destruction. */
  callTimeoutMs: number
  /** Interval of the checks whether the container accepts connections. */
  pollIntervalMs: number
  /** Interval of the checks whether the container still runs and is still needed. */
  checkIntervalMs: number
}

const DEFAULTS: ContainerTimeouts = { callTimeoutMs: 5000, pollIntervalMs: 100, checkIntervalMs: 30_000 }

/** The port of transcoder/main.ts in the image. */
export const CONTAINER_PORT = 8788
/** A container survives an eviction of its Durable Object for this long; each check restarts the period. */
const INACTIVITY_MS = 10 * 60_000
const SERVING_KEY = 'serving'

interface PendingStart {
  serving: ContainerAttempt
  abort: AbortController
  done: Promise<StartRefusal | null>
}

export class ContainerInstance {
  readonly #host: ContainerHost
  readonly #limits: ContainerTimeouts
  #pendingStart: PendingStart | null = null

  constructor(host: ContainerHost, limits: Partial<ContainerTimeouts> = {}) {
    this.#host = host
    this.#limits = { ...DEFAULTS, ...limits }
  }

  /** The Durable Object was loaded again: meanwhile its container may have continued or ended. */
  async reattach(): Promise<void> {
    const serving = await this.#currentAttempt()
    if (serving === null || !this.#host.container.running) return
    await this.#host.routeOutbound()
    this.#monitorContainer(serving)
  }

  /**
   * Starts a new container for an attempt and hands the attempt over. Repeating it for the same attempt has no effect.
   * @param startTimeoutMs the limit from now until the container has accepted the attempt
   * @returns null when the attempt was accepted
   */
  async startAttempt(
    serving: ContainerAttempt,
    request: RunRequest,
    startTimeoutMs: number,
  ): Promise<StartRefusal | null> {
    if (this.#pendingStart) {
      if (isSame(this.#pendingStart.serving, serving)) return this.#pendingStart.done
      // The slot was assigned to another attempt meanwhile.
      this.#pendingStart.abort.abort(new Error('another attempt has this slot now'))
      await this.#pendingStart.done
    }
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(startTimeoutMs)])
    const done = this.#begin(serving, request, signal)
      .catch((error: unknown): StartRefusal => ({ reason: startFailureReason(error), detail: String(error) }))
      .finally(() => (this.#pendingStart = null))
    this.#pendingStart = { serving, abort, done }
    return done
  }

  /** Ends an attempt. A container that does not answer is destroyed, so that nothing of the attempt continues. */
  async cancel(task: string, attempt: number): Promise<void> {
    const matches = (serving: ContainerAttempt | null): boolean => serving?.task === task && serving.attempt === attempt
    if (matches(this.#pendingStart?.serving ?? null)) {
      this.#pendingStart?.abort.abort(new Error('the attempt was cancelled'))
      return
    }
    if (!matches(await this.#currentAttempt()) || !this.#host.container.running) return
    try {
      const response = await this.#post('/cancel', { task_id: task, attempt })
      if (response.ok) return
    } catch {
      // It is frozen or about to exit.
    }
    if (matches(await this.#currentAttempt())) await this.#destroy()
  }

  /** Runs at least every `checkIntervalMs` while there is a container: reports one that has ended, destroys an unneeded one. */
  async checkAlive(): Promise<void> {
    const { container } = this.#host
    const serving = await this.#currentAttempt()
    if (serving !== null && !container.running) return this.#onContainerEnded(serving)
    if (!container.running && !this.#pendingStart) return
    const needed = this.#pendingStart !== null || (serving !== null && (await this.#host.isCurrent(serving)))
    if (!needed) return this.#destroy()
    await this.#setCheckAlarm()
  }

  /** The transcoder's own health report. @throws Error when it does not answer in time */
  async health(): Promise<ContainerHealth> {
    const { container } = this.#host
    if (!container.running) return { running: false, transcoder: null }
    const response = await this.#get('/health', AbortSignal.timeout(this.#limits.callTimeoutMs))
    return { running: true, transcoder: await readTranscoderHealth(response) }
  }

  async #begin(serving: ContainerAttempt, request: RunRequest, signal: AbortSignal): Promise<StartRefusal | null> {
    const { container, storage } = this.#host
    const before = await this.#currentAttempt()
    if (before === null || !isSame(before, serving) || !container.running) {
      // A new attempt must not meet what a hostile file left behind (I14); nor may a repeated attempt get a frozen
      // container. The record is deleted first, so that the end of this container is not reported as a lost attempt.
      await this.#destroy()
      await this.#host.routeOutbound()
      await this.#setCheckAlarm()
      container.start({ enableInternet: false })
      await this.#setCheckAlarm()
      await this.#untilListening(signal)
    }
    const response = await this.#post('/run', request, signal)
    if (response.status !== 202) {
      return { reason: 'refused', detail: `it answered ${response.status}: ${(await response.text()).slice(0, 200)}` }
    }
    await storage.put<ContainerAttempt>(SERVING_KEY, serving)
    this.#monitorContainer(serving)
    return null
  }

  /** @throws Error when the container ended, or `signal` fired, before it accepted connections */
  async #untilListening(signal: AbortSignal): Promise<void> {
    const ended = this.#host.container.monitor().then(
      () => new Error('the container ended before it listened'),
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    )
    for (;;) {
      const answer = await Promise.race([
        ended,
        this.#get('/health', signal).then(
          (response) => response.ok,
          () => false,
        ),
      ])
      if (answer === true) return
      if (answer instanceof Error) throw answer
      signal.throwIfAborted()
      await Promise.race([ended, scheduler.wait(this.#limits.pollIntervalMs)])
    }
  }

  #monitorContainer(serving: ContainerAttempt): void {
    const ended = (): Promise<void> => this.#onContainerEnded(serving)
    void this.#host.container.monitor().then(ended, ended).catch(logError)
  }

  async #onContainerEnded(serving: ContainerAttempt): Promise<void> {
    const now = await this.#currentAttempt()
    if (now === null || !isSame(now, serving)) return
    // The monitor and a check may both see the same end. Only the one that deletes the record reports it.
    if (await this.#host.storage.delete(SERVING_KEY)) await this.#host.attemptLost(serving)
  }

  async #destroy(): Promise<void> {
    await this.#host.storage.delete(SERVING_KEY)
    if (this.#host.container.running) await withTimeout(this.#host.container.destroy(), this.#limits.callTimeoutMs)
  }

  async #currentAttempt(): Promise<ContainerAttempt | null> {
    return (await this.#host.storage.get<ContainerAttempt>(SERVING_KEY)) ?? null
  }

  async #setCheckAlarm(): Promise<void> {
    const { container, storage } = this.#host
    await storage.setAlarm(Date.now() + this.#limits.checkIntervalMs)
    if (container.running)
      await withTimeout(container.setInactivityTimeout(INACTIVITY_MS), this.#limits.callTimeoutMs).catch(logError)
  }

  #get(path: string, signal: AbortSignal): Promise<Response> {
    return this.#fetch(path, {}, signal)
  }

  #post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return this.#fetch(path, init, signal)
  }

  #fetch(path: string, init: RequestInit, signal?: AbortSignal): Promise<Response> {
    const limit = AbortSignal.timeout(this.#limits.callTimeoutMs)
    const request = this.#host.container.getTcpPort(CONTAINER_PORT).fetch(`http://transcoder${path}`, {
      ...init,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    // A request to a frozen container may ignore its abort signal.
    return withTimeout(request, this.#limits.callTimeoutMs)
  }
}

function isSame(a: ContainerAttempt, b: ContainerAttempt): boolean {
  return a.task === b.task && a.attempt === b.attempt
}

/** The platform gives no error code: only the text of the message tells the cases apart. */
function startFailureReason(error: unknown): StartFailure {
  return /no container instance|too many containers|max(imum)? .{0,100}instances/i.test(String(error))
    ? 'no_capacity'
    : 'no_answer'
}

async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: number | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer ?? null)
    // Its later result or error is ignored.
    work.catch(() => undefined)
  }
}

function logError(error: unknown): void {
  log.warn('container', { error: String(error) })
}
