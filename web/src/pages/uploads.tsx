// In charge of: the files that were uploaded and are still there: sending another one, making a job of one, deleting it.
import { useEffect, useState } from 'preact/hooks'
import { deleteUpload, listUploads, type ListedUpload, type UploadPage } from '../api.ts'
import { pause, visible } from '../live.ts'
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

export function Uploads() {
  const [shown, setShown] = useState<UploadPage | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [deleting, setDeleting] = useState<ListedUpload | null>(null)
  const [attempt, setAttempt] = useState(0)
  const again = () => setAttempt((count) => count + 1)

  useEffect(() => {
    const stopped = new AbortController()
    const { signal } = stopped
    const follow = async (): Promise<void> => {
      try {
        for (let busy = true; busy && !signal.aborted;) {
          const page = await listUploads({}, signal)
          setShown(page)
          setFailure(null)
          busy = page.uploads.some(({ state }) => state === 'receiving')
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

  const remove = async ({ uploaded_file_number: number }: ListedUpload): Promise<void> => {
    setDeleting(null)
    await deleteUpload(number).catch((error: unknown) => setFailure(asError(error)))
    again()
  }
  const loadMore = async (): Promise<void> => {
    if (!shown?.next_cursor) return
    await listUploads({ cursor: shown.next_cursor }).then(
      (page) => setShown({ ...page, uploads: [...shown.uploads, ...page.uploads] }),
      (error: unknown) => setFailure(asError(error)),
    )
  }

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
      ) : shown.uploads.length === 0 ? (
        <Empty icon="upload" title="Nothing is uploaded">
          <p>A file that you send here can become as many jobs as you like until it expires.</p>
        </Empty>
      ) : (
        <ul class="rows uploads">
          {shown.uploads.map((upload) => (
            <Row key={upload.uploaded_file_number} upload={upload} onDelete={() => setDeleting(upload)} />
          ))}
        </ul>
      )}
      {shown?.next_cursor ? (
        <button type="button" class="more" onClick={() => void loadMore()}>
          More
        </button>
      ) : null}
      {deleting ? (
        <Confirm
          question={`Delete ${deleting.name}?`}
          consequence="Jobs that have not read it yet will fail. What was made of it stays."
          action="Delete the file"
          onYes={() => void remove(deleting)}
          onNo={() => setDeleting(null)}
        />
      ) : null}
    </>
  )
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
