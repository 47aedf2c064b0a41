// In charge of: one job's page: its live state and its result.
// Not in charge of: how updates arrive (../api/jobWatch.ts), its parts (../job/).
import { shownState } from '#contract/api/shownStates.ts'
import { useEffect, useState } from 'preact/hooks'
import type { JobRead, PublicEvent } from '#contract/api/answers.ts'
import type { Warning } from '#contract/errors.ts'
import { JobActions } from '../job/actions.tsx'
import { Deliveries } from '../job/deliveries.tsx'
import { Log } from '../job/log.tsx'
import { Extracts } from '../job/extracts.tsx'
import { Outputs } from '../job/outputs.tsx'
import { JobProgress } from '../job/progress.tsx'
import { Result } from '../job/result.tsx'
import { Settings } from '../job/settings.tsx'
import { Source } from '../job/source.tsx'
import { Timeline } from '../job/timeline.tsx'
import { watchJob } from '../api/jobWatch.ts'
import { EstimateView } from '../parts/estimate.tsx'
import { Loading } from '../parts/loading.tsx'
import { asError, type Failure } from '../api/api.ts'
import { ConnectionNotice } from '../parts/notice.tsx'
import { Badge } from '../parts/progress.tsx'
import { Link } from '../parts/router.tsx'
import { formatAge, formatDateTime } from '../text/format.ts'
import { addressOf, ALL } from '../api/jobFilters.ts'

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
      <p class="help">
        <Link to="/">All jobs</Link>
      </p>
      {failure ? <ConnectionNotice failure={failure} retry={() => setAttempt(attempt + 1)} /> : null}
      {job ? (
        <JobView id={id} job={job} events={events} onJob={setJob} />
      ) : failure ? (
        <h1>Job {id}</h1>
      ) : (
        <Loading label={`Loading job ${id}`} lines={4} />
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
  const done = shownState(status) === 'completed'
  const progress = <JobProgress id={id} status={status} />
  return (
    <>
      <div class="head line apart">
        <div class="stack tight grow">
          <div class="line">
            <h1>{status.input_name}</h1>
            <Badge status={status} />
            {status.dry_run ? <span class="badge dry">Dry run</span> : null}
          </div>
          <p class="help">
            Job {id} · created{' '}
            <time title={formatDateTime(status.created_at)}>{formatAge(status.created_at, Date.now())}</time>
            {status.retry_of === null ? null : (
              <>
                {' '}
                · retry of <Link to={`/jobs/${status.retry_of}`}>job {status.retry_of}</Link>
              </>
            )}
          </p>
          {config.input === undefined ? null : <p class="help">{config.input}</p>}
        </div>
        <JobActions id={id} job={job} onJob={onJob} />
      </div>
      <div class="stack loose columns">
        <div class="stack loose">
          {status.error ? (
            <section aria-label="Error">
              <ConnectionNotice failure={status.error} />
            </section>
          ) : null}
          {done ? null : progress}
          <Result status={status} />
          {status.estimate ? (
            <section class="card stack" aria-labelledby="estimate">
              <h2 id="estimate">Estimate</h2>
              <EstimateView estimate={status.estimate} />
            </section>
          ) : null}
          <Extracts outputs={status.outputs} />
          <Outputs outputs={status.outputs} />
          {done ? progress : null}
          {status.started_at === null ? null : (
            <Log
              key={String(status.error === null)}
              id={id}
              version={`${status.phase} ${events.length} ${status.finished_at}`}
              isRunning={!status.job_completed}
              chunks={status.chunks}
              hasFailed={status.error !== null}
            />
          )}
        </div>
        <div class="stack loose">
          {status.source && !status.estimate ? <Source source={status.source} /> : null}
          <Warnings warnings={status.warnings} />
          <Metadata metadata={config.metadata ?? {}} />
          <Settings config={config} />
          <Deliveries id={id} ended={status.job_completed} address={config.webhook_url ?? null} />
          <Timeline events={events} status={status} />
        </div>
      </div>
    </>
  )
}

function Warnings({ warnings }: { warnings: readonly Warning[] }) {
  if (warnings.length === 0) return null
  return (
    <section class="card stack" aria-labelledby="warnings">
      <h2 id="warnings">Warnings</h2>
      <ul class="stack">
        {warnings.map((warning) => (
          <li key={warning.code + warning.message} class="stack tight">
            {warning.message}
            <span class="help">
              <code>{warning.code}</code> {warning.field ? <code>{warning.field}</code> : null}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function Metadata({ metadata }: { metadata: Readonly<Record<string, string>> }) {
  const members = Object.entries(metadata)
  if (members.length === 0) return null
  return (
    <section class="card stack" aria-labelledby="metadata">
      <h2 id="metadata">Metadata</h2>
      <dl class="stack facts">
        {members.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Link to={addressOf({ ...ALL, metadata: `${name}:${value}` })}>{value}</Link>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
