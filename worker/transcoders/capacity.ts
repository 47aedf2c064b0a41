// In charge of: which slots exist: as many as are configured, or the slots of the transcoders that registered themselves;
// and which of them are free.
// Not in charge of: what they are given (scheduler/assignSlots.ts).
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import { SILENT_MS } from '#contract/task/registration.ts'
import { listKnownSlots, type KnownSlot } from '../db/tasks.ts'
import { countTranscoders, listReadySlots } from '../db/transcoders.ts'
import { settings } from '../env.ts'

export async function listSlots(env: Env, now: number): Promise<number[]> {
  const { maxSlots, transcoders } = settings(env)
  return transcoders === 'registered'
    ? listReadySlots(env.DB, TASK_PROTOCOL, now - SILENT_MS)
    : Array.from({ length: maxSlots }, (_, k) => k)
}

/** Slots that can take a task now. `doubtful`: their last start failed; the one that failed longest ago comes first. */
export async function listFreeSlots(env: Env, now: number): Promise<{ free: number[]; doubtful: KnownSlot[] }> {
  const [slots, known] = await Promise.all([listSlots(env, now), listKnownSlots(env.DB, now)])
  const taken = new Set(known.map(({ k }) => k))
  return {
    free: slots.filter((k) => !taken.has(k)),
    doubtful: known.filter(({ k, busy }) => busy === 0 && slots.includes(k)),
  }
}

/** Transcoders that registered themselves. `away`: lost, unreachable or incompatible. */
export function countRegistered(env: Env, now: number): Promise<{ ready: number; draining: number; away: number }> {
  return countTranscoders(env.DB, TASK_PROTOCOL, now - SILENT_MS)
}
