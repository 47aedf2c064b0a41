// In charge of: virtual time: waiting processes and promises, woken in order, one at a time.
// Not in charge of: what they do.

/**
 * Yields a wait in milliseconds, or a promise whose value it receives (`settled`). Between two yields nothing else
 * happens.
 */
export type Process<T = void> = Generator<number | Promise<unknown>, T, unknown>

/** Waits for a promise instead of time. */
export function* settled<T>(promise: Promise<T>): Process<T> {
  return (yield promise) as T
}

interface Entry {
  at: number
  order: number
  wake: () => void
}

export class Clock {
  now = 0
  steps = 0
  #heap: Entry[] = []
  #order = 0
  /** Promise callbacks may have to run before the next step. */
  #isStirred = false

  spawn(process: Process<unknown>, delayMs = 0): void {
    this.#push(delayMs, () => this.#resume(process, () => process.next()))
  }

  later(delayMs: number, act: () => void): void {
    this.#push(delayMs, () => {
      this.#isStirred = true
      act()
    })
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.later(ms, resolve))
  }

  /** One step, and all promise callbacks that follow from it. @returns false when nothing is waiting */
  step(): boolean | Promise<boolean> {
    const entry = this.#pop()
    if (!entry) return false
    this.now = entry.at
    this.steps++
    entry.wake()
    if (!this.#isStirred) return true
    this.#isStirred = false
    return new Promise((resolve) => setImmediate(resolve, true))
  }

  #resume(process: Process<unknown>, go: () => IteratorResult<number | Promise<unknown>>): void {
    const { done, value } = go()
    if (done) return
    if (typeof value === 'number') return this.#push(value, () => this.#resume(process, () => process.next()))
    this.#isStirred = true
    value.then(
      (result) => this.#push(0, () => this.#resume(process, () => process.next(result))),
      (error) => this.#push(0, () => this.#resume(process, () => process.throw(error))),
    )
  }

  #push(delayMs: number, wake: () => void): void {
    const entry = { at: this.now + delayMs, order: this.#order++, wake }
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
