// In charge of: one job's page: how it stands, live, and what came of it.
// Not in charge of: how news arrive (live.ts), its parts (parts/).
import { useEffect, useState } from 'preact/hooks'
import type { JobRead } from '#contract/answers.ts'
import type { PublicEvent } from '#contract/events.ts'
import { watchJob } from '../live.ts'
import { Configuration } from '../parts/configuration.tsx'
import { EstimateView } from '../parts/estimate.tsx'
import { JobActions } from '../parts/job-actions.tsx'
import { JobProgress } from '../parts/job-progress.tsx'
import { Loading } from '../parts/loading.tsx'
import { asError, Trouble, type Failure } from '../parts/notice.tsx'
import { Outputs } from '../parts/outputs.tsx'
import { ResultPlayer } from '../parts/player.tsx'
import { Badge } from '../parts/progress.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { Link } from '../router.tsx'

export function Job({ id }: { id: number }) {
  const [job, setJob] = useState<JobRead | null>(null)
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
        <Loading label={`Loading job ${id}`} />
      )}
    </>
  )
}

interface JobViewProps {
  id: number
  job: JobRead
  events: readonly PublicEvent[]
  onJob: (job: JobRead) => void
}

function JobView({ id, job, events, onJob }: JobViewProps) {
  const { status, config } = job
  return (
    <>
      <div class="head">
        <div class="title">
          <h1>
            <span class="number">{id}</span> {status.input_name}
          </h1>
          <Badge status={status} />
          {status.dry_run ? <span class="badge dry">Dry run</span> : null}
          <p class="help address">
            {config.input}
            {status.retry_of === null ? null : (
              <>
                {' '}
                · repeats <Link to={`/jobs/${status.retry_of}`}>job {status.retry_of}</Link>
              </>
            )}
          </p>
        </div>
        <JobActions id={id} job={job} onJob={onJob} />
      </div>
      <div class="columns">
        <div class="column">
          {status.error ? (
            <section aria-label="Error">
              <Trouble failure={status.error} />
            </section>
          ) : null}
          <JobProgress id={id} status={status} />
          <ResultPlayer status={status} />
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
