// In charge of: following one job until it ends: by the event stream with an occasional full read, or, without a
// stream, by polling. No other file knows how updates arrive.
// Not in charge of: showing them.
import type { JobRead, PublicEvent } from '#contract/api/answers.ts'
import { ApiError, asError, isFinal, openEvents, readEvents, readJob } from './api.ts'
import { eventReader } from './sse.ts'
import type { PublicStatus } from '#contract/api/status.ts'

/** Polling interval without a stream. */
const POLL_MS = 1000
/** In addition to a stream, which reports neither the queue position nor the remaining time. */
const POLL_BESIDE_STREAM_MS = 3000
const MAX_BACKOFF_MS = 30_000
/** The service sends something every 15 s; a stream that is silent for longer is broken. */
const STREAM_TIMEOUT_MS = 40_000

export interface JobWatchCallbacks {
  onJob: (job: JobRead) => void
  onEvents?: (events: readonly PublicEvent[]) => void
  /** null = connected again. */
  onTrouble: (trouble: ApiError | null) => void
}

/** Ends with the job, or when the returned function is called. */
export function watchJob(id: number, watcher: JobWatchCallbacks): () => void {
  const stopped = new AbortController()
  const { signal } = stopped
  let failures = 0
  let job: JobRead | null = null
  let events: PublicEvent[] = []
  /** Ends the wait for the next poll early. */
  let wakeUp = new AbortController()

  const publish = (news: JobRead): void => {
    if (signal.aborted || (job && isOlder(news.status, job.status))) return
    job = news
    watcher.onJob(news)
  }
  const isFinished = (): boolean => signal.aborted || job?.status.job_completed === true

  const read = async (): Promise<void> => {
    while (!isFinished()) {
      try {
        publish(await readJob(id, signal))
        if (failures > 0) watcher.onTrouble(null)
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        const trouble = error instanceof ApiError ? error : new ApiError(0, asError(error))
        watcher.onTrouble(trouble)
        // A repeated request would fail the same way.
        if (isFinal(trouble)) return stopped.abort()
      }
      if (isFinished()) return
      wakeUp = new AbortController()
      const usual = streaming ? POLL_BESIDE_STREAM_MS : POLL_MS
      await sleep(
        Math.min(MAX_BACKOFF_MS, usual * 2 ** Math.min(failures, 5)),
        AbortSignal.any([signal, wakeUp.signal]),
      )
      await whenVisible(signal)
    }
  }

  let streaming = false
  const listen = async (): Promise<void> => {
    for (let tries = 0; !isFinished(); tries++) {
      const silent = new AbortController()
      let alarm = setTimeout(() => silent.abort(), STREAM_TIMEOUT_MS)
      try {
        const response = await openEvents(id, events.at(-1)?.id ?? 0, AbortSignal.any([signal, silent.signal]))
        if (!response.ok || !response.body) return
        streaming = true
        tries = 0
        const feed = eventReader()
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
        for (;;) {
          const { done, value } = await reader.read()
          if (done) break
          clearTimeout(alarm)
          alarm = setTimeout(() => silent.abort(), STREAM_TIMEOUT_MS)
          for (const { type, data } of feed(value)) take(type, data)
        }
      } catch {
        // The stream broke or went silent: reconnect, and read the events that were missed.
      } finally {
        clearTimeout(alarm)
        streaming = false
      }
      await sleep(Math.min(MAX_BACKOFF_MS, POLL_MS * 2 ** tries), signal)
      await whenVisible(signal)
    }
  }

  const take = (type: string, data: string): void => {
    if (signal.aborted) return
    if (type === 'progress') {
      if (job && !isFinished()) publish({ ...job, status: withProgressEvents(job.status, data) })
      return
    }
    const event = JSON.parse(data) as PublicEvent
    if (events.some((known) => known.id === event.id)) return
    events = [...events, event]
    watcher.onEvents?.(events)
    wakeUp.abort()
  }

  const follow = async (): Promise<void> => {
    const listening = watcher.onEvents ? listen() : Promise.resolve()
    await read()
    if (signal.aborted || !watcher.onEvents) return
    await Promise.race([listening, sleep(POLL_MS, signal)])
    // The last events may have come after the stream was closed.
    const all = await readEvents(id, signal).catch(() => [])
    if (all.length > events.length && !signal.aborted) watcher.onEvents(all)
  }
  void follow()
  return () => stopped.abort()
}

export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}

/** Resolves when the page is visible. */
export function whenVisible(signal: AbortSignal): Promise<void> {
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

/** The status with the progress fields of an event in place of its own. */
export function withProgressEvents(status: PublicStatus, data: string): PublicStatus {
  const { attempt: _attempt, ...figures } = JSON.parse(data) as Partial<PublicStatus> & { attempt?: number }
  return { ...status, ...figures, state: 'running', queue_position: null }
}

/** Progress never goes back (I4): an update with less progress than the shown one is older. */
export function isOlder(news: PublicStatus, shown: PublicStatus): boolean {
  const less = (figure: 'tcode_progress' | 'xfer_progress') => Number(news[figure]) < Number(shown[figure])
  return !news.job_completed && (less('tcode_progress') || less('xfer_progress'))
}
