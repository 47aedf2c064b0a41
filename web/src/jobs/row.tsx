// In charge of: one job in the history.
import type { ListedJob } from '#contract/answers.ts'
import { Badge, SmallProgress } from '../parts/progress.tsx'
import { Link } from '../router.tsx'
import { ago, duration, moment, standingOf } from '../words.ts'

export function Row({ job }: { job: ListedJob }) {
  const { status } = job
  const id = job._auto_generated_id_
  const seconds =
    status.started_at && status.finished_at
      ? (Date.parse(status.finished_at) - Date.parse(status.started_at)) / 1000
      : null
  return (
    <li class={`row ${standingOf(status)}`}>
      <div class="what">
        <Link to={`/jobs/${id}`}>
          <span class="number">{id}</span> {status.input_name}
        </Link>
        {status.dry_run ? <span class="badge dry">Dry run</span> : null}
        <span class="help address">{job.input}</span>
      </div>
      <div class="how">
        <Badge status={status} />
        {seconds === null || status.error ? null : <span class="help">in {duration(seconds)}</span>}
        {status.error ? <span class="help">{status.error.code}</span> : null}
        <SmallProgress status={status} />
      </div>
      <time class="help" dateTime={status.created_at} title={moment(status.created_at)}>
        {ago(status.created_at, Date.now())}
      </time>
    </li>
  )
}
