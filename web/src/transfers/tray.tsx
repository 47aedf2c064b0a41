// In charge of: uploads that continue while another page is shown, and the jobs that are created when they are
// complete.
import { Icon } from '../parts/icon.tsx'
import { Link, type Route } from '../parts/router.tsx'
import { TransferButtons, TransferProgress } from './progress.tsx'
import { create, useTransfers, type Transfer } from './store.ts'

/** These pages show uploads themselves, unless a job is planned for them. */
const SHOWN_BY_PAGE: readonly Route['page'][] = ['new', 'uploads']

export function Tray({ page }: { page: Route['page'] }) {
  const shown = useTransfers().filter(({ order }) => order !== null || !SHOWN_BY_PAGE.includes(page))
  if (shown.length === 0) return null
  return (
    <aside class="tray" aria-label="Uploads in progress">
      <ul class="stack">
        {shown.map((transfer) => (
          <Row key={transfer.id} transfer={transfer} />
        ))}
      </ul>
    </aside>
  )
}

function Row({ transfer }: { transfer: Transfer }) {
  const { file, state, preview } = transfer
  return (
    <li>
      <span class="thumb">{preview ? <img src={preview.url} alt="" /> : <Icon name="film" size={20} />}</span>
      <div class="stack tight">
        <strong class="cut">{file.name}</strong>
        {state === 'stored' ? null : <TransferProgress transfer={transfer} />}
        <Outcome transfer={transfer} />
      </div>
      <TransferButtons transfer={transfer} />
    </li>
  )
}

function Outcome({ transfer }: { transfer: Transfer }) {
  const { id, state, order, uploaded } = transfer
  if (order === null) {
    return state === 'stored' && uploaded ? (
      <p class="help" role="status">
        Uploaded. <Link to={`/new?upload=${uploaded.uploaded_file_number}`}>Create job</Link>
      </p>
    ) : null
  }
  if (order.state === 'refused' && order.failure) {
    return (
      <div role="alert">
        <p class="problem">
          {order.failure.message} {order.failure.advice}
        </p>
        <button type="button" class="small" onClick={() => void create(id)}>
          Try again
        </button>
      </div>
    )
  }
  return (
    <p class="help" role="status">
      {order.state === 'created' && order.id !== null ? (
        <>
          <Icon name="check" size={16} /> <Link to={`/jobs/${order.id}`}>Job {order.id}</Link> created
        </>
      ) : order.state === 'creating' ? (
        'Creating the job …'
      ) : state === 'failed' || state === 'paused' ? (
        'The job is created when the upload is complete.'
      ) : (
        'Starts when uploaded. Keep this tab open.'
      )}
    </p>
  )
}
