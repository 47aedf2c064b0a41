// In charge of: one container of the production transcoder: started for one attempt, watched, and destroyed before it could
// serve another.
// Not in charge of: its Durable Object (transcoderContainer.ts), the way out of it (outbound.ts), local transcoders (dispatch.ts).
//
// Written on the low-level container API (`ctx.container`); docs/containers.md says why.
import type { StartFailure } from '#contract/task/lifecycle.ts'
import type { RunRequest } from '#contract/task/protocol.ts'
import { readFacts, type ContainerFacts } from './containerHealth.ts'

/** The attempt that a container works on. */
export interface Serving {
  jobId: string
  task: string
  attempt: number
}

/** Why nothing was started. `detail` is for logs. */
export interface Refusal {
  reason: StartFailure
  detail: string
}

/** What a container needs of its Durable Object. */
export interface Host {
  container: Container
  storage: Pick<DurableObjectStorage, 'get' | 'put' | 'delete' | 'setAlarm'>
  /** Before a start, and again when the Durable Object wakes up: leads the container's requests to the task API. */
  openWayOut(): Promise<void>
  /** Whether the attempt still needs its container. */
  isCurrent(serving: Serving): Promise<boolean>
  /** The container ended while it worked on that attempt. */
  lost(serving: Serving): Promise<void>
}

export interface Limits {
  /** From the start until the attempt is accepted. Less than START_LEASE_MS (transitionTask.ts). */
  startMs: number
  /** One request to the container, and its destruction. */
  callMs: number
  /** Between two looks at whether it already listens. */
  pollMs: number
  /** How often it is asked whether the container is still needed, and still there. */
  checkMs: number
}

const DEFAULTS: Limits = { startMs: 25_000, callMs: 5000, pollMs: 100, checkMs: 30_000 }

/** Where transcoder/main.ts listens in the image. */
export const PORT = 8788
/** A container outlives an eviction of its Durable Object by so long; each check starts it anew. */
const INACTIVITY_MS = 10 * 60_000
/** The name and form that version 0.1 kept it by: containers that ran before a deployment go on. */
const SERVING = 'running'

interface Start {
  serving: Serving
  abort: AbortController
  done: Promise<Refusal | null>
}

export class Instance {
  readonly #host: Host
  readonly #limits: Limits
  #start: Start | null = null

  constructor(host: Host, limits: Partial<Limits> = {}) {
    this.#host = host
    this.#limits = { ...DEFAULTS, ...limits }
  }

