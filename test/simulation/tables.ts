// In charge of: the rows of the simulated database, and what a new task has.
// Not in charge of: what statements do with them (databaseModel.ts, partsModel.ts).
import type { TaskState } from '#contract/task/lifecycle.ts'
import type { JobRow } from '../../worker/db/jobs.ts'
import type { TaskRow } from '../../worker/db/tasks.ts'

export type Task = Omit<TaskRow, 'job_id' | 'webhook' | 'has_plan'> & { plan: string | null } & {
  timeline: string
  starts_failed_total: number
  hurry_at: number | null
}
/** As much of a plan as the service reads. */
export interface SimulatedPlan {
  engine: { build: string }
}

export interface Usage {
  account: string
  month: string
  item: string
  class: string
  currency: string
  price: number
  quantity: number
}
export type Totals = { scope: string; series: Record<string, number> }
export type Job = Omit<JobRow, 'sealed' | 'priority' | 'retry_of' | 'deleted_at' | 'input_name' | 'source' | 'poster'>

export interface Slot {
  k: number
  task: string | null
  attempt: number | null
  account: string | null
  free_at: number
  unfit_for: string | null
}

/** What a statement returns. */
export type Row = Record<string, unknown>

export const ENDED: readonly TaskState[] = ['completed', 'failed', 'cancelled']

/** Of a new task. */
export function created(now: number) {
  const losses = { lost: 0, excused: 0, furthest: null, evicted: 0, parts: 0, survey_parts: 0 }
  const counts = {
    attempt: 0,
    ...losses,
    starts_failed: 0,
    starts_failed_total: 0,
    priority: 0,
    not_before: 0,
  }
  const places = { slot: null, plan: null, lease_until: null, updated_at: now }
  const timeline = JSON.stringify([{ type: 'job.created', at: now }])
  return { state: 'queued' as TaskState, timeline, ...counts, ...places }
}
