// In charge of: the history of jobs: newest first, filtered, searched, page by page, with live states.
import { useEffect, useRef, useState } from 'preact/hooks'
import { isFinal, listJobs, readJob, type ListedJob, type ListQuery } from '../api.ts'
import { pause, visible } from '../live.ts'
import { asError, Trouble, type Failure } from '../parts/notice.tsx'
import { Badge, SmallProgress } from '../parts/progress.tsx'
import { Link, navigate } from '../router.tsx'
import { ago, duration, inputName, moment } from '../words.ts'

const STATES = [
  ['', 'All states'],
  ['queued', 'Waiting'],
  ['running', 'Running'],
  ['completed', 'Done'],
  ['failed', 'Failed'],
  ['cancelled', 'Cancelled'],
] as const
const TIMES = [
  ['', 'Any time'],
  ['3600', 'The last hour'],
  ['86400', 'The last day'],
  ['604800', 'The last week'],
] as const
const LIVE_MS = 2000
/** A search looks through this many jobs, newest first: the API has no search of its own. */
const SEARCHED = 500
const PAGE = 25

interface Shown {
  jobs: ListedJob[]
  next: string | null
}

/** Entries of `fresh` replace or precede those that are shown already. */
function merge(shown: readonly ListedJob[], fresh: readonly ListedJob[]): ListedJob[] {
  const all = new Map([...shown, ...fresh].map((job) => [job._auto_generated_id_, job]))
  return [...all.values()].toSorted((a, b) => b._auto_generated_id_ - a._auto_generated_id_)
}

async function search(text: string, query: ListQuery, signal: AbortSignal): Promise<Shown> {
  const found: ListedJob[] = []
  const wanted = text.toLowerCase()
  let cursor: string | null = null
  for (let seen = 0; seen < SEARCHED; seen += 100) {
    const page = await listJobs({ ...query, limit: 100, cursor }, signal)
    found.push(
      ...page.jobs.filter(
        (job) =>
          String(job._auto_generated_id_) === text ||
          job.job_id.startsWith(wanted) ||
          job.input.toLowerCase().includes(wanted),
      ),
    )
    cursor = page.next_cursor
    if (cursor === null) break
  }
  return { jobs: found, next: null }
}

