// In charge of: registering this transcoder at the service, again and again until it leaves: the service forgets a
// transcoder that falls silent.
// Not in charge of: what the service makes of it (worker/taskApi/registerTranscoder.ts), attempts (server/controlServer.ts).
import { isIPv6 } from 'node:net'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import {
  REGISTRATION_MS,
  registrationPath,
  type Registration,
  type RegistrationReply,
} from '#contract/task/registration.ts'
import type { Log } from '../log.ts'
import type { RegistrationSettings } from '../settings.ts'
import { findOwnAddress } from './ownAddress.ts'

export interface RegistrarOptions extends RegistrationSettings {
  /** Where this transcoder listens. */
  listenUrl: string
  instance: string
  version: string
  /** The state of this moment. */
  report: () => Pick<Registration, 'state' | 'ffmpeg'>
  log: Log
}

/** The service may ask the transcoder's address back before it answers. */
const ANSWER_MS = 15_000
const LEAVE_MS = 3_000
const FIRST_RETRY_MS = 500
/** A service that is back has its transcoders within this time. */
const LONGEST_RETRY_MS = 10_000
const [LEAST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 60_000]

export class Registrar {
  readonly #options: RegistrarOptions
  readonly #id: string
  #url = ''
  readonly #left = new AbortController()
  /** Ends the current request. */
  readonly #cut = new AbortController()
  /** Ends the current pause. */
  #wake = new AbortController()
  #running: Promise<void> | null = null
  /** What was logged last. */
  #said = ''

  constructor(options: RegistrarOptions) {
    this.#options = options
    this.#id = options.id ?? defaultId(options.listenUrl)
  }

  start(): void {
    this.#running ??= this.#repeat()
  }

  /** Registers now, with the state of this moment. */
  renew(): void {
    this.#wake.abort()
  }

  /** Takes the registration back. The service would forget this transcoder anyway. */
  async leave(): Promise<void> {
    this.#left.abort()
    this.#wake.abort()
    if (this.#running === null) return
    // A request that arrives after the last one would bring the registration back.
    const timer = setTimeout(() => this.#cut.abort(), LEAVE_MS)
    await this.#running
    clearTimeout(timer)
    if (this.#url === '') return
    try {
      const answer = await this.#call('DELETE', { instance: this.#options.instance }, AbortSignal.timeout(LEAVE_MS))
      await answer.body?.cancel()
      this.#options.log.info('deregistered', { transcoder: this.#id })
    } catch (error) {
      this.#options.log.warn('not deregistered', { transcoder: this.#id, error: reasonOf(error) })
    }
  }

  async #repeat(): Promise<void> {
    this.#url = await this.#ownUrl().catch(() => '')
    let failures = 0
    while (!this.#left.signal.aborted) {
      this.#wake = new AbortController()
      let nextMs: number
      try {
        nextMs = this.#accepted(await this.#register())
        failures = 0
      } catch (error) {
        const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures++, 10))
        nextMs = longest * (0.5 + Math.random() / 2)
        this.#sayOnce('warn', 'not registered', { error: reasonOf(error) })
      }
      await pause(nextMs, undefined, { signal: this.#wake.signal }).catch(() => undefined)
    }
  }

  /** The address of this transcoder on the interface that leads to the service. */
  async #ownUrl(): Promise<string> {
    const { advertiseUrl, listenUrl, log, serviceUrl } = this.#options
    if (advertiseUrl !== null) return advertiseUrl
    const { hostname: host, port } = new URL(listenUrl)
    if (host !== '0.0.0.0' && host !== '[::]') return listenUrl
    const address = await findOwnAddress(serviceUrl, log, this.#left.signal)
    return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`
  }

  #accepted({ slot, state, problem, next_ms: nextMs }: RegistrationReply): number {
    if (problem === null) this.#sayOnce('info', 'registered', { slot, url: this.#url, state })
    else this.#sayOnce('warn', 'registered, but gets no jobs', { slot, url: this.#url, state, problem })
    return Math.min(LONGEST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, nextMs || REGISTRATION_MS))
  }

  /** A line for every change, not for every repetition. */
  #sayOnce(level: 'info' | 'warn', text: string, fields: Record<string, string | number>): void {
    const said = JSON.stringify([text, fields])
    if (said !== this.#said) this.#options.log[level](text, { transcoder: this.#id, ...fields })
    this.#said = said
  }

  async #register(): Promise<RegistrationReply> {
    const { instance, version, report } = this.#options
    const { state, ffmpeg } = report()
    const body: Registration = { instance, url: this.#url, protocol: TASK_PROTOCOL, version, state, ffmpeg }
    const signal = AbortSignal.any([this.#cut.signal, AbortSignal.timeout(ANSWER_MS)])
    const answer = await this.#call('PUT', body, signal)
    if (answer.status === 200) return (await answer.json()) as RegistrationReply
    const text = await answer.text()
    const location = answer.headers.get('location')
    if (location !== null) throw new Error(`it redirects to ${location}: set SERVICE_URL to that address`)
    throw new Error(messageIn(text) ?? `it answered ${answer.status}: ${text.slice(0, 200)}`)
  }

  /** A redirect is not followed: the secret goes to no other address. */
  #call(method: 'PUT' | 'DELETE', body: object, signal: AbortSignal): Promise<Response> {
    return fetch(this.#options.serviceUrl + registrationPath(this.#id), {
      method,
      headers: { authorization: `Bearer ${this.#options.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal,
    })
  }
}

/** The host name, in the letters of an id, and the port: several transcoders of one machine differ. */
function defaultId(listenUrl: string): string {
  const name = hostname()
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 50)
  return `${name || 'transcoder'}-${new URL(listenUrl).port}`
}

/** The message of an error answer of the service. */
function messageIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    return typeof error?.message === 'string' ? error.message : null
  } catch {
    return null
  }
}

/** undici hides the reason of "fetch failed" in its cause. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'the service does not answer'
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message || ((cause as NodeJS.ErrnoException).code ?? cause.name) : String(cause)
}
