// In charge of: which slots exist: as many as are configured, or the slots of the transcoders that registered themselves;
// and which of them are free.
// Not in charge of: what they are given (scheduler/assignSlots.ts).
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import { SILENT_MS } from '#contract/task/registration.ts'
import { listKnownSlots, type KnownSlot } from '../db/tasks.ts'
import { countTranscoders, listReadySlots } from '../db/transcoders.ts'
import { settings } from '../env.ts'

/** Those that take every task. */
export async function listSlots(env: Env, now: number): Promise<number[]> {
  const { maxSlots, dryRunSlots, transcoders } = settings(env)
  return transcoders === 'registered'
    ? listReadySlots(env.DB, TASK_PROTOCOL, now - SILENT_MS)
    : Array.from({ length: maxSlots - dryRunSlots }, (_, k) => k)
}

/** Those that take dry runs alone, so that a look at a source does not wait until an encode has ended. */
export function listDryRunSlots(env: Env): number[] {
  const { maxSlots, dryRunSlots, transcoders } = settings(env)
  return transcoders === 'registered' ? [] : Array.from({ length: dryRunSlots }, (_, n) => maxSlots - dryRunSlots + n)
}

/** Slots that can take a task now. `doubtful`: their last start failed; the one that failed longest ago comes first. */
export interface FreeSlots {
  free: number[]
  doubtful: KnownSlot[]
}

export async function listFreeSlots(env: Env, now: number): Promise<{ all: FreeSlots; dryRuns: FreeSlots }> {
  const [slots, known] = await Promise.all([listSlots(env, now), listKnownSlots(env.DB, now)])
  const taken = new Set(known.map(({ k }) => k))
  const freeOf = (some: number[]): FreeSlots => ({
    free: some.filter((k) => !taken.has(k)),
    doubtful: known.filter(({ k, busy }) => busy === 0 && some.includes(k)),
  })
  return { all: freeOf(slots), dryRuns: freeOf(listDryRunSlots(env)) }
}

/** Transcoders that registered themselves. `away`: lost, unreachable or incompatible. */
export function countRegistered(env: Env, now: number): Promise<{ ready: number; draining: number; away: number }> {
  return countTranscoders(env.DB, TASK_PROTOCOL, now - SILENT_MS)
}
