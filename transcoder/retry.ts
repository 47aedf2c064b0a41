// In charge of: trying again, with back-off and jitter, within a bounded time.
// Not in charge of: which errors are worth it. Only `Transient` ones are tried again.
import { setTimeout as pause } from 'node:timers/promises'

/** A failure that may pass: a network error, 5xx, 429, a stall. `final` is what is thrown when time is up. */
export class Transient extends Error {
  readonly final: Error
  /** Milliseconds that the other side asked us to wait; null = not said. */
  readonly retryAfterMs: number | null
  constructor(final: Error, retryAfterMs: number | null = null) {
    super(final.message, { cause: final })
    this.name = 'Transient'
    this.final = final
    this.retryAfterMs = retryAfterMs
  }
}

export interface Backoff {
  /** First pause; doubles up to `maxMs`. Each is drawn between half and all of it, so that many clients do not come back at once. */
  baseMs: number
  maxMs: number
}

export const defaultBackoff: Backoff = { baseMs: 200, maxMs: 5000 }

/** Milliseconds to wait before try number `tries` + 1 (`tries` ≥ 1). */
export function backoffMs(backoff: Backoff, tries: number, random: () => number = Math.random): number {
  const full = Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(tries - 1, 20))
  return full / 2 + (full / 2) * random()
}

/** Runs `operation` until it succeeds, fails for good, is aborted, or `totalMs` would be passed by the next pause. */
export async function retry<T>(
  limits: { totalMs: number; backoff: Backoff; signal: AbortSignal },
  operation: (tries: number) => Promise<T>,
): Promise<T> {
  const started = performance.now()
  for (let tries = 1; ; tries++) {
    limits.signal.throwIfAborted()
    try {
      return await operation(tries)
    } catch (error) {
      limits.signal.throwIfAborted()
      if (!(error instanceof Transient)) throw error
      const wait = Math.max(error.retryAfterMs ?? 0, backoffMs(limits.backoff, tries))
      if (performance.now() - started + wait > limits.totalMs) throw error.final
      await rest(wait, limits.signal)
    }
  }
}

/** A pause that an abort ends at once, throwing the abort's reason. */
export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal })
  } catch {
    signal.throwIfAborted()
  }
}
