// In charge of: the latest progress of one job: held in memory, and stored at intervals and whenever a client reads it,
// so that it does not decrease when the memory is lost (I4).
// Not in charge of: which attempt may report (jobMonitor.ts), comparing two reports (jobProgress.ts).
import type { ProgressPost } from '#contract/task/protocol.ts'
import { mergeProgress, type JobProgress } from '../scheduler/jobProgress.ts'

/** How often the highest reported progress is stored. */
const SAVE_INTERVAL_MS = 10_000

export class ProgressSnapshot {
  readonly #storage: DurableObjectStorage
  #saved: JobProgress | null = null
  #latest: JobProgress | null = null
  #savedAt = 0

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  async load(): Promise<void> {
    this.#saved = (await this.#storage.get<JobProgress>('mark')) ?? null
  }

  /** @returns the progress that clients see from now on */
  async update(attempt: number, post: ProgressPost, now: number): Promise<JobProgress> {
    const live = mergeProgress(this.#latest ?? this.#saved, { ...post, attempt })
    this.#latest = live
    if (now - this.#savedAt >= SAVE_INTERVAL_MS) {
      this.#savedAt = now
      await this.#save(live)
    }
    return live
  }

  get latest(): JobProgress | null {
    return this.#latest ?? this.#saved
  }

  /** Stored before a client sees it, except after the job's state was deleted (`isOver`). */
  async read(isOver: boolean): Promise<JobProgress | null> {
    if (this.#latest && this.#latest !== this.#saved && !isOver) await this.#save(this.#latest)
    return this.#latest ?? this.#saved
  }

  /** The share of the work that an attempt has encoded; 0 if it has not reported any. */
  reachedBy(attempt: number): number {
    const latest = this.#latest ?? this.#saved
    return latest?.attempt === attempt ? latest.reached : 0
  }

  /** What an attempt used, as it last reported it; undefined = unknown. */
  usedBy(attempt: number): { cpuSeconds: number | undefined; bytesRead: number | undefined } {
    const latest = this.#latest ?? this.#saved
    const own = latest?.attempt === attempt ? latest : null
    return { cpuSeconds: own?.cpu_seconds, bytesRead: own?.bytes_read }
  }

  async #save(live: JobProgress): Promise<void> {
    this.#saved = live
    await this.#storage.put('mark', live)
  }
}
