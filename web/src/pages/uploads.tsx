// In charge of: the list of stored uploads: uploading more, finding one, creating a job from it, deleting it.
import { useEffect, useState } from 'preact/hooks'
import type { ListedUpload } from '#contract/api/answers.ts'
import { deleteUpload, listUploads, asError, type Failure } from '../api/api.ts'
import { sleep, whenVisible } from '../api/jobWatch.ts'
import { appended, refreshed, type Paged } from '../api/pagedList.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Loading } from '../parts/loading.tsx'
import { ConnectionNotice } from '../parts/notice.tsx'
import { DropZone } from '../parts/dropZone.tsx'
import { Thumb } from '../parts/poster.tsx'
import { Bar, StateBadge } from '../parts/progress.tsx'
import { Link } from '../parts/router.tsx'
import { TransferButtons, TransferProgress } from '../transfers/progress.tsx'
import { upload as uploadFiles, useTransfers, type Transfer } from '../transfers/store.ts'
import { formatAge, formatBytes, formatDateTime, formatTimeLeft } from '../text/format.ts'

/** Polling interval while something is being uploaded. */
const LIVE_MS = 3000
/** A search begins when nothing was typed for this long. */
const TYPING_MS = 250

const numberOf = (upload: ListedUpload): number => upload.uploaded_file_number

export function Uploads() {
  const [shown, setShown] = useState<Paged<ListedUpload> | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [deleting, setDeleting] = useState<ListedUpload | null>(null)
  const [loading, setLoading] = useState(false)
  const [search, setSearch] = useState('')
  const [attempt, setAttempt] = useState(0)
  const again = () => setAttempt((count) => count + 1)
  const transfers = useTransfers()
  // The list is reloaded whenever an upload is complete.
  const stored = transfers.filter(({ state }) => state === 'stored').length

  useEffect(() => {
    const stopped = new AbortController()
    const { signal } = stopped
    const follow = async (): Promise<void> => {
      try {
        if (search !== '') await sleep(TYPING_MS, signal)
        for (let busy = true; busy && !signal.aborted;) {
          const page = await read(search, null, signal)
          setShown((before) => refreshed(before, page, numberOf))
          setFailure(null)
          busy = page.items.some(({ state }) => state === 'receiving')
          await sleep(LIVE_MS, signal)
          await whenVisible(signal)
        }
      } catch (error) {
        if (!signal.aborted) setFailure(asError(error))
      }
    }
    void follow()
    return () => stopped.abort()
  }, [attempt, stored, search])

  const remove = async (number: number): Promise<void> => {
    setDeleting(null)
    try {
      await deleteUpload(number)
      // On a further page, which is not reloaded.
      setShown((before) => before && { ...before, items: before.items.filter((each) => numberOf(each) !== number) })
      again()
    } catch (error) {
      setFailure(asError(error))
    }
  }
  const loadMore = async (next: string): Promise<void> => {
    setLoading(true)
    try {
      const page = await read(search, next)
      setShown((before) => before && appended(before, next, page))
    } catch (error) {
      setFailure(asError(error))
    } finally {
      setLoading(false)
    }
  }
  const next = shown?.next ?? null
  // Uploads for a planned job are shown in the tray.
  const sending = transfers.filter(({ state, order }) => state !== 'stored' && order === null)
  // Uploads of this tab are shown by the page itself, with more detail.
  const listed = (shown?.items ?? []).filter(
    ({ state, name, size }) =>
      state === 'ready' || !sending.some(({ file }) => file.name === name && file.size === size),
  )

  return (
    <>
      <div class="head line apart">
        <h1>Uploads</h1>
      </div>
      <DropZone onFiles={uploadFiles} compact={sending.length > 0} />
      {sending.length === 0 ? null : (
        <List label="Uploads in progress" heads={['In progress', '']}>
          {sending.map((transfer) => (
            <SendingRow key={transfer.id} transfer={transfer} />
          ))}
        </List>
      )}
      <p class="hidden" role="status">
        {transfers.map(({ file, state }) => (state === 'stored' ? `${file.name} is uploaded. ` : ''))}
      </p>
      {failure ? <ConnectionNotice failure={failure} retry={again} /> : null}
      <input
        type="search"
        aria-label="Search the uploads"
        placeholder="Find an upload by its name"
        maxLength={200}
        onInput={(event) => {
          setShown(null)
          setSearch(event.currentTarget.value.trim())
        }}
      />
      {shown === null ? (
        failure ? null : (
          <Loading label="Loading the uploads" lines={3} />
        )
      ) : listed.length === 0 ? (
        sending.length > 0 ? null : search !== '' ? (
          <Empty icon="upload" title="No upload has this in its name" />
        ) : (
          <Empty icon="upload" title="No uploads yet">
            <p>Upload a file once and create as many jobs from it as you like until it expires.</p>
          </Empty>
        )
      ) : (
        <List heads={['Name', 'Last job', 'Size', 'Uploaded', 'Deleted', '']}>
          {listed.map((upload) => (
            <Row key={numberOf(upload)} upload={upload} onDelete={() => setDeleting(upload)} />
          ))}
        </List>
      )}
      {next ? (
        <button type="button" class="add" disabled={loading} onClick={() => void loadMore(next)}>
          {loading ? 'Loading …' : 'Load more'}
        </button>
      ) : null}
      {deleting ? (
        <Confirm
          question={`Delete ${deleting.name}?`}
          consequence="Jobs that have not read it yet will fail. Outputs made from it are kept."
          action="Delete upload"
          onYes={() => void remove(numberOf(deleting))}
          onNo={() => setDeleting(null)}
        />
      ) : null}
    </>
  )
}

