// In charge of: the page of the job list: filters in the address, the list, its keys, the selection, and announcements for
// screen readers.
// Not in charge of: loading the list (../jobs/list.ts), actions on a selection (../jobs/selection.tsx).
import { useEffect, useRef, useState } from 'preact/hooks'
import { readJob, asError, type Failure } from '../api/api.ts'
import { idOf, type BulkAction } from '../jobs/bulkSelection.ts'
import { addressOf, ALL, isFiltered, type Filters } from '../api/jobFilters.ts'
import { useJobs } from '../jobs/list.ts'
import { Row } from '../jobs/row.tsx'
import { Search, SEARCH_FIELD } from '../jobs/search.tsx'
import { selectedOf, Selection } from '../jobs/selection.tsx'
import { DropZone } from '../parts/dropZone.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Loading } from '../parts/loading.tsx'
import { ConnectionNotice } from '../parts/notice.tsx'
import { Link, navigate, PATHS } from '../parts/router.tsx'
import { uploadForNewJob } from '../transfers/store.ts'
import type { RefObject } from 'preact'

export function Jobs({ initial }: { initial: Filters }) {
  const [filters, setFilters] = useState(initial)
  const [refused, setRefused] = useState<Failure | null>(null)
  const [selected, setSelected] = useState<readonly number[]>([])
  const last = useRef<number | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const { page, counts, failure, answeredCount, loading, loadMore, remove, retry } = useJobs(filters)
  const filtered = isFiltered(filters)
  const items = page?.items ?? []
  const picked = selectedOf(items, selected)

  const change = (part: Partial<Filters>): void => {
    const next = { ...filters, ...part }
    setFilters(next)
    setRefused(null)
    setSelected([])
    // Replaces the history entry: Back leads to the previous page and not through every letter.
    history.replaceState(null, '', addressOf(next))
  }
  /** A number and Enter opens the job itself. */
  const open = async (): Promise<void> => {
    if (!/^[1-9]\d{0,14}$/.test(filters.search)) return
    const id = Number(filters.search)
    await readJob(id)
      .then(() => navigate(`/jobs/${id}`))
      .catch((error: unknown) => setRefused(asError(error)))
  }
  const more = async (): Promise<void> => {
    const first = await loadMore()
    // The button may be removed; the focus moves to the first new job.
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`a[href="/jobs/${first}"]`)?.focus())
  }
  const select = (id: number, on: boolean, range: boolean): void => {
    const ids = items.map(idOf)
    const [from, to] = [ids.indexOf(last.current ?? id), ids.indexOf(id)]
    const meant = range && from >= 0 ? ids.slice(Math.min(from, to), Math.max(from, to) + 1) : [id]
    last.current = id
    setSelected((before) => [...before.filter((each) => !meant.includes(each)), ...(on ? meant : [])])
  }
  const done = (deed: BulkAction, ids: readonly number[]): void => {
    if (deed === 'delete') remove(ids)
    retry()
  }
  const trouble = refused ?? failure
  useListKeys(list, SEARCH_FIELD)

  return (
    <>
      <div class="head line apart">
        <h1>Jobs</h1>
      </div>
      {page !== null && items.length === 0 && !filtered ? null : (
        <Search filters={filters} counts={counts} onChange={change} onSubmit={() => void open()} />
      )}
      {filters.metadata === '' ? null : (
        <p>
          <button type="button" class="tag" onClick={() => change({ metadata: '' })}>
            {filters.metadata.replace(':', ': ')} <Icon name="close" size={14} />
            <span class="hidden">Remove this filter</span>
          </button>
        </p>
      )}
      <Announced answeredCount={answeredCount} count={items.length} more={Boolean(page?.next)} />
      {trouble === null ? null : <ConnectionNotice failure={trouble} retry={retry} />}
      {page === null ? (
        trouble === null ? (
          <Loading label="Loading the jobs" lines={5} />
        ) : null
      ) : items.length > 0 ? (
        <List
          class="jobs"
          list={list}
          heads={['', 'Job', 'Source', 'State', 'Progress', 'Time', 'Created']}
          first={
            <label class="check">
              <input
                type="checkbox"
                checked={picked.length === items.length}
                ref={(box) => void (box && (box.indeterminate = picked.length > 0 && picked.length < items.length))}
                onChange={(event) => setSelected(event.currentTarget.checked ? items.map(idOf) : [])}
              />
              <span class="hidden">Select all</span>
            </label>
          }
        >
          {items.map((job) => (
            <Row
              key={idOf(job)}
              job={job}
              selected={selected.includes(idOf(job))}
              onSelect={(on, range) => select(idOf(job), on, range)}
            />
          ))}
        </List>
      ) : filtered ? (
        <Empty icon="search" title="No matching jobs">
          <p>Try a shorter search, another state or a longer time range.</p>
          <button type="button" onClick={() => navigate(addressOf(ALL))}>
            Show all jobs
          </button>
        </Empty>
      ) : (
        <Empty icon="film" title="No jobs yet">
          <p>Drop in a video, choose what to make of it, and play the result here.</p>
          <DropZone onFiles={begin} />
          <p class="line">
            <button
              type="button"
              onClick={() => void sample().then(begin, (error: unknown) => setRefused(asError(error)))}
            >
              <Icon name="film" /> Use a sample of 6 seconds
            </button>
            <Link to={PATHS.new} class="button">
              <Icon name="link" /> Use a web address
            </Link>
          </p>
          <p class="help">
            Or from a terminal: <code>npx splicepoint submit film.mp4 --hls --share</code>
          </p>
        </Empty>
      )}
      {page?.next ? (
        <button type="button" class="add" disabled={loading} onClick={() => void more()}>
          {loading ? 'Loading …' : 'Show more'}
        </button>
      ) : null}
      <Selection jobs={picked} onSelect={setSelected} onDone={done} />
    </>
  )
}

function begin(files: readonly File[]): void {
  uploadForNewJob([...files])
  navigate(PATHS.new)
}

async function sample(): Promise<File[]> {
  const answer = await fetch('/sample.mp4')
  if (!answer.ok) throw new Error('The sample could not be loaded.')
  return [new File([await answer.blob()], 'sample.mp4', { type: 'video/mp4' })]
}

/** Announced once for each filter change, not with every poll. */
function Announced({ answeredCount, count, more }: { answeredCount: number; count: number; more: boolean }) {
  const [text, setText] = useState('')
  useEffect(() => {
    if (answeredCount > 0)
      setText(count === 0 ? 'No jobs.' : `${count}${more ? ' or more' : ''} ${count === 1 ? 'job' : 'jobs'}.`)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the others change with every reading
  }, [answeredCount])
  return (
    <p class="hidden" role="status">
      {text}
    </p>
  )
}

/** Writing goes before. */
const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), select, textarea'))

export function useListKeys(list: RefObject<HTMLElement | null>, search: string): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, target, altKey, ctrlKey, metaKey } = event
      if (altKey || ctrlKey || metaKey || isWriting(target)) return
      if (key === '/') {
        const field = document.getElementById(search)
        if (field === null) return
        event.preventDefault()
        field.focus()
      }
      if (key === 'j' || key === 'k') {
        const links = [...(list.current?.querySelectorAll<HTMLElement>('.what a') ?? [])]
        const at = links.findIndex((link) => link.closest('li')?.contains(document.activeElement) === true)
        links[key === 'j' ? at + 1 : Math.max(0, at - 1)]?.focus()
      }
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [list, search])
}
