// In charge of: objects that an attempt at a divided job leaves in the service's own store for another attempt. A part
// leaves some for the attempt that puts the parts together: encoded video that is copied into one file. The attempt that
// divides the job leaves some for the parts.
// Not in charge of: removing them, with the other records of the ended job (monitor/commitOutputs.ts); their content,
// which only transcoders know.
import type { Context } from 'hono'
import { terminal } from '#contract/task/lifecycle.ts'
import { workObjectName } from '#contract/task/protocol.ts'
import { MAIN_TASK, parseTaskId } from '#contract/taskId.ts'
import { findTask } from '../db/tasks.ts'
import { notFound, RequestError, staleAttempt } from '../http/requestError.ts'
import { taskMonitor } from '../scheduler/applyEvent.ts'
import { contentRange, parseRange } from '../util/byteRange.ts'
import { requireContentLength } from './putOutput.ts'
import type { TaskEnv } from './taskContext.ts'

function requestedName(c: Context<TaskEnv>): string {
  const name = c.req.path.split('/').slice(4).join('/')
  if (!workObjectName.test(name)) throw new RequestError('invalid_request', 'This is not the name of a work object.')
  return name
}

const keyOf = (jobId: string, name: string) => `work/${jobId}/objects/${name}`

/** `PUT /task/:id/work/<name>`; a repeated request replaces the object. @throws RequestError */
export async function putWorkObject(c: Context<TaskEnv>): Promise<Response> {
  const { attempt, task: id, jobId } = c.var
  const length = requireContentLength(c)
  const name = requestedName(c)
  const number = parseTaskId(id).number
  if (!name.startsWith(`${number}-${attempt}/`)) throw new RequestError('forbidden', `${name} is not of this attempt.`)
  if ((await taskMonitor(c.env, id).attemptState(attempt)) !== 'current') throw staleAttempt()
  if (number === MAIN_TASK) await requireUndivided(c.env.DB, id)
  const { readable, writable } = new FixedLengthStream(length)
  const sent = c.req.raw.body!.pipeTo(writable)
  await Promise.all([sent, c.env.BUCKET.put(keyOf(jobId, name), readable)])
  // The job may have ended meanwhile, and its objects were removed: its parts hear of it later.
  if (!(await isNeeded(c.env.DB, id, attempt))) {
    await c.env.BUCKET.delete(keyOf(jobId, name))
    throw staleAttempt()
  }
  return c.json({})
}

/** Parts may be reading what the attempt that divided the job has stored. @throws RequestError */
async function requireUndivided(db: D1Database, id: string): Promise<void> {
  const main = await findTask(db, id)
  if (main?.kind === 'plan') throw new RequestError('forbidden', 'A dry run stores nothing.')
  if (main?.parts !== 0) throw staleAttempt()
}

async function isNeeded(db: D1Database, id: string, attempt: number): Promise<boolean> {
  const part = await findTask(db, id)
  if (part === null || part.attempt !== attempt) return false
  if (part.main === null) return !terminal[part.state]
  const main = await findTask(db, part.main)
  if (main === null || terminal[main.state]) return false
  // After a part was delivered, a request may be repeated. A part that is queued again has lost this attempt.
  return part.state === 'completed' || part.state === 'running'
}

/** `GET` and `HEAD /task/:id/work/<name>`, with one Range, of any attempt at the same job. @throws RequestError */
export async function serveWorkObject(c: Context<TaskEnv>): Promise<Response> {
  const { attempt, task: id, jobId } = c.var
  if ((await taskMonitor(c.env, id).attemptState(attempt)) !== 'current') throw staleAttempt()
  const key = keyOf(jobId, requestedName(c))
  const found = await c.env.BUCKET.head(key)
  if (!found) throw notFound()
  const span = parseRange(c.req.header('range'), found.size)
  // Always set: a local answer without a type would be compressed and lose its length.
  const headers = new Headers({ 'content-type': 'application/octet-stream', 'accept-ranges': 'bytes' })
  if (span === 'unsatisfiable') {
    headers.set('content-range', contentRange(null, found.size))
    return new Response(null, { status: 416, headers })
  }
  const { offset, length } = span === 'whole' ? { offset: 0, length: found.size } : span
  headers.set('content-length', String(length))
  if (span !== 'whole') headers.set('content-range', contentRange(span, found.size))
  const status = span === 'whole' ? 200 : 206
  if (c.req.method === 'HEAD') return new Response(null, { status, headers })
  const object = await c.env.BUCKET.get(key, { range: { offset, length }, onlyIf: { etagMatches: found.etag } })
  // Removed or replaced between the two calls: the reader asks again.
  if (!object || !('body' in object)) throw notFound()
  return new Response(object.body, { status, headers })
}
