// In charge of: how many transfers run at once, over all outputs, and the time and bytes they took.
// Not in charge of: the transfers themselves.

export class TransferLimiter {
  readonly #limit: number
  readonly #now: () => number
  readonly #waiting: (() => void)[] = []
  #running = 0
  #busySince: number | null = null
  #busyMs = 0
  #bytesStored = 0

  constructor(limit: number, now: () => number = () => performance.now()) {
    this.#limit = limit
    this.#now = now
  }

  /** Bytes acknowledged by the store, and seconds during which at least one transfer was under way. */
  stats(): { bytesStored: number; transferSeconds: number } {
    const open = this.#busySince === null ? 0 : this.#now() - this.#busySince
    return { bytesStored: this.#bytesStored, transferSeconds: (this.#busyMs + open) / 1000 }
  }

  /** Runs `transfer` when a slot is free; `bytes` count as stored once it succeeded. */
  async run<T>(bytes: number, signal: AbortSignal, transfer: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    this.#busySince ??= this.#now()
    try {
      signal.throwIfAborted()
      const result = await transfer()
      this.#bytesStored += bytes
      return result
    } finally {
      // The slot passes to the next in line, or becomes free.
      const next = this.#waiting.shift()
      if (next) next()
      else if (--this.#running === 0 && this.#busySince !== null) {
        this.#busyMs += this.#now() - this.#busySince
        this.#busySince = null
      }
    }
  }
}
