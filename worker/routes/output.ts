// In charge of: `PUT /task/:id/output/<path>`: one object of an attempt, below a directory of its own, streamed into the
// job's destination; and what `finish` may name.
// Not in charge of: objects in parts (door.ts), putting the fixed names (commit.ts).
import type { Context } from 'hono'
import type { FinishPost } from '#contract/task.ts'
import { attemptDirectory, MAX_DOOR_BODY_BYTES } from '#contract/task.ts'
import { decodeElements } from '../elements.ts'
import { monitorOf } from '../follow.ts'
import { Kept } from '../kept.ts'
import { findTask } from '../ledger/tasks.ts'
import { RequestError } from '../problems.ts'
import { openSinkOf } from '../sink.ts'
import { keyBelow } from '../storage/path.ts'
import type { Sink } from '../storage/store.ts'
import { StoreError } from '../storage/store.ts'
import type { DoorEnv } from './door.ts'

/** Paths of one commit together, in bytes: they all go into one row of the ledger, which holds 2 MB. */
const MAX_PATH_BYTES = 256 * 1024

const sinks = new Kept<Sink>()

export function stale(): RequestError {
  return new RequestError('stale_attempt', 'Another attempt is current, or the job has ended: stop.')
}

export function sinkOf(c: Context<DoorEnv>): Promise<Sink> {
  const { task, attempt, jobId } = c.var
  return sinks.get(`${task}/${attempt}`, async () => {
    const sink = await openSinkOf(c.env, jobId)
    if (!sink) throw stale()
    return sink
  })
}

/** Length of a body that one request to the door may carry. @throws RequestError */
export function lengthOf(c: Context<DoorEnv>): number {
  const length = Number(c.req.header('content-length'))
  if (!c.req.raw.body || !Number.isSafeInteger(length) || length < 1) {
    throw new RequestError('length_required', 'The body needs its Content-Length, and at least one byte.')
  }
  if (length > MAX_DOOR_BODY_BYTES) throw new RequestError('too_large', 'One request may carry 32 MiB at most.')
  return length
}

/** Ordinary writes are checked against the monitor; plan, finish and fail against D1. */
export async function putOutput(c: Context<DoorEnv>): Promise<Response> {
  const { attempt, task: id, jobId } = c.var
  const length = lengthOf(c)
  const path = decodeElements(new URL(c.req.url).pathname.split('/').slice(4))?.join('/')
  if (path === undefined) throw new RequestError('invalid_request', 'The path is not well encoded.')
  checkPath(path, jobId, attempt)
  if (!path.split('/').slice(0, -1).includes(attemptDirectory(jobId, attempt))) {
    throw new RequestError('forbidden', `${path}: an attempt stores only below its own directory.`)
  }
  const type = c.req.header('content-type')
  if (!type) throw new RequestError('invalid_request', 'The body needs its Content-Type.')
  const monitor = monitorOf(c.env, jobId)
  if ((await monitor.journalObject(attempt, path)) !== 'current') throw stale()
  const sink = await sinkOf(c)
  // lengthOf has seen that there is one.
  const { etag } = await sink.put(path, c.req.raw.body ?? new Uint8Array(0), length, type, 'segment')
  if ((await monitor.standing(attempt)) !== 'current') {
    // The attempt ended while its bytes were under way: what the journal names may have been removed before they arrived.
    // A job that was completed meanwhile needs the object: this was a repetition.
    const task = await findTask(c.env.DB, id)
    if (!task || task.attempt !== attempt || task.state === 'failed' || task.state === 'cancelled') {
      await sink.delete(path)
    }
    throw stale()
  }
  return c.json({ etag })
}

/** @throws RequestError for a path that no store takes, or that lies in another attempt's directory */
function checkPath(path: string, jobId: string, attempt: number): void {
  try {
    keyBelow('', path, 'door', 'put')
  } catch (error) {
    throw new RequestError('invalid_request', error instanceof StoreError ? error.message : String(error))
  }
  const own = attemptDirectory(jobId, attempt)
  const foreign = path
    .split('/')
    .find((element) => element !== own && element.startsWith(jobId) && /^-\d+$/.test(element.slice(jobId.length)))
  if (foreign !== undefined) throw new RequestError('forbidden', `${path}: ${foreign} is another attempt's directory.`)
}

/** @throws RequestError where `finish` names nothing, a path twice, or one that it may not */
export function checkFinish(finish: FinishPost, jobId: string, attempt: number): void {
  const paths = [...finish.objects, ...finish.written].map((object) => object.path)
  if (paths.length === 0) throw new RequestError('invalid_request', 'A finished attempt has at least one output.')
  for (const path of paths) checkPath(path, jobId, attempt)
  if (new Set(paths).size !== paths.length) {
    throw new RequestError('invalid_request', 'Two objects have the same path.')
  }
  const bytes = paths.reduce((sum, path) => sum + new TextEncoder().encode(path).byteLength, 0)
  if (bytes > MAX_PATH_BYTES) {
    throw new RequestError('too_large', `The paths of all outputs may have ${MAX_PATH_BYTES} bytes together.`)
  }
}
