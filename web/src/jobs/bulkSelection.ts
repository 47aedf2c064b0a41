// In charge of: which actions are possible for several jobs, and for which of them. Pure.
// Not in charge of: executing them (selection.tsx).
import { shownState } from '#contract/api/shownStates.ts'
import type { ListedJob } from '#contract/api/answers.ts'

export type BulkAction = 'cancel' | 'retry' | 'delete'

export const idOf = (job: ListedJob): number => job._auto_generated_id_

/** The jobs to which the action applies. */
export function jobsFor(deed: BulkAction, jobs: readonly ListedJob[]): ListedJob[] {
  return jobs.filter(({ status }) => {
    const standing = shownState(status)
    if (deed === 'cancel') return !status.job_completed
    if (deed === 'retry') return standing === 'failed' || standing === 'cancelled'
    return status.job_completed
  })
}
