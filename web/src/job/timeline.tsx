// In charge of: the events of a job with their times.
import { STATE_LABELS, shownState } from '#contract/api/shownStates.ts'
import type { PublicEvent } from '#contract/api/answers.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { formatTime, formatDuration, formatDateTime, sameDay } from '../text/format.ts'

interface Entry {
  text: string
  /** null = not yet. */
  at: string | null
}

/** From the status itself, until the events are loaded. */
function entriesOf(status: PublicStatus): Entry[] {
  return [
    { text: 'Created', at: status.created_at },
    { text: 'Started', at: status.started_at },
    { text: status.finished_at ? STATE_LABELS[shownState(status)] : 'Finished', at: status.finished_at },
  ]
}

export function Timeline({ events, status }: { events: readonly PublicEvent[]; status: PublicStatus }) {
  const entries =
    events.length > 0
      ? events.map(({ type, message, at }) => ({ text: type === 'job.failed' ? STATE_LABELS.failed : message, at }))
      : entriesOf(status)
  /** The day is shown if it differs from the previous entry's. */
  const when = (index: number): string => {
    const [before, now] = [entries[index - 1]?.at, entries[index]?.at]
    if (!now) return 'pending'
    if (!before) return formatDateTime(now)
    const later = formatDuration((Date.parse(now) - Date.parse(before)) / 1000)
    return `${sameDay(before, now) ? formatTime(now) : formatDateTime(now)}, ${later} later`
  }
  return (
    <section class="card stack" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol class="timeline">
        {entries.map(({ text, at }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- what happened stays in its place
          <li key={index} class={at ? '' : 'ahead'}>
            <span>{text}</span>
            <span class="help">{when(index)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}
