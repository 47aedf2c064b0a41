// In charge of: the jobs that are shown: loaded, kept up to date while somebody looks, and longer on request.
// Not in charge of: which (filters.ts), how they look (row.tsx).
import { useEffect, useState } from 'preact/hooks'
import { isFinal, listJobs, type ListedJob, type Page } from '../api.ts'
import { pause, visible } from '../live.ts'
import { asError, type Failure } from '../parts/notice.tsx'
import { queryOf, type Filters } from './filters.ts'

const LIVE_MS = 2000
/** A search looks through every job of the account: not as often. */
const SEARCH_MS = 10_000
const TYPING_MS = 250
const PAGE = 25

export interface Shown {
  jobs: ListedJob[]
  next: string | null
}

/** The first page as it is now, and behind it what was loaded of older ones. */
function refreshed(before: Shown, page: Page): Shown {
  const last = page.next_cursor === null ? 0 : (page.jobs.at(-1)?._auto_generated_id_ ?? 0)
  const older = before.jobs.filter((job) => job._auto_generated_id_ < last)
  return { jobs: [...page.jobs, ...older], next: older.length > 0 ? before.next : page.next_cursor }
}

export interface JobList {
  /** null = nothing has come yet. */
  shown: Shown | null
  failure: Failure | null
  /** Counts the filters that were answered, so that the answer to each is told once. */
  answered: number
  loading: boolean
  /** → the number of the first job that it brought. */
  loadMore: () => Promise<number | undefined>
  retry: () => void
}

export function useJobs(filters: Filters): JobList {
  const [shown, setShown] = useState<Shown | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [answered, setAnswered] = useState(0)
  const [loading, setLoading] = useState(false)
  const [attempt, setAttempt] = useState(0)
  const ask = () => ({ limit: PAGE, ...queryOf(filters, Date.now()) })

  useEffect(() => {
    const stopped = new AbortController()
    const { signal } = stopped
    const follow = async (): Promise<void> => {
      if (filters.search !== '') await pause(TYPING_MS, signal)
      let first = true
      let failures = 0
      while (!signal.aborted) {
        try {
          const page = await listJobs(ask(), signal)
          const fresh = first
          setShown((before) =>
            fresh || !before ? { jobs: page.jobs, next: page.next_cursor } : refreshed(before, page),
          )
          if (fresh) setAnswered((count) => count + 1)
          setFailure(null)
          first = false
          failures = 0
        } catch (error) {
          if (signal.aborted) return
          failures += 1
          setFailure(asError(error))
          if (isFinal(error)) return
        }
        const every = filters.search === '' ? LIVE_MS : SEARCH_MS
        await pause(Math.min(30_000, every * 2 ** failures), signal)
        await visible(signal)
      }
    }
    void follow()
    return () => stopped.abort()
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- ask() is made of exactly these
  }, [filters, attempt])

  const loadMore = async (): Promise<number | undefined> => {
    if (!shown?.next) return undefined
    setLoading(true)
    try {
      const page = await listJobs({ ...ask(), cursor: shown.next })
      setShown((before) => ({ jobs: [...(before?.jobs ?? []), ...page.jobs], next: page.next_cursor }))
      return page.jobs[0]?._auto_generated_id_
    } catch (error) {
      setFailure(asError(error))
      return undefined
    } finally {
      setLoading(false)
    }
  }
  return { shown, failure, answered, loading, loadMore, retry: () => setAttempt(attempt + 1) }
}
