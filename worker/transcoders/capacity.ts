// In charge of: which slots exist: as many as are configured, or the slots of the transcoders that registered themselves.
// Not in charge of: which of them are free (scheduler/assignSlots.ts).
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import { SILENT_MS } from '#contract/task/registration.ts'
import { countTranscoders, listReadySlots } from '../db/transcoders.ts'
import { settings } from '../env.ts'

export async function listSlots(env: Env, now: number): Promise<number[]> {
  const { maxSlots, transcoders } = settings(env)
  return transcoders === 'registered'
    ? listReadySlots(env.DB, TASK_PROTOCOL, now - SILENT_MS)
    : Array.from({ length: maxSlots }, (_, k) => k)
}

/** Transcoders that registered themselves. `away`: lost, unreachable or incompatible. */
export function countRegistered(env: Env, now: number): Promise<{ ready: number; away: number }> {
  return countTranscoders(env.DB, TASK_PROTOCOL, now - SILENT_MS)
}
