// In charge of: numbers, times and progress as text. Pure.
import { formatBytes, formatDollars, formatDuration } from '#contract/api/formatUnits.ts'
import type { EstimateRange } from '#contract/task/dryRunEstimate.ts'
import { MAX_QUEUE_POSITION } from '#contract/limits.ts'
import { PHASE_LABELS, shownState } from '#contract/api/shownStates.ts'
import type { PublicStatus } from '#contract/api/status.ts'

export { formatBytes, formatDollars, formatDuration }

/** A transfer rate: "8.4 MB/s". */
export const formatRate = (bytesPerSecond: number): string => `${formatBytes(Math.round(bytesPerSecond))}/s`

/** "about 12 MB (9 to 15 MB)". */
export function formatRange(value: EstimateRange | null, spell: (figure: number) => string): string {
  if (value === null) return 'unknown: the source does not state its duration'
  const [low, likely, high] = [spell(value.low), spell(value.likely), spell(value.high)]
  return low === high ? `about ${likely}` : `about ${likely} (${low} to ${high})`
}

/** "just now", "5 minutes ago", then the date. */
export function formatAge(iso: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000)
  const count = (n: number, unit: string) => `${n} ${unit}${n === 1 ? '' : 's'} ago`
  if (seconds < 45) return 'just now'
  if (seconds < 3600) return count(Math.max(1, Math.round(seconds / 60)), 'minute')
  if (seconds < 86_400) return count(Math.round(seconds / 3600), 'hour')
  return new Date(iso).toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' })
}

export const formatDateTime = (iso: string): string =>
  new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export const formatTime = (iso: string): string => new Date(iso).toLocaleTimeString(undefined, { timeStyle: 'medium' })

export const sameDay = (a: string, b: string): boolean => new Date(a).toDateString() === new Date(b).toDateString()

/** One sentence about the phase of the job. */
export function describeProgress(status: PublicStatus): string {
  const standing = shownState(status)
  if (standing === 'completed') return status.dry_run ? 'The estimate is ready.' : 'All outputs are ready.'
  if (standing === 'failed') return 'The job failed.'
  if (standing === 'cancelled') return 'The job was cancelled.'
  const failed = status.failed_starts
  if (failed) return `No transcoder has started after ${failed.count} tries. Trying again. ${failed.message}`
  const waitingFor = status.waiting_for
  if (waitingFor) return `Waiting to try again. The last attempt failed: ${waitingFor.message}`
  const before = status.queue_position
  if (status.phase === 'queued' && before !== null) {
    if (before >= MAX_QUEUE_POSITION) return `Queued behind ${before} or more jobs.`
    return before === 0 ? 'Next in the queue.' : `Position ${before + 1} in the queue.`
  }
  const left = status.eta_seconds
  return `${PHASE_LABELS[status.phase]}${left === null ? '.' : `, about ${formatDuration(left)} left.`}`
}

/** Parts of a divided job; null = the job is not divided. */
export function describeParts({ chunks }: PublicStatus): string | null {
  if (chunks == null) return null
  return `${chunks.completed} of ${chunks.total} done${chunks.running === 0 ? '' : `, ${chunks.running} running`}`
}

/** The last quarter reached, for announcements to screen readers: 0, 25, 50, 75, 100. */
export const lastQuarter = (percent: number): number => Math.floor(percent / 25) * 25

/** "in 6 days", "in 3 hours", "in 10 minutes". */
export function formatTimeLeft(iso: string, now: number): string {
  const seconds = Math.max(0, (Date.parse(iso) - now) / 1000)
  const count = (n: number, unit: string) => `in ${n} ${unit}${n === 1 ? '' : 's'}`
  if (seconds < 3600) return count(Math.max(1, Math.round(seconds / 60)), 'minute')
  if (seconds < 86_400) return count(Math.round(seconds / 3600), 'hour')
  return count(Math.round(seconds / 86_400), 'day')
}
