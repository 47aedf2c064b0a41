// In charge of: what can be done with a job: cancelling, retrying, running again with changes, deleting.
import { useMemo, useState } from 'preact/hooks'
import type { JobRead } from '#contract/answers.ts'
import { cancelJob, deleteJob, retryJob } from '../api.ts'
import { Link, navigate } from '../router.tsx'
import { standingOf } from '../words.ts'
import { Confirm } from './confirm.tsx'
import { Icon } from './icon.tsx'
import { asError, Trouble, type Failure } from './notice.tsx'

interface JobActionsProps {
  id: number
  job: JobRead
  onJob: (job: JobRead) => void
}

type Question = 'cancel' | 'delete'

export function JobActions({ id, job, onJob }: JobActionsProps) {
  const [asking, setAsking] = useState<Question | null>(null)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const once = useMemo(() => crypto.randomUUID(), [id])
  const { status } = job
  const standing = standingOf(status)
  const run = async (work: () => Promise<void>): Promise<void> => {
    setAsking(null)
    setBusy(true)
    setFailure(null)
    await work().catch((error: unknown) => setFailure(asError(error)))
    setBusy(false)
  }
  const retry = async () => navigate(`/jobs/${(await retryJob(id, once))._auto_generated_id_}`)
  const remove = async () => {
    await deleteJob(id)
    navigate('/')
  }
  return (
    <div class="actions">
      {status.job_completed ? null : (
        <button type="button" class="danger" disabled={busy} onClick={() => setAsking('cancel')}>
          <Icon name="stop" /> Cancel
        </button>
      )}
      {standing === 'failed' || standing === 'cancelled' ? (
        <button type="button" class="primary" disabled={busy} onClick={() => void run(retry)}>
          <Icon name="retry" /> Retry
        </button>
      ) : null}
      <Link to={`/new?from=${id}`} class="button">
        <Icon name="edit" /> Run again with changes
      </Link>
      {status.job_completed ? (
        <button type="button" class="danger" disabled={busy} onClick={() => setAsking('delete')}>
          <Icon name="trash" /> Delete
        </button>
      ) : null}
      {failure ? <Trouble failure={failure} /> : null}
      {asking === 'cancel' ? (
        <Confirm
          question={`Cancel job ${id}?`}
          consequence="What it has made so far is thrown away."
          action="Cancel the job"
          onYes={() => void run(async () => onJob(await cancelJob(id)))}
          onNo={() => setAsking(null)}
        />
      ) : null}
      {asking === 'delete' ? (
        <Confirm
          question={`Delete job ${id}?`}
          consequence="Its record and its outputs in the service’s own store are removed. Outputs in stores of yours stay."
          action="Delete the job"
          onYes={() => void run(remove)}
          onNo={() => setAsking(null)}
        />
      ) : null}
    </div>
  )
}
