// In charge of: what happens to the running attempt when the process has to end: whether it may finish, and when it is
// given back instead.
// Not in charge of: predicting its remaining time (pipeline/progress.ts), giving it back (runTask.ts), signals
// and the forced exit (../main.ts).
import { setTimeout as pause } from 'node:timers/promises'
import { AttemptAbort } from '../errors.ts'
import type { Log } from '../log.ts'

/** The parts of an attempt that matter for its end. */
export interface DrainableAttempt {
  controller: AbortController
  /** Only the report to the Worker is left; the Worker may have received it and assigned the slot to another task. */
  isCommitting: boolean
  /** Seconds that the attempt still needs by its own prediction; null = unknown. */
  remainingSeconds: () => number | null
  done: Promise<void>
}

export interface DrainOptions {
  /** How long the attempt may continue. Giving it back afterwards takes some seconds more. */
  seconds: number
  /** Aborted if there is no time left to wait. */
  urgentSignal: AbortSignal
  log: Log
  everyMs?: number
  now?: () => number
}

interface DrainState {
  isCommitting: boolean
  remainingSeconds: number | null
  /** Seconds left for draining. */
  secondsUntilDeadline: number
  /** How long the remaining time has been unknown. */
  unknownForSeconds: number
  /** The longest allowed time without a prediction. */
  maxUnknownSeconds: number
  /** The attempt was already allowed to finish. */
  wasGranted: boolean
}

/**
 * Time from giving an attempt back to the end of the process: ending ffmpeg and the last report to the Worker.
 * DRAIN_SECONDS plus this is less than the platform grants between SIGTERM and SIGKILL. If the report does not arrive
 * in time, the expired lease shows that the attempt was lost.
 */
export const HARD_EXIT_MS = 25_000

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
  const { isCommitting, remainingSeconds, secondsUntilDeadline, unknownForSeconds, maxUnknownSeconds, wasGranted } =
    view
  if (secondsUntilDeadline <= 0) return { verdict: 'give_back', why: 'the time is up' }
  if (isCommitting) return { verdict: 'finish', why: 'only the answer of the Worker is missing' }
  if (remainingSeconds === null) {
    return unknownForSeconds < maxUnknownSeconds
      ? { verdict: 'wait', why: 'the remaining time is not known yet' }
      : { verdict: 'give_back', why: 'the remaining time cannot be predicted' }
  }
  if (wasGranted) {
    return remainingSeconds > secondsUntilDeadline * OVERRUN_FACTOR + OVERRUN_SECONDS
      ? { verdict: 'give_back', why: 'it became slower, and the rest no longer fits' }
      : { verdict: 'finish', why: 'the rest fits' }
  }
  return remainingSeconds * MARGIN + END_SECONDS <= secondsUntilDeadline
    ? { verdict: 'finish', why: 'the rest fits' }
    : { verdict: 'give_back', why: 'the rest does not fit' }
}

/** Resolves when the attempt has ended, by itself or given back. */
export async function drain(attempt: DrainableAttempt, options: DrainOptions): Promise<void> {
  const { seconds, urgentSignal, log, everyMs = 1000, now = () => performance.now() } = options
  const maxUnknownSeconds = Math.min(MAX_UNKNOWN_SECONDS, seconds / UNKNOWN_SHARE)
  const began = now()
  let lastKnownAt = began
  let wasGranted = false
  let lastDecision = ''
  const done = attempt.done.then(() => true)
  for (let isDone = false; !isDone;) {
    const remainingSeconds = attempt.remainingSeconds()
    if (remainingSeconds !== null || attempt.isCommitting) lastKnownAt = now()
    const secondsUntilDeadline = seconds - (now() - began) / 1000
    const { verdict: decision, why } = urgentSignal.aborted
      ? { verdict: 'give_back', why: 'a second signal was received' }
      : decideDrain({
          isCommitting: attempt.isCommitting,
          remainingSeconds,
          secondsUntilDeadline,
          unknownForSeconds: (now() - lastKnownAt) / 1000,
          maxUnknownSeconds,
          wasGranted,
        })
    if (decision !== lastDecision)
      log.info('draining', {
        decision,
        why,
        rest_seconds: rounded(remainingSeconds),
        left_seconds: rounded(secondsUntilDeadline),
      })
    lastDecision = decision
    if (decision === 'finish') wasGranted = true
    if (decision === 'give_back') {
      attempt.controller.abort(new AttemptAbort('interrupted', explain(why, remainingSeconds, secondsUntilDeadline)))
      await done
      return
    }
    const next = pause(everyMs, false, { signal: urgentSignal, ref: false }).catch(() => false)
    isDone = await Promise.race([done, next])
  }
}

/** For the events of the job. */
function explain(why: string, remainingSeconds: number | null, secondsUntilDeadline: number): string {
  const left = `${Math.max(0, Math.round(secondsUntilDeadline))} s until it has to end`
  return remainingSeconds === null
    ? `${why}; ${left}`
    : `${why}: about ${Math.ceil(remainingSeconds)} s of work, ${left}`
}

function rounded(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 10) / 10
}
