// In charge of: the files that were uploaded and are still there: sending another one, making a job of one, deleting it.
import { useEffect, useState } from 'preact/hooks'
import type { ListedUpload } from '#contract/answers.ts'
import { deleteUpload, listUploads } from '../api.ts'
import { pause, visible } from '../live.ts'
import { appended, refreshed, type Paged } from '../paged.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { Loading } from '../parts/loading.tsx'
import { asError, Trouble, type Failure } from '../parts/notice.tsx'
import { Bar } from '../parts/progress.tsx'
import { UploadBox } from '../parts/upload-box.tsx'
import { Link } from '../router.tsx'
import { ago, bytes, moment, until } from '../words.ts'

/** While something is on its way. */
const LIVE_MS = 3000

const numberOf = (upload: ListedUpload): number => upload.uploaded_file_number

export function Uploads() {
  const [shown, setShown] = useState<Paged<ListedUpload> | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [deleting, setDeleting] = useState<ListedUpload | null>(null)
  const [loading, setLoading] = useState(false)
  const [attempt, setAttempt] = useState(0)
  const again = () => setAttempt((count) => count + 1)

  useEffect(() => {
    const stopped = new AbortController()
    const { signal } = stopped
    const follow = async (): Promise<void> => {
      try {
        for (let busy = true; busy && !signal.aborted;) {
          const page = await read(null, signal)
          setShown((before) => refreshed(before, page, numberOf))
          setFailure(null)
          busy = page.items.some(({ state }) => state === 'receiving')
          await pause(LIVE_MS, signal)
          await visible(signal)
        }
      } catch (error) {
        if (!signal.aborted) setFailure(asError(error))
      }
    }
    void follow()
    return () => stopped.abort()
  }, [attempt])

  const remove = async (number: number): Promise<void> => {
    setDeleting(null)
    try {
      await deleteUpload(number)
      // Of a further page, which is not read again.
      setShown((before) => before && { ...before, items: before.items.filter((each) => numberOf(each) !== number) })
      again()
    } catch (error) {
      setFailure(asError(error))
    }
  }
  const loadMore = async (next: string): Promise<void> => {
    setLoading(true)
    try {
      const page = await read(next)
      setShown((before) => before && appended(before, next, page))
    } catch (error) {
      setFailure(asError(error))
    } finally {
      setLoading(false)
    }
  }
  const next = shown?.next

  return (
    <>
      <div class="head">
        <h1>Uploads</h1>
      </div>
      <UploadBox onUploaded={again} />
      {failure ? <Trouble failure={failure} retry={again} /> : null}
      {shown === null ? (
        failure ? null : (
          <Loading label="Loading the uploads" lines={3} />
        )
      ) : shown.items.length === 0 ? (
        <Empty icon="upload" title="Nothing is uploaded">
          <p>A file that you send here can become as many jobs as you like until it expires.</p>
        </Empty>
      ) : (
        <ul class="rows uploads">
          {shown.items.map((upload) => (
            <Row key={numberOf(upload)} upload={upload} onDelete={() => setDeleting(upload)} />
          ))}
        </ul>
      )}
      {next ? (
        <button type="button" class="more" disabled={loading} onClick={() => void loadMore(next)}>
          {loading ? 'Loading …' : 'More'}
        </button>
      ) : null}
      {deleting ? (
        <Confirm
          question={`Delete ${deleting.name}?`}
          consequence="Jobs that have not read it yet will fail. What was made of it stays."
          action="Delete the file"
          onYes={() => void remove(numberOf(deleting))}
          onNo={() => setDeleting(null)}
        />
      ) : null}
    </>
  )
}

async function read(cursor: string | null, signal?: AbortSignal): Promise<Paged<ListedUpload>> {
  const { uploads, next_cursor: next } = await listUploads(cursor === null ? {} : { cursor }, signal)
  return { items: uploads, next }
}

function Row({ upload, onDelete }: { upload: ListedUpload; onDelete: () => void }) {
  const { uploaded_file_number: number, name, size, received, state } = upload
  const percent = size && received !== null ? Math.floor((received / size) * 100) : 0
  return (
    <li class={`row ${state === 'ready' ? 'done' : 'running'}`}>
      <div class="what">
        <strong>
          <span class="number">{number}</span> {name}
        </strong>
        <span class="help">
          {size === null ? 'Size not known yet' : bytes(size)} · sent{' '}
          <time dateTime={upload.created_at} title={moment(upload.created_at)}>
            {ago(upload.created_at, Date.now())}
          </time>{' '}
          · removed{' '}
          <time dateTime={upload.expires_at} title={moment(upload.expires_at)}>
            {until(upload.expires_at, Date.now())}
          </time>
        </span>
      </div>
      <div class="how">
        <span class={state === 'ready' ? 'badge done' : 'badge running'}>
          {state === 'ready' ? 'Ready' : 'Unfinished'}
        </span>
        {state === 'receiving' && size !== null ? (
          <>
            <Bar slim label={`${name}: stored so far`} percent={percent} />
            <span class="help">{percent} % are here; choose the file again to go on</span>
          </>
        ) : null}
      </div>
      <div class="actions">
        {state === 'ready' ? (
          <Link to={`/new?upload=${number}`} class="button">
            New job<span class="hidden"> of {name}</span>
          </Link>
        ) : null}
        <button type="button" class="danger" onClick={onDelete}>
          <Icon name="trash" />
          <span class="hidden">Delete {name}</span>
        </button>
      </div>
    </li>
  )
}
