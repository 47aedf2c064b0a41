// In charge of: the times after which an attempt ends itself.
// Not in charge of: how long they are (the task, plan/estimate/deadline.ts).
import { TaskError } from '#contract/taskError.ts'
import type { TimeLimits } from '../plan/estimate/deadline.ts'

const MAX_TIMER_MS = 2 ** 31 - 1

export class AttemptTimers {
  readonly #controller: AbortController
  readonly #timers: NodeJS.Timeout[] = []

  constructor(controller: AbortController) {
    this.#controller = controller
  }

  /** The service gives the attempt up after this time. */
  limitAttempt(milliseconds: number): void {
    const why = 'The task exceeded the maximum duration of one attempt.'
    this.#abortAfter(milliseconds, () => new TaskError('too_long_for_one_attempt', why))
  }

  /** `passedMs`: since the source could be read. */
  limitWork({ wallSeconds }: TimeLimits, passedMs: number): void {
    const why = 'The task took many times longer than a source of this length and outputs of this size should take.'
    const details = { allowed_seconds: Math.ceil(wallSeconds) }
    const overdue = (): TaskError => new TaskError('deadline_exceeded', why, { details })
    this.#abortAfter(wallSeconds * 1000 - passedMs, overdue)
  }

  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #abortAfter(milliseconds: number, error: () => TaskError): void {
    const abort = (): void => this.#controller.abort(error())
    this.#timers.push(setTimeout(abort, Math.min(Math.max(0, milliseconds), MAX_TIMER_MS)))
  }
}
