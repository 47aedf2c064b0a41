// In charge of: the actions on a job: sharing and downloading its result, cancelling, retrying, editing and running it
// again, deleting.
import { shownState } from '#contract/api/shownStates.ts'
import { useMemo, useState } from 'preact/hooks'
import type { JobRead } from '#contract/api/answers.ts'
import { jobErrorPolicies, type JobErrorCode } from '#contract/errorCodes.ts'
import { cancelJob, deleteJob, retryJob, asError, type Failure } from '../api/api.ts'
import { Link, navigate } from '../parts/router.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Icon } from '../parts/icon.tsx'
import { ConnectionNotice } from '../parts/notice.tsx'
import { ShareDialog } from './share.tsx'

interface JobActionsProps {
  id: number
  job: JobRead
  onJob: (job: JobRead) => void
}

const WITHOUT_AUDIO: readonly unknown[] = ['audio_stream_missing', 'audio_stream_undecodable'] satisfies JobErrorCode[]

type Question = 'cancel' | 'delete' | 'share'

export function JobActions({ id, job, onJob }: JobActionsProps) {
  const [asking, setAsking] = useState<Question | null>(null)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const once = useMemo(() => crypto.randomUUID(), [id])
  const { status } = job
  const standing = shownState(status)
  const lacksAudio = WITHOUT_AUDIO.includes(status.error?.code)
  // A retry would fail in the same way.
  const isFinal = status.error !== null && jobErrorPolicies[status.error.code].permanent
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
    <div class="line actions">
      {status.archive_url === null ? null : (
        <>
          <button type="button" class="primary" onClick={() => setAsking('share')}>
            <Icon name="share" /> Share
          </button>
          <a class="button" href={status.archive_url} download={`${status.input_name}.tar`}>
            <Icon name="download" /> Download all
          </a>
        </>
      )}
      {status.job_completed ? null : (
        <button type="button" class="danger" disabled={busy} onClick={() => setAsking('cancel')}>
          <Icon name="stop" /> Cancel
        </button>
      )}
      {lacksAudio ? (
        <Link to={`/new?from=${id}&audio=optional`} class="button primary">
          <Icon name="edit" /> Run without that audio
        </Link>
      ) : null}
      {standing === 'failed' || standing === 'cancelled' ? (
        <button type="button" class={isFinal ? '' : 'primary'} disabled={busy} onClick={() => void run(retry)}>
          <Icon name="retry" /> Retry
        </button>
      ) : null}
      <Link to={`/new?from=${id}`} class={isFinal && !lacksAudio ? 'button primary' : 'button'}>
        <Icon name="edit" /> Edit and rerun
      </Link>
      {status.job_completed ? (
        <button type="button" class="danger" disabled={busy} onClick={() => setAsking('delete')}>
          <Icon name="trash" /> Delete
        </button>
      ) : null}
      {failure ? <ConnectionNotice failure={failure} /> : null}
      {asking === 'share' ? <ShareDialog id={id} name={status.input_name} onClose={() => setAsking(null)} /> : null}
      {asking === 'cancel' ? (
        <Confirm
          question={`Cancel job ${id}?`}
          consequence="Work done so far is discarded. The source is not changed."
          action="Cancel the job"
          keepLabel="Keep it running"
          onYes={() => void run(async () => onJob(await cancelJob(id)))}
          onNo={() => setAsking(null)}
        />
      ) : null}
      {asking === 'delete' ? (
        <Confirm
          question={`Delete job ${id}?`}
          consequence="The job, its outputs in the service’s storage and its share links are removed. Outputs in your own buckets stay."
          action="Delete the job"
          onYes={() => void run(remove)}
          onNo={() => setAsking(null)}
        />
      ) : null}
    </div>
  )
}
