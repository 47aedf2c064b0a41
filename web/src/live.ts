// In charge of: following one job until it ends. The only place that knows how news of it arrive.
// Not in charge of: showing it.
import { ApiError, readJob, type Job } from './api.ts'

const EVERY_MS = 1000
const LONGEST_MS = 30_000

export interface Watcher {
  onJob: (job: Job) => void
  /** null = in touch again. */
  onTrouble: (trouble: ApiError | null) => void
}

/** Asks every second, less often while there is no answer, and not at all while nobody looks. Returns what ends it. */
export function watchJob(id: number, watcher: Watcher): () => void {
  const stopped = new AbortController()
  const { signal } = stopped
  let failures = 0

  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const job = await readJob(id, signal)
        if (signal.aborted) return
        if (failures > 0) watcher.onTrouble(null)
        failures = 0
        watcher.onJob(job)
        if (job.status.job_completed) return
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        const trouble = error instanceof ApiError ? error : new ApiError(0, 'internal', String(error))
        watcher.onTrouble(trouble)
        // It will not get better by asking again.
        if (trouble.status >= 400 && trouble.status < 500 && trouble.status !== 429) return
      }
      await pause(Math.min(LONGEST_MS, EVERY_MS * 2 ** Math.min(failures, 5)), signal)
      await visible(signal)
    }
  }
  void follow()
  return () => stopped.abort()
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}

/** Resolves when somebody can see the page. */
export function visible(signal: AbortSignal): Promise<void> {
  if (!document.hidden || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return
      document.removeEventListener('visibilitychange', look)
      signal.removeEventListener('abort', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
  })
}
