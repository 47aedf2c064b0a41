// In charge of: the five states of a job that people read, and its phases, the same in the dashboard, the command line and the list's filter.
// Not in charge of: the contract's own words, `state` and `phase` (status.ts).
import type { JobPhase, PublicStatus } from './status.ts'

export const STATE_LABELS = {
  queued: 'Queued',
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const

export type ShownState = keyof typeof STATE_LABELS

/** `state` is "ready" both before the start and after success (specification 3). */
export function shownState({ state, job_completed }: Pick<PublicStatus, 'state' | 'job_completed'>): ShownState {
  if (state === 'error') return 'failed'
  if (state === 'cancelled') return 'cancelled'
  if (state === 'ready') return job_completed ? 'completed' : 'queued'
  return 'running'
}

export const PHASE_LABELS: Readonly<Record<JobPhase, string>> = {
  queued: 'Queued',
  starting: 'Starting a transcoder',
  probing: 'Analysing the source',
  sampling: 'Encoding samples',
  transcoding: 'Transcoding',
  packaging: 'Packaging',
  uploading: 'Uploading outputs',
  committing: 'Publishing outputs',
  done: 'Finished',
}
