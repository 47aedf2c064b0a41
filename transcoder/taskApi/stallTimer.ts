// In charge of: aborting a transfer that makes no progress.
// Not in charge of: retrying it (retry.ts).

/** Aborts after `ms` without progress, or with its parent signal. */
export class StallTimer {
  readonly #ms: number
  readonly #controller = new AbortController()
  #timer: NodeJS.Timeout | undefined
  readonly signal: AbortSignal
  constructor(ms: number, parent: AbortSignal) {
    this.#ms = ms
    this.signal = AbortSignal.any([parent, this.#controller.signal])
    this.reset()
  }
  reset(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#controller.abort(new Error('no data was transferred for too long')), this.#ms)
  }
  stop(): void {
    clearTimeout(this.#timer)
  }
}
