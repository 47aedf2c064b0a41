// In charge of: caching what an attempt's requests open (a source, a sink): opening needs a read of D1 and an
// unsealing.
// Not in charge of: whether the attempt may still use it.

const TTL_MS = 60_000

/**
 * Caches results, never promises. A promise that waits for the I/O of one request never settles for other requests once
 * that request is cancelled.
 */
export class TtlCache<T> {
  readonly #entries = new Map<string, { value: T; expiresAt: number }>()
  readonly #maxEntries: number

  constructor(maxEntries = 100) {
    this.#maxEntries = maxEntries
  }

  /** Errors are not cached. Concurrent callers each open a value, and the last one is cached. */
  async get(name: string, open: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(name)
    if (known && known.expiresAt > Date.now()) return known.value
    const value = await open()
    this.set(name, value)
    return value
  }

  set(name: string, value: T): void {
    if (this.#entries.size >= this.#maxEntries) this.#entries.clear()
    this.#entries.set(name, { value, expiresAt: Date.now() + TTL_MS })
  }
}
