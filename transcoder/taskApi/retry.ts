// In charge of: retries with back-off and jitter, within a limited time.
// Not in charge of: which errors are worth a retry. Only `TransientError` is retried.
import { setTimeout as pause } from 'node:timers/promises'
import { isConnectionError, CONNECTION_RETRY_MS } from '#contract/errorCodes.ts'
import { TaskError } from '#contract/taskError.ts'

/**
 * A failure that a retry may resolve: a network error, 5xx, 429, a stall. `finalError` is thrown when the time for
 * retries is over.
 */
export class TransientError extends Error {
  readonly finalError: Error
  /** Milliseconds of the Retry-After header; null = not stated. */
  readonly retryAfterMs: number | null
  /** The service itself answered, and said that the source or the store is unavailable. */
  readonly isUpstream: boolean
  constructor(finalError: Error, retryAfterMs: number | null = null, isUpstream = false) {
    super(finalError.message, { cause: finalError })
    this.name = 'Transient'
    this.finalError = finalError
    this.retryAfterMs = retryAfterMs
    this.isUpstream = isUpstream
  }
}

export interface Backoff {
  /**
   * First pause; doubles up to `maxMs`. Each pause is random between half and all of it, so that many clients do not
   * return at once.
   */
  baseMs: number
  maxMs: number
}

export const defaultBackoff: Backoff = { baseMs: 200, maxMs: 5000 }

/**
 * Retry time before anything is encoded. If the source or the store stays unavailable, the task then waits in the
 * queue, where it occupies no transcoder.
 */
export const UPSTREAM_RETRY_MS = 8000

export interface RetryPolicy {
  /** Time for all tries together; 0 = one try. */
  totalMs: number
  /** The same for a source or store that is unavailable; absent = `totalMs`. */
  upstreamMs?: number | undefined
  /** How long an error that retries rarely resolve must last before it is reported (default 60,000). */
  connectionRetryMs?: number | undefined
  backoff: Backoff
}

/** Milliseconds to wait before try number `tries` + 1 (`tries` ≥ 1). */
export function backoffMs(backoff: Backoff, tries: number, random: () => number = Math.random): number {
  const full = Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(tries - 1, 20))
  return full / 2 + (full / 2) * random()
}

/** The failures since the last success. */
export class RetryState {
  readonly #policy: RetryPolicy
  readonly #now: () => number
  #since: number | null = null
  #tries = 0
  #connectionError: { code: string; since: number } | null = null
  #error: TransientError | null = null

  constructor(policy: RetryPolicy, now: () => number = () => performance.now()) {
    this.#policy = policy
    this.#now = now
  }

  /** The latest failure; null = none since the last success. */
  get error(): TransientError | null {
    return this.#error
  }

  reset(): void {
    this.#since = null
    this.#tries = 0
    this.#connectionError = null
    this.#error = null
  }

  /** Records one more failure. @returns milliseconds to wait before the next try; null = it has lasted too long */
  nextDelay(error: TransientError): number | null {
    const { totalMs, upstreamMs = totalMs, connectionRetryMs = CONNECTION_RETRY_MS, backoff } = this.#policy
    const now = this.#now()
    this.#since ??= now
    this.#tries++
    this.#error = error
    const code =
      error.finalError instanceof TaskError && isConnectionError(error.finalError.code) ? error.finalError.code : null
    if (code === null) this.#connectionError = null
    else if (this.#connectionError?.code !== code) this.#connectionError = { code, since: now }
    const wait = Math.max(error.retryAfterMs ?? 0, backoffMs(backoff, this.#tries))
    // A job fails with a connection error, so the same one must have lasted for `connectionRetryMs`; the duration of
    // other errors before it does not count.
    const [since, limit] =
      this.#connectionError !== null && totalMs > 0
        ? [this.#connectionError.since, connectionRetryMs]
        : [this.#since, error.isUpstream ? Math.min(upstreamMs, totalMs) : totalMs]
    return now + wait - since > limit ? null : wait
  }
}

/** Runs `operation` until it succeeds, fails permanently, is aborted, or the next pause would exceed the time limit. */
export async function retry<T>(
  policy: RetryPolicy & { signal: AbortSignal },
  operation: (tries: number) => Promise<T>,
): Promise<T> {
  const state = new RetryState(policy)
  for (let tries = 1; ; tries++) {
    policy.signal.throwIfAborted()
    try {
      return await operation(tries)
    } catch (error) {
      policy.signal.throwIfAborted()
      if (!(error instanceof TransientError)) throw error
      const wait = state.nextDelay(error)
      if (wait === null) throw error.finalError
      await sleep(wait, policy.signal)
    }
  }
}

/** A pause that an abort ends at once, throwing the abort's reason. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal })
  } catch {
    signal.throwIfAborted()
  }
}
