// In charge of: what an abort of the attempt ends at once, and what may continue for a while.
// Not in charge of: who aborts it (server/, progress.ts).
import { AttemptAbort } from '../errors.ts'

/**
 * When the process has to end, a commit in progress gets this long: half of the time within which the process has to
 * exit.
 */
const COMMIT_GRACE_MS = 5000

/** Waits for `wanted` until `signal` aborts. */
export async function raceAbort<T>(pending: T | Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const interruption = Promise.withResolvers<never>()
  const stop = (): void => interruption.reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([pending, interruption.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/**
 * An abort ends a commit in progress at once, except when the process has to end: then the commit may still succeed.
 */
export function commitSignal(attemptSignal: AbortSignal): AbortSignal {
  const commit = new AbortController()
  const stop = (): void => {
    const patient = attemptSignal.reason instanceof AttemptAbort && attemptSignal.reason.kind === 'interrupted'
    setTimeout(() => commit.abort(attemptSignal.reason), patient ? COMMIT_GRACE_MS : 0).unref()
  }
  if (attemptSignal.aborted) stop()
  else attemptSignal.addEventListener('abort', stop, { once: true })
  return commit.signal
}
