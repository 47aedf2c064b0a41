// In charge of: giving parts of a divided job only to transcoders with the ffmpeg that its plan was made for: chunks of one
// rendition have one header, which another build may write otherwise.
// Not in charge of: which slot is tried next (scheduler/assignSlots.ts), when (contract/task/lifecycle.ts).
import type { Context } from 'hono'
import type { StoredEvent } from '#contract/api/events.ts'
import { BUILD_HEADER } from '#contract/task/protocol.ts'
import type { TaskEvent } from '#contract/task/lifecycle.ts'
import { MAIN_TASK, parseTaskId, partOf, taskIdOf } from '#contract/taskId.ts'
import { findLastWork, findPlannedBuild } from '../db/parts.ts'
import { findTask } from '../db/tasks.ts'
import { staleAttempt } from '../http/requestError.ts'
import { applyEvent } from '../scheduler/applyEvent.ts'
import type { TaskEnv } from './taskContext.ts'

/** If none can make a part for this long, and none is at work on another, none of that build is left after a rollout. */
const BUILD_WAIT_MS = 30 * 60_000

/** Before an attempt begins. Of another build it does not: nothing is lost, and another slot is tried. @throws RequestError */
export async function requireFittingBuild(c: Context<TaskEnv>): Promise<void> {
  const { attempt, task: id, jobId } = c.var
  const given = c.req.header(BUILD_HEADER)
  if (given === undefined || partOf(parseTaskId(id).number) === null) return
  const main = taskIdOf(jobId, MAIN_TASK)
  const planned = await findPlannedBuild(c.env.DB, main)
  if (planned === null || planned === given) return
  const message = `For ${BUILD_WAIT_MS / 60_000} minutes no transcoder had the build of ffmpeg with which the parts of the job are made.`
  const event: TaskEvent = (await isHopeless(c.env.DB, main, id))
    ? { type: 'attempt_failed', attempt, error: { code: 'build_unavailable', message } }
    : { type: 'start_failed', attempt, reason: 'other_build' }
  await applyEvent(c.env, { id, jobId }, event)
  throw staleAttempt()
}

async function isHopeless(db: D1Database, main: string, id: string): Promise<boolean> {
  const now = Date.now()
  const part = await findTask(db, id)
  if (part === null || part.starts_failed === 0) return false
  const events = JSON.parse(part.timeline) as StoredEvent[]
  const refusedSince = events.findLast(({ starts }) => starts?.failed === 1)?.at ?? now
  return now - Math.max(refusedSince, await findLastWork(db, main, now)) > BUILD_WAIT_MS
}
