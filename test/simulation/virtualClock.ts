// In charge of: virtual time: processes that wait, woken in order, one step at a time.
// Not in charge of: what they do.

/** Yields how long it waits, in milliseconds. Between two yields nothing else happens. */
export type Process<T = void> = Generator<number, T, void>

/** The program that ran this is gone: nothing after this point happens, no clean-up either. */
export class Crash extends Error {}

interface Entry {
  at: number
  order: number
  process: Process<unknown>
}

export class Clock {
  now = 0
  steps = 0
  #heap: Entry[] = []
  #order = 0

  spawn(process: Process<unknown>, delayMs = 0): void {
    this.#push({ at: this.now + delayMs, order: this.#order++, process })
  }

  /** One step. @returns false when nobody waits any more */
  step(): boolean {
    const entry = this.#pop()
    if (!entry) return false
    this.now = entry.at
    this.steps++
    const result = entry.process.next()
    if (!result.done) this.#push({ at: this.now + result.value, order: this.#order++, process: entry.process })
    return true
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!before(entry, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = entry
  }

  #pop(): Entry | undefined {
    const heap = this.#heap
    const top = heap[0]
    const last = heap.pop()
    if (!top || !last || heap.length === 0) return top
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
      if (!before(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return top
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
