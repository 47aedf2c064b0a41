// In charge of: the progress of a job, as bars and as a badge.
import { PHASE_LABELS, STATE_LABELS, shownState } from '#contract/api/shownStates.ts'
import type { PublicStatus } from '#contract/api/status.ts'

export function Badge({ status }: { status: PublicStatus }) {
  const standing = shownState(status)
  return <span class={`badge ${standing}`}>{STATE_LABELS[standing]}</span>
}

interface BarProps {
  label: string
  percent: number
  /** Replaces a visible label, for screen readers. */
  slim?: boolean
  children?: string
}

export function Bar({ label, percent, slim, children }: BarProps) {
  return (
    <div class={`bar-line${slim === true ? ' slim' : ''}${percent >= 100 ? ' full' : ''}`}>
      {slim === true ? null : (
        <div class="bar-text">
          <span>{label}</span>
          <span class="figures">
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

/** In a list: the transcode's bar with the phase; no bar before it starts, nothing after its end. */
export function SmallProgress({ status }: { status: PublicStatus }) {
  if (status.job_completed) return null
  const phase = PHASE_LABELS[status.phase]
  const ahead = status.queue_position
  if (status.phase === 'queued')
    return ahead === null ? null : <span class="help">{ahead === 0 ? 'next' : `${ahead} ahead`}</span>
  return (
    <>
      <Bar slim label={`Progress: ${phase}`} percent={Number(status.tcode_progress)} />
      <span class="help">
        {phase}, {status.tcode_progress} %
      </span>
    </>
  )
}
