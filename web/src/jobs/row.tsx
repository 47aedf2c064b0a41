// In charge of: one job in the list.
import { shownState } from '#contract/api/shownStates.ts'
import type { ListedJob } from '#contract/api/answers.ts'
import { dimensions, runningTime } from '../text/mediaTerms.ts'
import { uprightSize } from '../text/mediaDetails.ts'
import { Badge, SmallProgress } from '../parts/progress.tsx'
import { Link } from '../parts/router.tsx'
import { formatAge, formatBytes, formatDuration, formatDateTime } from '../text/format.ts'
import { Poster } from './poster.tsx'

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
    <li class={`row ${shownState(status)}${selected ? ' selected' : ''}`}>
      <label class="pick">
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
        <Link to={`/jobs/${id}`}>{nameOf(job)}</Link>
        <span class="help facts-line">
          <span class="number">#{id}</span>
          {factsOf(job).map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </span>
        {Object.keys(job.metadata ?? {}).length > 0 ? (
          <span class="tags">
            {Object.entries(job.metadata).map(([name, value]) => (
              <span key={name} class="tag">
                {name}: {value}
              </span>
            ))}
          </span>
        ) : null}
      </div>
      <div class="how">
        <Badge status={status} />
        {status.dry_run ? <span class="badge dry">Dry run</span> : null}
        {tookOf(job)}
        <SmallProgress status={status} />
      </div>
      <time class="help" dateTime={status.created_at} title={formatDateTime(status.created_at)}>
        {formatAge(status.created_at, Date.now())}
      </time>
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
    ...(made > 0 ? [`${formatBytes(made)} output`] : []),
  ]
}

function tookOf({ status }: ListedJob) {
  if (status.error) return <span class="help why">{status.error.message}</span>
  if (!status.started_at || !status.finished_at || status.dry_run || shownState(status) !== 'completed') return null
  const seconds = (Date.parse(status.finished_at) - Date.parse(status.started_at)) / 1000
  return <span class="help">in {formatDuration(seconds)}</span>
}
