// In charge of: sharing what one attempt's requests open (a source, a sink) for a while: opening costs a ledger read and an unsealing.
// Not in charge of: whether the attempt may still use it.

const TTL_MS = 60_000
const MAX_ENTRIES = 100

/**
 * Keeps what is open, never what is being opened: a promise that waits for the I/O of one request is dead to all others once
 * that request is cancelled, and they would wait for it for ever.
 */
export class TtlCache<T> {
  readonly #kept = new Map<string, { value: T; until: number }>()

  /** What fails to open is not kept. Of several who ask at once each opens one, and the last is kept. */
  async get(name: string, open: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(name)
    if (known && known.until > Date.now()) return known.value
    const value = await open()
    this.set(name, value)
    return value
  }

  set(name: string, value: T): void {
    if (this.#kept.size >= MAX_ENTRIES) this.#kept.clear()
    this.#kept.set(name, { value, until: Date.now() + TTL_MS })
  }
}
