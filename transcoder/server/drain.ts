// In charge of: what happens to the running attempt when the process has to end: whether it may finish, and when it is
// given back instead.
// Not in charge of: predicting its remaining time (pipeline/progress.ts), giving it back (pipeline/runTask.ts), signals
// and the forced exit (../main.ts).
import { setTimeout as pause } from 'node:timers/promises'
import { AttemptAbort } from '../errors.ts'
import type { Log } from '../log.ts'

/** The parts of an attempt that matter for its end. */
export interface DrainableAttempt {
  halt: AbortController
  /** Only the report to the Worker is left; the Worker may have received it and assigned the slot to another task. */
  ending: boolean
  /** Seconds that the attempt still needs by its own prediction; null = unknown. */
  rest: () => number | null
  ended: Promise<void>
}

export interface DrainOptions {
  /** How long the attempt may continue. Giving it back afterwards takes some seconds more. */
  seconds: number
  /** Aborted if there is no time left to wait. */
  hurry: AbortSignal
  log: Log
  everyMs?: number
  now?: () => number
}

interface DrainState {
  ending: boolean
  restSeconds: number | null
  /** Seconds left for draining. */
  leftSeconds: number
  /** How long the remaining time has been unknown. */
  unknownSeconds: number
  /** The longest allowed time without a prediction. */
  patienceSeconds: number
  /** The attempt was already allowed to finish. */
  promised: boolean
}

/** Predictions are a little too low, and the last request and the clean-up take time as well. */
const MARGIN = 1.1
const END_SECONDS = 1
/**
 * An attempt that may finish is given back only after a clear overrun: it is nearly done, and worth more than the
 * remaining time.
 */
const OVERRUN_FACTOR = 1.25
const OVERRUN_SECONDS = 5
/** After this time, an encode that has just begun can predict how long it takes. */
const MAX_UNKNOWN_SECONDS = 15
const UNKNOWN_SHARE = 8

/** Pure. `why` is a sentence for the log. */
export function decideDrain(view: DrainState): { verdict: 'finish' | 'wait' | 'give_back'; why: string } {
  const { ending, restSeconds, leftSeconds, unknownSeconds, patienceSeconds, promised } = view
  if (leftSeconds <= 0) return { verdict: 'give_back', why: 'the time is up' }
  if (ending) return { verdict: 'finish', why: 'only the answer of the Worker is missing' }
  if (restSeconds === null) {
    return unknownSeconds < patienceSeconds
      ? { verdict: 'wait', why: 'the remaining time is not known yet' }
      : { verdict: 'give_back', why: 'the remaining time cannot be predicted' }
  }
  if (promised) {
    return restSeconds > leftSeconds * OVERRUN_FACTOR + OVERRUN_SECONDS
      ? { verdict: 'give_back', why: 'it became slower, and the rest no longer fits' }
      : { verdict: 'finish', why: 'the rest fits' }
  }
  return restSeconds * MARGIN + END_SECONDS <= leftSeconds
    ? { verdict: 'finish', why: 'the rest fits' }
    : { verdict: 'give_back', why: 'the rest does not fit' }
}

/** Resolves when the attempt has ended, by itself or given back. */
export async function drain(attempt: DrainableAttempt, options: DrainOptions): Promise<void> {
  const { seconds, hurry, log, everyMs = 1000, now = () => performance.now() } = options
  const patienceSeconds = Math.min(MAX_UNKNOWN_SECONDS, seconds / UNKNOWN_SHARE)
  const began = now()
  let knownAt = began
  let promised = false
  let said = ''
  const over = attempt.ended.then(() => true)
  for (let isOver = false; !isOver;) {
    const restSeconds = attempt.rest()
    if (restSeconds !== null || attempt.ending) knownAt = now()
    const leftSeconds = seconds - (now() - began) / 1000
    const { verdict, why } = hurry.aborted
      ? { verdict: 'give_back', why: 'a second signal was received' }
      : decideDrain({
          ending: attempt.ending,
          restSeconds,
          leftSeconds,
          unknownSeconds: (now() - knownAt) / 1000,
          patienceSeconds,
          promised,
        })
    if (verdict !== said)
      log.info('draining', {
        decision: verdict,
        why,
        rest_seconds: rounded(restSeconds),
        left_seconds: rounded(leftSeconds),
      })
    said = verdict
    if (verdict === 'finish') promised = true
    if (verdict === 'give_back') {
      attempt.halt.abort(new AttemptAbort('interrupted', explain(why, restSeconds, leftSeconds)))
      await over
      return
    }
    const next = pause(everyMs, false, { signal: hurry, ref: false }).catch(() => false)
    isOver = await Promise.race([over, next])
  }
}

/** For the events of the job. */
function explain(why: string, restSeconds: number | null, leftSeconds: number): string {
  const left = `${Math.max(0, Math.round(leftSeconds))} s until it has to end`
  return restSeconds === null ? `${why}; ${left}` : `${why}: about ${Math.ceil(restSeconds)} s of work, ${left}`
}

function rounded(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 10) / 10
}
