// In charge of: one job's page: how it stands, live, and what can be done with it.
// Not in charge of: how news arrive (live.ts), the player (parts/player.tsx).
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { PublicEvent } from '#contract/events.ts'
import type { PublicStatus } from '#contract/status.ts'
import { cancelJob, deleteJob, retryJob, type Job as JobAnswer } from '../api.ts'
import { watchJob } from '../live.ts'
import { Configuration } from '../parts/configuration.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { EstimateView } from '../parts/estimate.tsx'
import { asError, Trouble, type Failure } from '../parts/notice.tsx'
import { Outputs } from '../parts/outputs.tsx'
import { Player } from '../parts/player.tsx'
import { Badge, Bar } from '../parts/progress.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { Link, navigate } from '../router.tsx'
import { duration, inputName, situation, standingOf } from '../words.ts'

export function Job({ id }: { id: number }) {
  const [job, setJob] = useState<JobAnswer | null>(null)
  const [events, setEvents] = useState<readonly PublicEvent[]>([])
  const [failure, setFailure] = useState<Failure | null>(null)
  const [attempt, setAttempt] = useState(0)

  useEffect(
    () =>
      watchJob(id, {
        onJob: (news) => {
          setJob(news)
          setFailure(null)
        },
        onEvents: setEvents,
        onTrouble: (trouble) => setFailure(trouble === null ? null : asError(trouble)),
      }),
    [id, attempt],
  )

  return (
    <>
      <p class="crumb">
        <Link to="/">All jobs</Link>
      </p>
      {failure ? <Trouble failure={failure} retry={() => setAttempt(attempt + 1)} /> : null}
      {job ? (
        <JobView id={id} job={job} events={events} onJob={setJob} />
      ) : failure ? null : (
        <div class="skeleton" role="status" aria-label={`Loading job ${id}`}>
          <div />
          <div />
        </div>
      )}
    </>
  )
}

interface ActionsProps {
  id: number
  job: JobAnswer
  onJob: (job: JobAnswer) => void
}

function JobView({ id, job, events, onJob }: ActionsProps & { events: readonly PublicEvent[] }) {
  const { status, config } = job
  return (
    <>
      <div class="head">
        <h1>
          <span class="number">{id}</span> {inputName(config.input)}
        </h1>
        <Badge status={status} />
        {status.dry_run ? <span class="badge dry">Dry run</span> : null}
        <Actions id={id} job={job} onJob={onJob} />
      </div>
      <p class="help address">
        {config.input}
        {status.retry_of === null ? null : (
          <>
            {' '}
            · repeats <Link to={`/jobs/${status.retry_of}`}>job {status.retry_of}</Link>
          </>
        )}
      </p>
      {/* Told to readers of the screen when the phase changes, not with every percent. */}
      <p class="hidden" role="status">
        Job {id}: {situation({ ...status, eta_seconds: null })}
      </p>
      <div class="columns">
        <div class="column">
          <section class="card" aria-labelledby="progress">
            <h2 id="progress">Progress</h2>
            <p class="situation">{situation(status)}</p>
            {status.dry_run ? null : <Bars status={status} />}
          </section>
          {status.error ? (
            <section aria-label="Error">
              <Trouble failure={status.error} />
            </section>
          ) : null}
          <Player outputs={status.outputs} />
          {status.estimate ? (
            <section class="card" aria-labelledby="estimate">
              <h2 id="estimate">What it would make and take</h2>
              <EstimateView estimate={status.estimate} />
            </section>
          ) : null}
          <Outputs outputs={status.outputs} />
        </div>
        <div class="column side">
          <Timeline events={events} status={status} />
          {status.warnings.length > 0 ? (
            <section class="card" aria-labelledby="warnings">
              <h2 id="warnings">Warnings</h2>
              <ul class="plain">
                {status.warnings.map((warning) => (
                  <li key={warning.code + warning.message}>
                    {warning.message}
                    <span class="help">
                      <code>{warning.code}</code> {warning.field ? <code>{warning.field}</code> : null}
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          ) : null}
          <Configuration config={config} />
        </div>
      </div>
    </>
  )
}

function Bars({ status }: { status: PublicStatus }) {
  const known = (text: string | null): text is string => text !== null && !text.startsWith('-')
  const transcode = [
    known(status.tcode_speed) ? `${status.tcode_speed} × real time` : '',
    known(status.tcode_time) ? duration(Number(status.tcode_time)) : '',
  ]
  const transfer = [
    known(status.xfer_speed) ? `${status.xfer_speed} MB/s` : '',
    Number(status.xfer_time) > 0 ? duration(Number(status.xfer_time)) : '',
  ]
  return (
    <>
      <Bar label="Transcode" percent={Number(status.tcode_progress)}>
        {transcode.filter(Boolean).join(', ')}
      </Bar>
      <Bar label="Transfer" percent={Number(status.xfer_progress)}>
        {transfer.filter(Boolean).join(', ')}
      </Bar>
    </>
  )
}

type Question = 'cancel' | 'delete'

function Actions({ id, job, onJob }: ActionsProps) {
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
          Cancel
        </button>
      )}
      {standing === 'failed' || standing === 'cancelled' ? (
        <button type="button" class="primary" disabled={busy} onClick={() => void run(retry)}>
          Retry
        </button>
      ) : null}
      <Link to={`/new?from=${id}`} class="button">
        Run again with changes
      </Link>
      {status.job_completed ? (
        <button type="button" class="danger" disabled={busy} onClick={() => setAsking('delete')}>
          Delete
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
