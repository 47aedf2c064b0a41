// In charge of: `PUT /task/:id/output/<path>`: one object of an attempt, streamed into the job's destination, below a
// directory of that attempt; and which paths an attempt may write.
// Not in charge of: which outputs a job has (contract/task/allowedOutputs.ts), objects in parts (taskRoutes.ts),
// writing the final names (monitor/commitOutputs.ts).
import { MAX_JOB_PARTS } from '#contract/limits.ts'
import type { Context } from 'hono'
import { firstInput } from '#contract/job/jobConfig.ts'
import { outputBaseName } from '#contract/job/paths/inputAddress.ts'
import { allowedOutputsOf, type AllowedOutputs, type UploadMethod } from '#contract/task/allowedOutputs.ts'
import { MAX_TASK_BODY_BYTES, type FinishPost } from '#contract/task/protocol.ts'
import { attemptDirectory } from '#contract/job/paths/outputNames.ts'
import { MAIN_TASK, parseTaskId } from '#contract/taskId.ts'
import { decodePathSegments } from '../util/pathSegments.ts'
import { taskMonitor } from '../scheduler/applyEvent.ts'
import { TtlCache } from '../util/ttlCache.ts'
import { findJobByJobId, type Job } from '../db/jobs.ts'
import { findTask } from '../db/tasks.ts'
import { RequestError, staleAttempt } from '../http/requestError.ts'
import { openJobSink, uploadNumberOf } from '../storage/jobStores.ts'
import { keyBelow } from '../storage/keyBelow.ts'
import { StoreError, type Sink } from '../storage/objectStore.ts'
import type { TaskEnv } from './taskContext.ts'

/** All paths of one commit together, in bytes: they are stored in one row of D1, which holds 2 MB. */
const MAX_PATH_BYTES = 256 * 1024

/** Where an attempt writes, and which outputs it may write there. */
export interface AttemptDestination {
  sink: Sink
  allowed: AllowedOutputs
}

const destinations = new TtlCache<AttemptDestination>(2 * MAX_JOB_PARTS)

export function attemptDestination(c: Context<TaskEnv>): Promise<AttemptDestination> {
  const { task, attempt, jobId } = c.var
  return destinations.get(`${task}/${attempt}`, async () => {
    const job = await findJobByJobId(c.env.DB, jobId)
    const sink = job && (await openJobSink(c.env, jobId, job))
    if (!job || !sink) throw staleAttempt()
    return {
      sink,
      allowed: allowedOutputsOf(
        job.config,
        sourceBaseName(job),
        parseTaskId(task).number === MAIN_TASK ? attemptDirectory(jobId, attempt) : null,
      ),
    }
  })
}

/**
 * For derived output names: the name of an uploaded file is better than its number. All attempts get the same name,
 * even when the upload has been deleted. Of several sources, the first gives its name.
 */
export function sourceBaseName({ input_name: name, config }: Pick<Job, 'input_name' | 'config'>): string {
  const input = firstInput(config)
  return outputBaseName(uploadNumberOf(input) === null ? input.address : (name ?? input.address))
}

/** @throws RequestError 400 for a path that no store accepts, 403 for an object that is not an output of the job */
export function requireAllowedOutput(
  allowed: AllowedOutputs,
  method: UploadMethod,
  path: string,
  contentType?: string,
): void {
  requireValidPath(path)
  const refusal = allowed.violation(method, path, contentType)
  if (refusal === null) return
  throw new RequestError(
    'forbidden',
    refusal === 'type'
      ? `${path}: ${contentType} is not an allowed type of this output.`
      : `${path} is not an output of this attempt.`,
  )
}

/** Length of the body of one request to the task API. @throws RequestError */
export function requireContentLength(c: Context<TaskEnv>): number {
  const length = Number(c.req.header('content-length'))
  if (!c.req.raw.body || !Number.isSafeInteger(length) || length < 1) {
    throw new RequestError('length_required', 'The request must have a Content-Length of at least 1.')
  }
  if (length > MAX_TASK_BODY_BYTES) throw new RequestError('too_large', 'A request may have at most 32 MiB.')
  return length
}

/** Ordinary writes are checked against the monitor; plan, finish and fail against D1. */
export async function putOutput(c: Context<TaskEnv>): Promise<Response> {
  const { attempt, task: id } = c.var
  const length = requireContentLength(c)
  const path = decodePathSegments(new URL(c.req.url).pathname.split('/').slice(4))?.join('/')
  if (path === undefined) throw new RequestError('invalid_request', 'The path is not correctly percent-encoded.')
  const type = c.req.header('content-type')
  if (!type) throw new RequestError('invalid_request', 'The request must have a Content-Type.')
  const { sink, allowed } = await attemptDestination(c)
  requireAllowedOutput(allowed, 'put', path, type)
  const monitor = taskMonitor(c.env, id)
  if ((await monitor.journalObject(attempt, path)) !== 'current') throw staleAttempt()
  // requireContentLength has checked that there is a body.
  const { etag } = await sink.put(path, c.req.raw.body ?? new Uint8Array(0), length, type, 'segment')
  if ((await monitor.attemptState(attempt)) !== 'current') {
    // The attempt ended while the object was being written: the cleanup may have run before the object arrived. If the
    // job was completed meanwhile, this was a repeated request and the object is needed.
    const task = await findTask(c.env.DB, id)
    if (!task || task.attempt !== attempt || task.state === 'failed' || task.state === 'cancelled') {
      await sink.delete(path)
    }
    throw staleAttempt()
  }
  return c.json({ etag })
}

/** @throws RequestError */
function requireValidPath(path: string): void {
  try {
    keyBelow('', path, 'door', 'put')
  } catch (error) {
    throw new RequestError('invalid_request', error instanceof StoreError ? error.message : String(error))
  }
}

/** @throws RequestError when `finish` has no path, a path twice, or one that is not allowed */
export function checkFinishedObjects(allowed: AllowedOutputs, { objects, written }: FinishPost): void {
  const paths = [...objects, ...written].map((object) => object.path)
  if (paths.length === 0) throw new RequestError('invalid_request', 'A finished attempt has at least one output.')
  for (const { path, content_type: type } of objects) requireAllowedOutput(allowed, 'parts', path, type)
  for (const { path, content_type: type } of written) requireAllowedOutput(allowed, 'written', path, type)
  if (new Set(paths).size !== paths.length) {
    throw new RequestError('invalid_request', 'Two objects have the same path.')
  }
  const bytes = paths.reduce((sum, path) => sum + new TextEncoder().encode(path).byteLength, 0)
  if (bytes > MAX_PATH_BYTES) {
    throw new RequestError('too_large', `The paths of all outputs together may have at most ${MAX_PATH_BYTES} bytes.`)
  }
}
