// In charge of: giving free slots to waiting tasks.
// Not in charge of: the order (db/tasks.ts, listWaitingTasks), starting them (queueConsumer.ts, dispatch.ts).
import { transitionTask } from './transitionTask.ts'
import { settings } from '../env.ts'
import { listBusySlots, listWaitingTasks } from '../db/tasks.ts'

/** What the queue carries: which attempt to start. Delivered at least once; a repeated or late one changes nothing (I11). */
export interface StartMessage {
  task: string
  attempt: number
}

/** When every slot was taken a moment ago, whoever frees one looks for work: asking again for each new job tells nothing. */
const FULL_BACKOFF_MS = 500
let fullUntil = 0
let nextCheckAt = 0

/** For a job that was just created: at once where there may be a free slot, else together with others a moment later. */
export async function assignSlotsSoon(env: Env): Promise<void> {
  const now = Date.now()
  const wait = fullUntil - now
  if (wait > 0 && wait <= FULL_BACKOFF_MS) {
    // Somebody will ask then already. (A request that ended before it could is not waited for.)
    if (nextCheckAt > now && nextCheckAt <= now + FULL_BACKOFF_MS) return
    nextCheckAt = fullUntil
    await scheduler.wait(wait)
  }
  await assignSlots(env)
}

/** Starts as many waiting tasks as there are free slots. Safe to call at any time, by anyone, at once. */
export async function assignSlots(env: Env): Promise<void> {
  const now = Date.now()
  const busy = new Set(await listBusySlots(env.DB, now))
  const free: number[] = []
  for (let k = 0; k < settings(env).maxSlots; k++) if (!busy.has(k)) free.push(k)
  if (free.length === 0) {
    fullUntil = now + FULL_BACKOFF_MS
    return
  }
  const waiting = await listWaitingTasks(env.DB, now, free.length)
  const started: StartMessage[] = []
  for (const task of waiting) {
    // Any free slot will do; a random one, so that a slot behind which nothing answers is not asked again and again.
    const [slot] = free.splice(Math.floor(Math.random() * free.length), 1)
    if (slot === undefined) break
    const claimed = await transitionTask(env, task.id, { type: 'claim' }, { slot })
    if (claimed.ok) started.push({ task: task.id, attempt: claimed.next.attempt })
  }
  if (started.length > 0) await env.QUEUE.sendBatch(started.map((body) => ({ body })))
}