async function read(search: string, cursor: string | null, signal?: AbortSignal): Promise<Paged<ListedUpload>> {
  const wanted = { ...(search === '' ? {} : { search }), ...(cursor === null ? {} : { cursor }) }
  const { uploads, next_cursor: next } = await listUploads(wanted, signal)
  return { items: uploads, next }
}

function Row({ upload, onDelete }: { upload: ListedUpload; onDelete: () => void }) {
  const { uploaded_file_number: number, name, size, received, state, last_job: job } = upload
  const percent = size && received !== null ? Math.floor((received / size) * 100) : 0
  return (
    <li class="row">
      <div class="line">
        <Thumb url={job?.poster_url ?? null} />
        <div class="what grow">
          <strong class="cut">{name}</strong>
          {state === 'receiving' && size !== null ? (
            <>
              <Bar slim label={`${name}: uploaded so far`} percent={percent} />
              <span class="help">{percent} % uploaded. Choose the file again to continue.</span>
            </>
          ) : null}
        </div>
      </div>
      <div class="cells">
        <span>
          {job ? (
            <>
              <Link to={`/jobs/${job.id}`}>Job {job.id}</Link> <StateBadge state={job.state} />
            </>
          ) : null}
        </span>
        <span class="figures">{size === null ? 'unknown' : formatBytes(size)}</span>
        <time class="help" dateTime={upload.created_at} title={formatDateTime(upload.created_at)}>
          {formatAge(upload.created_at, Date.now())}
        </time>
        <time class="help" data-name="Deleted" dateTime={upload.expires_at} title={formatDateTime(upload.expires_at)}>
          {formatTimeLeft(upload.expires_at, Date.now())}
        </time>
        <div class="line actions">
          {state === 'ready' ? (
            <Link to={`/new?upload=${number}`} class="button small">
              Create job<span class="hidden"> from {name}</span>
            </Link>
          ) : (
            <span class="badge running">Incomplete</span>
          )}
          <button type="button" class="small quiet" title={`Delete ${name}`} onClick={onDelete}>
            <Icon name="trash" size={16} />
            <span class="hidden">Delete {name}</span>
          </button>
        </div>
      </div>
    </li>
  )
}

function SendingRow({ transfer }: { transfer: Transfer }) {
  const { file, preview } = transfer
  return (
    <li class="row">
      <div class="line">
        <span class="thumb">{preview ? <img src={preview.url} alt="" /> : <Icon name="film" size={20} />}</span>
        <div class="what grow">
          <strong class="cut">{file.name}</strong>
          <TransferProgress transfer={transfer} />
        </div>
      </div>
      <div class="cells">
        <TransferButtons transfer={transfer} />
      </div>
    </li>
  )
}
