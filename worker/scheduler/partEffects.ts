// In charge of: what the tasks of a divided job mean for each other: its parts let the main task go on or make it fail,
// and end with it. Repeated by the monitor of the main task and by the reconciler.
// Not in charge of: which change is right (contract/task/lifecycle.ts).
import type { TaskEvent } from '#contract/task/lifecycle.ts'
import { findEventOfParts, listOpenParts, type PartRef } from '../db/parts.ts'

/** `applyEvent`, which also has these effects. */
type Apply = (env: Env, task: { id: string; jobId: string }, event: TaskEvent) => Promise<unknown>

/** Parts that are ended at the same time. Each needs a few requests, and a Worker has six connections. */
const CONCURRENT_ENDS = 6

/** Safe at any time: nothing happens unless all parts are completed or one has failed. */
export async function checkMain(env: Env, main: { id: string; jobId: string }, apply: Apply): Promise<void> {
  const event = await findEventOfParts(env.DB, main.id)
  if (event !== null) await apply(env, main, event)
}

/** Ends the parts of a main task that has ended. */
export async function endOpenParts(env: Env, main: string, apply: Apply): Promise<void> {
  await endParts(env, await listOpenParts(env.DB, main), apply)
}

export async function endParts(env: Env, parts: readonly PartRef[], apply: Apply): Promise<void> {
  const waiting = [...parts]
  const next = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift())
      await apply(env, { id: part.id, jobId: part.job_id }, { type: 'cancel' })
  }
  await Promise.all(Array.from({ length: CONCURRENT_ENDS }, next))
}
