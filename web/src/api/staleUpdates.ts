// In charge of: deciding which of two updates of a job is older, since polls and the event stream may overtake each
// other. Pure.
import type { PublicStatus } from '#contract/api/status.ts'

/** The status with the progress fields of an event in place of its own. */
export function withProgressEvents(status: PublicStatus, data: string): PublicStatus {
  const { attempt: _attempt, ...figures } = JSON.parse(data) as Partial<PublicStatus> & { attempt?: number }
  return { ...status, ...figures, state: 'running', queue_position: null }
}

/** Progress never goes back (I4): an update with less progress than the shown one is older. */
export function isOlder(news: PublicStatus, shown: PublicStatus): boolean {
  const less = (figure: 'tcode_progress' | 'xfer_progress') => Number(news[figure]) < Number(shown[figure])
  return !news.job_completed && (less('tcode_progress') || less('xfer_progress'))
}
