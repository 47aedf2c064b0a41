// In charge of: the rows of the simulated database, as far as the simulation reads them.
// Not in charge of: how they are read (ledger.ts).
import type { TaskState } from '#contract/task/lifecycle.ts'
import type { JobRow } from '../../worker/db/jobs.ts'
import type { TaskRow } from '../../worker/db/tasks.ts'

export type Task = Omit<TaskRow, 'job_id' | 'webhook' | 'has_plan'> & {
  plan: string | null
  timeline: string
  starts_failed_total: number
  hurry_at: number | null
}

/** As much of a plan as the service reads. */
export interface SimulatedPlan {
  engine: { build: string }
}

export type Job = Pick<
  JobRow,
  'id' | 'job_id' | 'account' | 'state' | 'error' | 'started_at' | 'finished_at' | 'deadline_at'
>

export interface Slot {
  k: number
  task: string | null
  attempt: number | null
  account: string | null
  free_at: number
  unfit_for: string | null
}

export const ENDED: readonly TaskState[] = ['completed', 'failed', 'cancelled']
