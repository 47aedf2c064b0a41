// In charge of: the latest figures of one job as its monitor shows them: in memory, made durable now and then and whenever
// somebody was shown them, so that they do not go back when that memory is lost (I4).
// Not in charge of: which attempt may report (jobMonitor.ts), comparing two reports (jobProgress.ts).
import type { ProgressPost } from '#contract/task/protocol.ts'
import type { Live } from './jobProgress.ts'
import { highest } from './jobProgress.ts'

/** How often the high-water mark of progress is made durable. */
const MARK_EVERY_MS = 10_000

export class Figures {
  readonly #storage: DurableObjectStorage
  #mark: Live | null = null
  #live: Live | null = null
  #markedAt = 0

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  async load(): Promise<void> {
    this.#mark = (await this.#storage.get<Live>('mark')) ?? null
  }

  /** @returns what is shown from now on */
  async take(attempt: number, post: ProgressPost, now: number): Promise<Live> {
    const live = highest(this.#live ?? this.#mark, { ...post, attempt })
    this.#live = live
    if (now - this.#markedAt >= MARK_EVERY_MS) {
      this.#markedAt = now
      await this.#keep(live)
    }
    return live
  }

  /** What is shown is kept first, unless nothing of the job is kept any more (`over`). */
  async read(over: boolean): Promise<Live | null> {
    if (this.#live && this.#live !== this.#mark && !over) await this.#keep(this.#live)
    return this.#live ?? this.#mark
  }

  async #keep(live: Live): Promise<void> {
    this.#mark = live
    await this.#storage.put('mark', live)
  }
}
