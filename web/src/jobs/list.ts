// In charge of: the jobs in the list: loading, refreshing while the page is visible, and loading more on request.
// Not in charge of: the filters (jobFilters.ts), the rows (row.tsx).
import { useEffect, useRef, useState } from 'preact/hooks'
import type { JobList as JobPage, ListedJob } from '#contract/api/answers.ts'
import { isFinal, listJobs, asError, type Failure } from '../api/api.ts'
import { sleep, whenVisible } from '../api/jobWatch.ts'
import { appended, refreshed, type Paged } from '../api/pagedList.ts'
import { idOf } from './bulkSelection.ts'
import { queryOf, type Filters } from '../api/jobFilters.ts'

const LIVE_MS = 2000
/** Less often: a search reads every job of the account. */
const SEARCH_MS = 10_000
const TYPING_MS = 250
const PAGE = 25

export type Counts = NonNullable<JobPage['counts']>

/** A late page belongs only to the filters that it was requested with. */
interface Shown extends Paged<ListedJob> {
  filters: Filters
}

export interface JobList {
  /** null = not answered yet. */
  counts: Counts | null
  /** null = nothing is loaded yet. */
  page: Paged<ListedJob> | null
  failure: Failure | null
  /** Counts the filter changes that were answered, so that each answer is announced once. */
  answeredCount: number
  loading: boolean
  /** Returns the number of the first job that it loaded. */
  loadMore: () => Promise<number | undefined>
  /** Removes deleted jobs from the list. */
  remove: (ids: readonly number[]) => void
  retry: () => void
}

export function useJobs(filters: Filters): JobList {
  const [shown, setShown] = useState<Shown | null>(null)
  const [counts, setCounts] = useState<Counts | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [answeredCount, setAnswered] = useState(0)
  const [loading, setLoading] = useState(false)
  const [attempt, setAttempt] = useState(0)
  const more = useRef<AbortController | null>(null)

  useEffect(() => {
    const stopped = new AbortController()
    const { signal } = stopped
    const follow = async (): Promise<void> => {
      if (filters.search !== '') await sleep(TYPING_MS, signal)
      let first = true
      let failures = 0
      while (!signal.aborted) {
        try {
          const page = await read(filters, null, signal)
          setCounts(page.counts ?? null)
          setShown((before) => ({ filters, ...refreshed(before?.filters === filters ? before : null, page, idOf) }))
          if (first) setAnswered((count) => count + 1)
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
        await sleep(Math.min(30_000, every * 2 ** failures), signal)
        await whenVisible(signal)
      }
    }
    void follow()
    return () => {
      stopped.abort()
      more.current?.abort()
    }
  }, [filters, attempt])

  const loadMore = async (): Promise<number | undefined> => {
    if (!shown?.next) return undefined
    const { filters: of, next } = shown
    const stopped = new AbortController()
    more.current = stopped
    setLoading(true)
    try {
      const page = await read(of, next, stopped.signal)
      setShown((before) => (before?.filters === of ? { filters: of, ...appended(before, next, page) } : before))
      return page.items[0]?._auto_generated_id_
    } catch (error) {
      if (!stopped.signal.aborted) setFailure(asError(error))
      return undefined
    } finally {
      if (more.current === stopped) setLoading(false)
    }
  }
  const remove = (ids: readonly number[]): void =>
    setShown((before) => before && { ...before, items: before.items.filter((job) => !ids.includes(idOf(job))) })
  return {
    page: shown,
    counts,
    failure,
    answeredCount,
    loading,
    loadMore,
    remove,
    retry: () => setAttempt(attempt + 1),
  }
}

async function read(
  filters: Filters,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Paged<ListedJob> & Pick<JobPage, 'counts'>> {
  const query = { limit: PAGE, ...queryOf(filters, Date.now()), cursor, counts: cursor === null }
  const { jobs, next_cursor: next, counts } = await listJobs(query, signal)
  return { items: jobs, next, counts }
}
