// In charge of: giving free slots to waiting tasks.
// Not in charge of: the order of tasks (db/tasks.ts, listWaitingTasks), starting them (queueConsumer.ts, dispatch.ts).
import { transitionTask } from './transitionTask.ts'
import { MAX_JOB_PARTS } from '#contract/limits.ts'
import { listWaitingDryRuns, listWaitingTasks, type KnownSlot, type WaitingTask } from '../db/tasks.ts'
import { listFreeSlots, type FreeSlots } from '../transcoders/capacity.ts'

/** Queue message: which attempt to start. Delivered at least once; a repeated or late one has no effect (I11). */
export interface StartMessage {
  task: string
  attempt: number
}

/**
 * After all slots were found busy, new jobs do not check again for this long: a slot that is freed triggers a check.
 */
const FULL_BACKOFF_MS = 500
let fullUntil = 0
let nextCheckAt = 0

/** For a job that was just created: at once if a slot may be free, else one check later for all jobs together. */
export async function assignSlotsSoon(env: Env): Promise<void> {
  const now = Date.now()
  const wait = fullUntil - now
  if (wait > 0 && wait <= FULL_BACKOFF_MS) {
    // Another request will check then. (If it was cancelled, that time passes, and the next request checks.)
    if (nextCheckAt > now && nextCheckAt <= now + FULL_BACKOFF_MS) return
    nextCheckAt = fullUntil
    await scheduler.wait(wait)
  }
  await assignSlots(env)
}

/** Starts as many waiting tasks as there are free slots. Safe to call at any time and concurrently. */
export async function assignSlots(env: Env): Promise<void> {
  const now = Date.now()
  const { all, dryRuns } = await listFreeSlots(env, now)
  if (countOf(all) === 0) fullUntil = now + FULL_BACKOFF_MS
  // First, so that a dry run leaves the other slots to the others.
  const started = [...(await fill(env, now, dryRuns, true)), ...(await fill(env, now, all, false))]
  if (started.length > 0) await env.QUEUE.sendBatch(started.map((body) => ({ body })))
}

const countOf = ({ free, doubtful }: FreeSlots): number => free.length + doubtful.length

/** Doubtful slots come last, so that a retry gets another container if there is one. */
async function fill(env: Env, now: number, slots: FreeSlots, forDryRuns: boolean): Promise<StartMessage[]> {
  const { free, doubtful } = slots
  const count = countOf(slots)
  if (count === 0) return []
  // The first ones may all be parts that a slot cannot make.
  const isChoosy = doubtful.some(({ unfit_for: main }) => main !== null)
  const list = forDryRuns ? listWaitingDryRuns : listWaitingTasks
  const started: StartMessage[] = []
  for (const task of await list(env.DB, now, isChoosy ? count + MAX_JOB_PARTS : count)) {
    if (countOf(slots) === 0) break
    const slot = takeSlot(task, free, doubtful)
    if (slot === undefined) continue
    const claimed = await transitionTask(env, task.id, { type: 'claim' }, { slot })
    if (claimed.ok) started.push({ task: task.id, attempt: claimed.next.attempt })
  }
  return started
}

/** Takes a slot out of one of the lists; undefined = the slots that are left cannot make this part. */
function takeSlot({ main }: WaitingTask, free: number[], doubtful: KnownSlot[]): number | undefined {
  if (free.length > 0) return free.splice(Math.floor(Math.random() * free.length), 1)[0]
  const index = doubtful.findIndex(({ unfit_for: unfit }) => unfit === null || unfit !== main)
  return index < 0 ? undefined : doubtful.splice(index, 1)[0]?.k
}