  /** The Durable Object came back into memory: its container may have run on, or ended, meanwhile. */
  async resume(): Promise<void> {
    const serving = await this.#serving()
    if (serving === null || !this.#host.container.running) return
    await this.#host.openWayOut()
    this.#watch(serving)
  }

  /**
   * Starts a fresh container for an attempt and hands the attempt over. Repeated for the same attempt, it changes nothing.
   * @returns null when the attempt was accepted
   */
  async run(serving: Serving, request: RunRequest): Promise<Refusal | null> {
    if (this.#start) {
      if (isSame(this.#start.serving, serving)) return this.#start.done
      // The slot was given to another attempt meanwhile.
      this.#start.abort.abort(new Error('another attempt has this slot now'))
      await this.#start.done
    }
    const abort = new AbortController()
    const done = this.#begin(
      serving,
      request,
      AbortSignal.any([abort.signal, AbortSignal.timeout(this.#limits.startMs)]),
    )
      .catch((error: unknown): Refusal => ({ reason: reasonOf(error), detail: String(error) }))
      .finally(() => (this.#start = null))
    this.#start = { serving, abort, done }
    return done
  }

  /** Ends an attempt. A container that does not answer is destroyed: nothing of a cancelled attempt goes on. */
  async cancel(task: string, attempt: number): Promise<void> {
    const matches = (serving: Serving | null): boolean => serving?.task === task && serving.attempt === attempt
    if (matches(this.#start?.serving ?? null)) {
      this.#start?.abort.abort(new Error('the attempt was cancelled'))
      return
    }
    if (!matches(await this.#serving()) || !this.#host.container.running) return
    try {
      const response = await this.#ask('/cancel', { task_id: task, attempt })
      if (response.ok) return
    } catch {
      // It is frozen, or about to end.
    }
    if (matches(await this.#serving())) await this.#destroy()
  }

  /** At least every `checkMs` while there is a container: notices one that ended unseen, and ends one that nobody needs. */
  async check(): Promise<void> {
    const { container } = this.#host
    const serving = await this.#serving()
    if (serving !== null && !container.running) return this.#ended(serving)
    if (!container.running && !this.#start) return
    const needed = this.#start !== null || (serving !== null && (await this.#host.isCurrent(serving)))
    if (!needed) return this.#destroy()
    await this.#armed()
  }

  /** What runs now, as it says itself. @throws Error when it does not answer in time */
  async look(): Promise<ContainerFacts> {
    const { container } = this.#host
    if (!container.running) return { running: false, transcoder: null }
    const response = await this.#get('/health', AbortSignal.timeout(this.#limits.callMs))
    return { running: true, transcoder: await readFacts(response) }
  }

  async #begin(serving: Serving, request: RunRequest, signal: AbortSignal): Promise<Refusal | null> {
    const { container, storage } = this.#host
    const before = await this.#serving()
    if (before === null || !isSame(before, serving) || !container.running) {
      // What a hostile file may have left behind must not meet the next attempt (I14), and a frozen container not the next
      // attempt of the same task. The record goes first: whoever sees this container end knows that it was meant to.
      await this.#destroy()
      await this.#host.openWayOut()
      await this.#armed()
      container.start({ enableInternet: false })
      await this.#armed()
      await this.#listening(signal)
    }
    const response = await this.#ask('/run', request, signal)
    if (response.status !== 202) {
      return { reason: 'refused', detail: `it answered ${response.status}: ${(await response.text()).slice(0, 200)}` }
    }
    await storage.put<Serving>(SERVING, serving)
    this.#watch(serving)
    return null
  }

  /** @throws Error when the container ended instead, or `signal` fired before it listened */
  async #listening(signal: AbortSignal): Promise<void> {
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
      await Promise.race([ended, scheduler.wait(this.#limits.pollMs)])
    }
  }

  #watch(serving: Serving): void {
    const ended = (): Promise<void> => this.#ended(serving)
    void this.#host.container.monitor().then(ended, ended).catch(tell)
  }

  async #ended(serving: Serving): Promise<void> {
    const now = await this.#serving()
    if (now === null || !isSame(now, serving)) return
    // Whoever deletes it tells: the watch and a check may see the same end.
    if (await this.#host.storage.delete(SERVING)) await this.#host.lost(serving)
  }

  async #destroy(): Promise<void> {
    await this.#host.storage.delete(SERVING)
    if (this.#host.container.running) await bounded(this.#host.container.destroy(), this.#limits.callMs)
  }

  async #serving(): Promise<Serving | null> {
    return (await this.#host.storage.get<Serving>(SERVING)) ?? null
  }

  async #armed(): Promise<void> {
    const { container, storage } = this.#host
    await storage.setAlarm(Date.now() + this.#limits.checkMs)
    if (container.running) await bounded(container.setInactivityTimeout(INACTIVITY_MS), this.#limits.callMs).catch(tell)
  }

  #get(path: string, signal: AbortSignal): Promise<Response> {
    return this.#fetch(path, {}, signal)
  }

  #ask(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return this.#fetch(path, init, signal)
  }

  #fetch(path: string, init: RequestInit, signal?: AbortSignal): Promise<Response> {
    const limit = AbortSignal.timeout(this.#limits.callMs)
    const request = this.#host.container.getTcpPort(PORT).fetch(`http://transcoder${path}`, {
      ...init,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    // A connection to a frozen container may not heed its signal.
    return bounded(request, this.#limits.callMs)
  }
}

function isSame(a: Serving, b: Serving): boolean {
  return a.task === b.task && a.attempt === b.attempt
}

/** The platform says it in words only. */
function reasonOf(error: unknown): StartFailure {
  return /no container instance|too many containers|max(imum)? .*instances/i.test(String(error))
    ? 'no_capacity'
    : 'no_answer'
}

async function bounded<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: number | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer ?? null)
    // Whatever it says later is of no use to anybody.
    work.catch(() => undefined)
  }
}

function tell(error: unknown): void {
  console.error(JSON.stringify({ level: 'warn', msg: 'container', error: String(error) }))
}
