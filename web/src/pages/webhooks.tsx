// In charge of: the account's webhooks: how to receive them, their secret, and the deliveries of its last jobs.
// Not in charge of: the deliveries of one job with each attempt (../job/deliveries.tsx).
import { useEffect, useState } from 'preact/hooks'
import type { Delivery, ListedJob } from '#contract/api/answers.ts'
import { Signing } from '../admin/signing.tsx'
import { asError, listJobs, type Failure } from '../api/api.ts'
import { DELIVERY_STATES } from '../job/deliveries.tsx'
import { listDeliveries, replayDelivery } from '../job/resultApi.ts'
import { idOf } from '../jobs/bulkSelection.ts'
import { List } from '../parts/list.tsx'
import { Loading } from '../parts/loading.tsx'
import { ConnectionNotice } from '../parts/notice.tsx'
import { Link } from '../parts/router.tsx'
import { formatAge, formatDateTime } from '../text/format.ts'

/** The API lists deliveries by job. */
const JOBS = 20

type Sent = readonly [job: ListedJob, delivery: Delivery]

async function load(): Promise<Sent[]> {
  const { jobs } = await listJobs({ limit: JOBS, state: 'completed,failed,cancelled' })
  const all = await Promise.all(
    jobs.map(async (job) => (await listDeliveries(idOf(job))).map((each) => [job, each] as const)),
  )
  return all.flat()
}

export function Webhooks() {
  const [sent, setSent] = useState<Sent[] | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    setFailure(null)
    try {
      await work()
      setSent(await load())
    } catch (error) {
      setFailure(asError(error))
    }
  }
  const read = (): Promise<void> => run(() => Promise.resolve())
  useEffect(() => void read(), [])
  return (
    <>
      <h1>Webhooks</h1>
      <p class="help">
        Sent when a job ends, to the job’s <code>webhook_url</code> or else to its API key’s. To receive them on your
        own machine: <code>npx splicepoint webhooks listen</code>.
      </p>
      <Signing />
      <h2>Deliveries of the last {JOBS} jobs that ended</h2>
      {failure ? <ConnectionNotice failure={failure} retry={() => void read()} /> : null}
      {sent === null ? (
        failure ? null : (
          <Loading label="Loading the deliveries" lines={3} />
        )
      ) : sent.length === 0 ? (
        <p class="help">Nothing was sent: none of them has a webhook address.</p>
      ) : (
        <List heads={['Job', 'Event', 'State', 'Last response', 'Attempts', 'Created', '']}>
          {sent.map(([job, delivery]) => (
            <Row
              key={delivery.id}
              job={job}
              of={delivery}
              onReplay={() => void run(() => replayDelivery(idOf(job), delivery.id))}
            />
          ))}
        </List>
      )}
    </>
  )
}

function Row({ job, of, onReplay }: { job: ListedJob; of: Delivery; onReplay: () => void }) {
  const { event, state, attempts, created_at: at } = of
  const last = attempts.at(-1)
  const [label, looks] = DELIVERY_STATES[state]
  return (
    <li class="row">
      <div class="what">
        <span class="cut">
          <span class="help">#{idOf(job)}</span> <Link to={`/jobs/${idOf(job)}`}>{job.status.input_name}</Link>
        </span>
      </div>
      <div class="cells">
        <code class="help">{event}</code>
        <span>
          <span class={`badge ${looks}`}>{label}</span>
        </span>
        <span class="help figures">
          {last === undefined
            ? ''
            : `${last.status === null ? (last.error ?? 'No response') : `HTTP ${last.status}`} · ${last.milliseconds} ms`}
        </span>
        <span class="help figures" data-name="Attempts">
          {attempts.length}
        </span>
        <time class="help" dateTime={at} title={formatDateTime(at)}>
          {formatAge(at, Date.now())}
        </time>
        <div class="line actions">
          <button type="button" class="small" disabled={state === 'pending'} onClick={onReplay}>
            Replay
            <span class="hidden">
              {' '}
              {event} of job {idOf(job)}
            </span>
          </button>
        </div>
      </div>
    </li>
  )
}
