// In charge of: news of a job that come on two ways, readings and the event stream, and cross there: which of them is behind
// the other. Pure.
import type { PublicStatus } from '#contract/api/status.ts'

/** The figures of 2.4 as an event brings them, in place of the ones that were read. */
export function withProgressEvents(status: PublicStatus, data: string): PublicStatus {
  const { attempt: _attempt, ...figures } = JSON.parse(data) as Partial<PublicStatus> & { attempt?: number }
  return { ...status, ...figures, state: 'running', queue_position: null }
}

/** Progress never goes back (I4): news of less than what is shown are older than it. */
export function isOlder(news: PublicStatus, shown: PublicStatus): boolean {
  const less = (figure: 'tcode_progress' | 'xfer_progress') => Number(news[figure]) < Number(shown[figure])
  return !news.job_completed && (less('tcode_progress') || less('xfer_progress'))
}
