// In charge of: the progress of a job, as bars and as a badge.
import { PHASE_LABELS, STATE_LABELS, shownState, type ShownState } from '#contract/api/shownStates.ts'
import type { PublicStatus } from '#contract/api/status.ts'

export function Badge({ status }: { status: PublicStatus }) {
  return <StateBadge state={shownState(status)} />
}

export function StateBadge({ state: standing }: { state: ShownState }) {
  return <span class={`badge ${standing}`}>{STATE_LABELS[standing]}</span>
}

/** How much of a limit is used. */
export const percentOf = (used: number, limit: number): number =>
  limit === 0 ? 100 : Math.min(100, Math.floor((100 * used) / limit))

interface BarProps {
  label: string
  percent: number
  /** Replaces a visible label, for screen readers. */
  slim?: boolean
  children?: string
}

export function Bar({ label, percent, slim, children }: BarProps) {
  return (
    <div class={`stack tight${slim === true ? ' slim' : ''}${percent >= 100 ? ' full' : ''}`}>
      {slim === true ? null : (
        <div class="line apart">
          <span>{label}</span>
          <span class="help figures">
            {children ? `${children} · ` : ''}
            {percent} %
          </span>
        </div>
      )}
      <div
        class="track"
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
      >
        <div style={{ transform: `scaleX(${percent / 100})` }} />
      </div>
    </div>
  )
}

/** In a list: the transcode's bar with the phase; before it the place in the queue, after a failure the reason. */
export function SmallProgress({ status }: { status: PublicStatus }) {
  const { phase, queue_position: ahead, error } = status
  const percent = Number(status.tcode_progress)
  const text = error
    ? error.message
    : phase === 'queued' && ahead !== null
      ? ahead === 0
        ? 'next'
        : `${ahead} ahead`
      : ''
  if (status.job_completed || phase === 'queued')
    return (
      <span class="help cut" title={text}>
        {text}
      </span>
    )
  return (
    <div class="stack tight">
      <span class="help line apart">
        <span>{PHASE_LABELS[phase]}</span> <span class="figures">{percent} %</span>
      </span>
      <Bar slim label={`Progress: ${PHASE_LABELS[phase]}`} percent={percent} />
    </div>
  )
}
