// In charge of: what an attempt that plans has to know of the end time that the client wants.
// Not in charge of: the order of waiting tasks (db/tasks.ts), what follows for the plan (transcoder/plan/division).
import type { TaskDescription } from '#contract/task/protocol.ts'
import { findAccount } from '../db/accounts.ts'
import type { Job } from '../db/jobs.ts'
import type { TaskRow } from '../db/tasks.ts'
import { listSlots } from '../transcoders/capacity.ts'

/** A dry run describes a job that would be created later: nothing of its time is over. */
export async function describeDeadline(
  env: Env,
  { account, config, created_at: created }: Job,
  task: TaskRow,
  now: number,
): Promise<Pick<TaskDescription, 'deadline'>> {
  const { deadline_seconds: seconds } = config
  if (seconds === undefined || task.kind === 'part' || task.parts > 0) return {}
  const [slots, { max_running: most }] = await Promise.all([listSlots(env, now), findAccount(env.DB, account)])
  const passed = task.kind === 'plan' ? 0 : (now - created) / 1000
  return {
    deadline: {
      seconds_left: Math.max(0, seconds - passed),
      // The one that asks exists, also if it has just become silent.
      slots: Math.max(1, Math.min(slots.length, most ?? slots.length)),
    },
  }
}
