// In charge of: one execution on the platform: a request to the Worker, or a Durable Object in memory. It can end
// between any two of its effects; then nothing else of it runs, not even clean-up.
// Not in charge of: what the effects are (platformModel.ts), when it ends (workerModel.ts).
import type { TaskEvent } from '#contract/task/lifecycle.ts'
import type { Clock } from './virtualClock.ts'

/** Thrown to the caller of a program that ended. */
export class Crash extends Error {}

export class Program {
  /** Number of effects until it ends. */
  left = Number.POSITIVE_INFINITY
  isOver = false
  /** The event that a request is about to apply to a task: the checker compares it with the write. */
  asked: { id: string; event: TaskEvent } | null = null
  env!: Env
  readonly #clock: Clock
  readonly #callers = new Set<(error: Crash) => void>()
  readonly #ended: () => void

  constructor(clock: Clock, ended: () => void = () => undefined) {
    this.#clock = clock
    this.#ended = ended
  }

  /** Every effect that is visible outside the program passes through here. */
  async effect<T>(act: () => T | Promise<T>, afterMs = 0): Promise<T> {
    if (this.left-- <= 0) this.end()
    if (afterMs > 0 && !this.isOver) await this.#clock.sleep(afterMs)
    if (this.isOver) return new Promise<never>(() => undefined)
    return act()
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.#ended()
    for (const reject of this.#callers) reject(new Crash('the program ended'))
  }

  /** @throws Crash when the program ends before its work does */
  run<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.isOver) return reject(new Crash('the program ended'))
      this.#callers.add(reject)
      work.then(resolve, reject).finally(() => this.#callers.delete(reject))
    })
  }
}