export function Jobs() {
  const [state, setState] = useState('')
  const [since, setSince] = useState('')
  const [text, setText] = useState('')
  const [shown, setShown] = useState<Shown | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [more, setMore] = useState(false)
  const [attempt, setAttempt] = useState(0)
  const list = useRef<HTMLUListElement>(null)
  const query = (): ListQuery => ({
    limit: PAGE,
    ...(state === '' ? {} : { state }),
    ...(since === '' ? {} : { createdFrom: new Date(Date.now() - Number(since) * 1000).toISOString() }),
  })
  const filtered = state !== '' || since !== '' || text !== ''

  useEffect(() => {
    const stopped = new AbortController()
    const { signal } = stopped
    const follow = async (): Promise<void> => {
      // Somebody may still be typing.
      if (text !== '') await pause(250, signal)
      let first = true
      let failures = 0
      while (!signal.aborted) {
        try {
          if (text !== '') {
            const found = await search(text, query(), signal)
            setShown(found)
          } else {
            const page = await listJobs(query(), signal)
            const fresh = first
            setShown((before) =>
              fresh || !before || state !== ''
                ? { jobs: page.jobs, next: page.next_cursor }
                : { jobs: merge(before.jobs, page.jobs), next: before.next ?? null },
            )
          }
          setFailure(null)
          first = false
          failures = 0
        } catch (error) {
          if (signal.aborted) return
          failures += 1
          setFailure(asError(error))
          if (isFinal(error)) return
        }
        await pause(Math.min(30_000, (text === '' ? LIVE_MS : 5 * LIVE_MS) * 2 ** failures), signal)
        await visible(signal)
      }
    }
    void follow()
    return () => stopped.abort()
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- query() is made of exactly these
  }, [state, since, text, attempt])

  const loadMore = async (): Promise<void> => {
    if (!shown?.next) return
    setMore(true)
    try {
      const page = await listJobs({ ...query(), cursor: shown.next })
      const next = page.jobs[0]?._auto_generated_id_
      setShown((before) => ({ jobs: merge(before?.jobs ?? [], page.jobs), next: page.next_cursor }))
      // The button may be gone; the keyboard goes on with the first of the new ones.
      requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`a[href="/jobs/${next}"]`)?.focus())
    } catch (error) {
      setFailure(asError(error))
    } finally {
      setMore(false)
    }
  }

  const open = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (!/^[1-9]\d{0,14}$/.test(text.trim())) return
    const id = Number(text.trim())
    await readJob(id)
      .then(() => navigate(`/jobs/${id}`))
      .catch((error: unknown) => setFailure(asError(error)))
  }

  return (
    <>
      <div class="head">
        <h1>Jobs</h1>
        <Link to="/new" class="button primary">
          New job
        </Link>
      </div>
      <form class="filters" role="search" onSubmit={(event) => void open(event)}>
        <label>
          <span>Search</span>
          <input
            type="search"
            placeholder="Number or input"
            value={text}
            onInput={(event) => setText(event.currentTarget.value.trim())}
          />
        </label>
        <label>
          <span>State</span>
          <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
            {STATES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Created</span>
          <select value={since} onChange={(event) => setSince(event.currentTarget.value)}>
            {TIMES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </form>
      {failure === null ? null : <Trouble failure={failure} retry={() => setAttempt(attempt + 1)} />}
      {shown === null ? (
        failure === null ? (
          <Loading />
        ) : null
      ) : shown.jobs.length === 0 ? (
        <Empty filtered={filtered} />
      ) : (
        <ul class="jobs" ref={list}>
          {shown.jobs.map((job) => (
            <Row key={job._auto_generated_id_} job={job} />
          ))}
        </ul>
      )}
      {text !== '' && shown ? <p class="help">The newest {SEARCHED} jobs were searched.</p> : null}
      {shown?.next ? (
        <button type="button" class="more" disabled={more} onClick={() => void loadMore()}>
          {more ? 'Loading …' : 'More'}
        </button>
      ) : null}
    </>
  )
}

function Row({ job }: { job: ListedJob }) {
  const { status } = job
  const id = job._auto_generated_id_
  const seconds =
    status.started_at && status.finished_at
      ? (Date.parse(status.finished_at) - Date.parse(status.started_at)) / 1000
      : null
  return (
    <li>
      <div class="what">
        <Link to={`/jobs/${id}`}>
          <span class="number">{id}</span> {inputName(job.input)}
        </Link>
        {status.dry_run ? <span class="badge dry">Dry run</span> : null}
        <span class="help address">{job.input}</span>
      </div>
      <div class="how">
        <Badge status={status} />
        <SmallProgress status={status} />
        {status.error ? <span class="help">{status.error.code}</span> : null}
        {seconds === null || status.error ? null : <span class="help">in {duration(seconds)}</span>}
      </div>
      <time class="help" dateTime={status.created_at} title={moment(status.created_at)}>
        {ago(status.created_at, Date.now())}
      </time>
    </li>
  )
}

function Loading() {
  return (
    <div class="skeleton" role="status" aria-label="Loading the jobs">
      {[1, 2, 3, 4].map((line) => (
        <div key={line} />
      ))}
    </div>
  )
}

function Empty({ filtered }: { filtered: boolean }) {
  return (
    <div class="empty">
      <p>{filtered ? 'No job is like that.' : 'There is no job yet.'}</p>
      {filtered ? null : (
        <Link to="/new" class="button primary">
          Make the first one
        </Link>
      )}
    </div>
  )
}
