// In charge of: giving a slot that nothing else can use to a second task at the slowest chunk of a divided job.
// Not in charge of: which chunk that is (straggler.ts), what follows when one of both has stored it (applyEvent.ts).
import { TWIN_ATTEMPT, twinOf } from '#contract/taskId.ts'
import { log } from '../log.ts'
import { listKnownSlots, occupySlot } from '../db/tasks.ts'
import { insertTwin, listChunks } from '../db/twins.ts'
import { listSlots } from '../transcoders/capacity.ts'
import { findStraggler } from './straggler.ts'
import { START_LEASE_MS } from './transitionTask.ts'

/** Safe at any time: the statement that inserts the twin looks at everything again. */
export async function startTwin(env: Env, main: string, shares: ReadonlyMap<string, number>): Promise<void> {
  const now = Date.now()
  const chunk = findStraggler(await listChunks(env.DB, main), shares, now)
  if (chunk === null) return
  const slot = await findFreeSlot(env, main, now)
  if (slot === undefined) return
  const task = twinOf(chunk.id)
  const [inserted] = await env.DB.batch([
    insertTwin(env.DB, chunk, slot, now + START_LEASE_MS, now),
    occupySlot(env.DB, task, TWIN_ATTEMPT, slot),
  ])
  if ((inserted?.results.length ?? 0) === 0) return
  log.info('part begun twice', { task: chunk.id, attempt: chunk.attempt, twin: task, slot })
  await env.QUEUE.sendBatch([{ body: { task, attempt: TWIN_ATTEMPT } }])
}

/** One whose last start failed only if there is no other, and none whose transcoder cannot make parts of this job. */
async function findFreeSlot(env: Env, main: string, now: number): Promise<number | undefined> {
  const [slots, known] = await Promise.all([listSlots(env, now), listKnownSlots(env.DB, now)])
  const unused = slots.filter((k) => known.every((slot) => slot.k !== k))
  if (unused.length > 0) return unused[Math.floor(Math.random() * unused.length)]
  return known.find(({ k, busy, unfit_for: unfit }) => busy === 0 && unfit !== main && slots.includes(k))?.k
}
