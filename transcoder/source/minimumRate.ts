// In charge of: the minimum rate of a source: one that sends a few bytes at a time would occupy a transcoder for days.
// Not in charge of: timeouts without data (each reader has its own timer), the size (diskQuota.ts).
import { TaskError } from '#contract/taskError.ts'

export interface MinimumRateOptions {
  /** Milliseconds of waiting after which the rate is checked. */
  windowMs?: number
  minBytesPerSecond?: number
}

/** Counts the time spent waiting for responses and bytes, not the time that the reader takes to process them. */
export class MinimumRate {
  readonly #windowMs: number
  readonly #minBytesPerSecond: number
  #ms = 0
  #bytes = 0

  constructor({ windowMs = 60_000, minBytesPerSecond = 2048 }: MinimumRateOptions = {}) {
    this.#windowMs = windowMs
    this.#minBytesPerSecond = minBytesPerSecond
  }

  /** Returns the error to end with, or null. */
  check(ms: number, bytes: number): TaskError | null {
    this.#ms += ms
    this.#bytes += bytes
    if (this.#ms < this.#windowMs) return null
    const rate = Math.floor((this.#bytes * 1000) / this.#ms)
    this.#ms = 0
    this.#bytes = 0
    if (rate >= this.#minBytesPerSecond) return null
    const why = `The source answers too slowly: ${rate} bytes a second, and ${this.#minBytesPerSecond} are needed.`
    return new TaskError('source_unreachable', why)
  }

  /**
   * Passes the bytes on as long as they arrive fast enough. `asked`: when they were requested, by performance.now().
   */
  async *throttleCheck(body: AsyncIterable<Uint8Array>, asked: number): AsyncGenerator<Uint8Array> {
    let began = asked
    for await (const block of body) {
      const slow = this.check(performance.now() - began, block.length)
      if (slow !== null) throw slow
      yield block
      began = performance.now()
    }
  }
}
