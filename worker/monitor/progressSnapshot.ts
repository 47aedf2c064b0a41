// In charge of: the latest figures of one job as its monitor shows them: in memory, made durable now and then and whenever
// somebody was shown them, so that they do not go back when that memory is lost (I4).
// Not in charge of: which attempt may report (jobMonitor.ts), comparing two reports (jobProgress.ts).
import type { ProgressPost } from '#contract/task/protocol.ts'
import type { JobProgress } from './jobProgress.ts'
import { mergeProgress } from './jobProgress.ts'

/** How often the high-water mark of progress is made durable. */
const SAVE_INTERVAL_MS = 10_000

export class ProgressSnapshot {
  readonly #storage: DurableObjectStorage
  #mark: JobProgress | null = null
  #live: JobProgress | null = null
  #markedAt = 0

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  async load(): Promise<void> {
    this.#mark = (await this.#storage.get<JobProgress>('mark')) ?? null
  }

  /** @returns what is shown from now on */
  async update(attempt: number, post: ProgressPost, now: number): Promise<JobProgress> {
    const live = mergeProgress(this.#live ?? this.#mark, { ...post, attempt })
    this.#live = live
    if (now - this.#markedAt >= SAVE_INTERVAL_MS) {
      this.#markedAt = now
      await this.#save(live)
    }
    return live
  }

  /** What is shown is kept first, unless nothing of the job is kept any more (`over`). */
  async read(isOver: boolean): Promise<JobProgress | null> {
    if (this.#live && this.#live !== this.#mark && !isOver) await this.#save(this.#live)
    return this.#live ?? this.#mark
  }

  async #save(live: JobProgress): Promise<void> {
    this.#mark = live
    await this.#storage.put('mark', live)
  }
}
