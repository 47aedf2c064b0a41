// In charge of: what an attempt that plans has to know of the transcoders that may work on its job, and of the end time that
// the client wants.
// Not in charge of: the order of waiting tasks (db/tasks.ts), what follows for the plan (transcoder/division/plan).
import { isPlanning } from '#contract/task/divisionAbilities.ts'
import type { TaskDescription } from '#contract/task/protocol.ts'
import { findAccount } from '../db/accounts.ts'
import type { Job } from '../db/jobs.ts'
import type { TaskRow } from '../db/tasks.ts'
import { listFreeSlots, listSlots } from '../transcoders/capacity.ts'

/** A dry run describes a job that would be created later: nothing of its time is over. */
export async function describeDeadline(
  env: Env,
  { account, config, created_at: created }: Job,
  task: TaskRow,
  now: number,
): Promise<Pick<TaskDescription, 'deadline' | 'slots' | 'free_slots'>> {
  const { deadline_seconds: seconds } = config
  if (!isPlanning(task)) return {}
  const [known, { all }, { max_running: most }] = await Promise.all([
    listSlots(env, now),
    listFreeSlots(env, now),
    findAccount(env.DB, account),
  ])
  // The transcoder that asks exists, even if it has just become silent.
  const slots = Math.max(1, Math.min(known.length, most ?? known.length))
  const free = known.filter((k) => k === task.slot || all.free.includes(k)).length
  const given = { slots, free_slots: Math.max(1, Math.min(slots, free)) }
  if (seconds === undefined) return given
  const passed = task.kind === 'plan' ? 0 : (now - created) / 1000
  return { ...given, deadline: { seconds_left: Math.max(0, seconds - passed), slots } }
}
