// In charge of: sharing what one attempt's requests open (a source, a sink) for a while: opening costs a ledger read and an unsealing.
// Not in charge of: whether the attempt may still use it.

const KEEP_MS = 60_000
const MAX_KEPT = 100

export class Kept<T> {
  readonly #kept = new Map<string, { value: Promise<T>; until: number }>()

  /** What fails to open is not kept. */
  get(name: string, open: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(name)
    if (known && known.until > Date.now()) return known.value
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear()
    const value = open()
    this.#kept.set(name, { value, until: Date.now() + KEEP_MS })
    value.catch(() => this.#kept.delete(name))
    return value
  }
}
