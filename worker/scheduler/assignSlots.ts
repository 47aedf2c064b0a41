// In charge of: giving free slots to waiting tasks.
// Not in charge of: the order of tasks (db/tasks.ts, listWaitingTasks), starting them (queueConsumer.ts, dispatch.ts).
import { transitionTask } from './transitionTask.ts'
import { listKnownSlots, listWaitingTasks } from '../db/tasks.ts'
import { listSlots } from '../transcoders/capacity.ts'

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
  const [slots, known] = await Promise.all([listSlots(env, now), listKnownSlots(env.DB, now)])
  const taken = new Set(known.map(({ k }) => k))
  const free = slots.filter((k) => !taken.has(k))
  // Slots whose last start failed come last, so that a retry gets another container if there is one.
  const doubtful = known.filter(({ k, busy }) => busy === 0 && slots.includes(k)).map(({ k }) => k)
  if (free.length + doubtful.length === 0) {
    fullUntil = now + FULL_BACKOFF_MS
    return
  }
  const waiting = await listWaitingTasks(env.DB, now, free.length + doubtful.length)
  const started: StartMessage[] = []
  for (const task of waiting) {
    const [slot] = free.length > 0 ? free.splice(Math.floor(Math.random() * free.length), 1) : doubtful.splice(0, 1)
    if (slot === undefined) break
    const claimed = await transitionTask(env, task.id, { type: 'claim' }, { slot })
    if (claimed.ok) started.push({ task: task.id, attempt: claimed.next.attempt })
  }
  if (started.length > 0) await env.QUEUE.sendBatch(started.map((body) => ({ body })))
}
