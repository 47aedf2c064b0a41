// In charge of: one job in the list.
import type { ListedJob } from '#contract/api/answers.ts'
import { dimensions, runningTime } from '../text/mediaTerms.ts'
import { uprightSize } from '../text/mediaDetails.ts'
import { Badge, SmallProgress } from '../parts/progress.tsx'
import { Link } from '../parts/router.tsx'
import { formatAge, formatBytes, formatDuration, formatDateTime } from '../text/format.ts'
import { Poster } from '../parts/poster.tsx'

/** The first source, and how many follow. */
function nameOf({ status, inputs = [] }: ListedJob): string {
  return inputs.length > 1 ? `${status.input_name} + ${inputs.length - 1}` : status.input_name
}

interface RowProps {
  job: ListedJob
  selected: boolean
  onSelect: (selected: boolean, range: boolean) => void
}

export function Row({ job, selected, onSelect }: RowProps) {
  const { status } = job
  const id = job._auto_generated_id_
  return (
    <li class={selected ? 'row selected' : 'row'}>
      <label class="check">
        <input
          type="checkbox"
          checked={selected}
          // With Shift, everything between this job and the previously clicked one as well.
          onClick={(event) => onSelect(event.currentTarget.checked, event.shiftKey)}
        />
        <span class="hidden">Select job {id}</span>
      </label>
      <Poster status={status} />
      <div class="what">
        <span class="cut">
          <span class="help">#{id}</span> <Link to={`/jobs/${id}`}>{nameOf(job)}</Link>
        </span>
        {Object.keys(job.metadata ?? {}).length > 0 ? (
          <span class="line names">
            {Object.entries(job.metadata).map(([name, value]) => (
              <span key={name} class="tag cut">
                {name}: {value}
              </span>
            ))}
          </span>
        ) : null}
      </div>
      <div class="cells">
        <span class="help figures cut">{factsOf(job).join(' · ')}</span>
        <span>
          <Badge status={status} /> {status.dry_run ? <span class="badge dry">Dry run</span> : null}
        </span>
        <SmallProgress status={status} />
        <span class="help figures">{timeOf(job)}</span>
        <time class="help figures" dateTime={status.created_at} title={formatDateTime(status.created_at)}>
          {formatAge(status.created_at, Date.now())}
        </time>
      </div>
    </li>
  )
}

/** Length and size of the source ("0:24", "1280 × 720"), and the total bytes of the outputs ("10.5 MB"). */
function factsOf({ status }: ListedJob): string[] {
  const { source, outputs } = status
  const made = outputs.reduce((sum, { size, segments }) => sum + size + (segments?.bytes ?? 0), 0)
  const size = source?.video ? uprightSize(source.video) : null
  return [
    ...(source?.duration_seconds ? [runningTime(source.duration_seconds)] : []),
    ...(size ? [dimensions(size.width, size.height)] : []),
    ...(made > 0 ? [formatBytes(made)] : []),
  ]
}

/** What is left of a running job; what a finished one took. */
function timeOf({ status }: ListedJob): string {
  const { started_at: from, finished_at: to, eta_seconds: left } = status
  if (!status.job_completed) return left === null ? '' : `${formatDuration(left)} left`
  return from && to && !status.dry_run ? formatDuration((Date.parse(to) - Date.parse(from)) / 1000) : ''
}
