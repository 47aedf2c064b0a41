// In charge of: the history of jobs: its filters in the address, the list, and what is said of it.
// Not in charge of: loading it (jobs/list.ts).
import { useEffect, useRef, useState } from 'preact/hooks'
import { readJob } from '../api.ts'
import { addressOf, ALL, isFiltered, type Filters } from '../jobs/filters.ts'
import { useJobs } from '../jobs/list.ts'
import { Row } from '../jobs/row.tsx'
import { Search } from '../jobs/search.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { Loading } from '../parts/loading.tsx'
import { asError, Trouble, type Failure } from '../parts/notice.tsx'
import { Link, navigate } from '../router.tsx'

export function Jobs({ initial }: { initial: Filters }) {
  const [filters, setFilters] = useState(initial)
  const [refused, setRefused] = useState<Failure | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const { shown, failure, answered, loading, loadMore, retry } = useJobs(filters)
  const filtered = isFiltered(filters)

  const change = (part: Partial<Filters>): void => {
    const next = { ...filters, ...part }
    setFilters(next)
    setRefused(null)
    // In place: Back leads to the page before and not through every letter.
    history.replaceState(null, '', addressOf(next))
  }
  /** A number and Enter leads to the job itself. */
  const open = async (): Promise<void> => {
    if (!/^[1-9]\d{0,14}$/.test(filters.search)) return
    const id = Number(filters.search)
    await readJob(id)
      .then(() => navigate(`/jobs/${id}`))
      .catch((error: unknown) => setRefused(asError(error)))
  }
  const more = async (): Promise<void> => {
    const first = await loadMore()
    // The button may be gone; the keyboard goes on with the first of the new ones.
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`a[href="/jobs/${first}"]`)?.focus())
  }
  const trouble = refused ?? failure

  return (
    <>
      <div class="head">
        <h1>Jobs</h1>
        <Link to="/new" class="button primary">
          <Icon name="plus" /> New job
        </Link>
      </div>
      <Search filters={filters} onChange={change} onSubmit={() => void open()} />
      <Said answered={answered} count={shown?.items.length ?? 0} more={Boolean(shown?.next)} />
      {trouble === null ? null : <Trouble failure={trouble} retry={retry} />}
      {shown === null ? (
        trouble === null ? (
          <Loading label="Loading the jobs" lines={5} />
        ) : null
      ) : shown.items.length > 0 ? (
        <ul class="rows jobs" ref={list}>
          {shown.items.map((job) => (
            <Row key={job._auto_generated_id_} job={job} />
          ))}
        </ul>
      ) : filtered ? (
        <Empty icon="search" title="No job is like that">
          <p>Try fewer letters, another state or a longer time.</p>
          <button type="button" onClick={() => navigate(addressOf(ALL))}>
            Show all jobs
          </button>
        </Empty>
      ) : (
        <Empty icon="film" title="There is no job yet">
          <p>Drop a file, choose what should become of it, watch it being made, play it.</p>
          <Link to="/new" class="button primary">
            Make the first one
          </Link>
        </Empty>
      )}
      {shown?.next ? (
        <button type="button" class="more" disabled={loading} onClick={() => void more()}>
          {loading ? 'Loading …' : 'More'}
        </button>
      ) : null}
    </>
  )
}

/** Told once for each filter, not with every reading that keeps the list up to date. */
function Said({ answered, count, more }: { answered: number; count: number; more: boolean }) {
  const [text, setText] = useState('')
  useEffect(() => {
    if (answered > 0)
      setText(count === 0 ? 'No job.' : `${count}${more ? ' or more' : ''} ${count === 1 ? 'job' : 'jobs'}.`)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the others change with every reading
  }, [answered])
  return (
    <p class="hidden" role="status">
      {text}
    </p>
  )
}
