// In charge of: what an attempt reports besides its outputs: the probed source, a still image of it, its log without secrets.
// Not in charge of: who may call (taskRoutes.ts), showing the reports (jobs/jobStatus.ts, delivery/posterRoutes.ts,
// jobs/serveLog.ts).
import type { Context } from 'hono'
import {
  attemptLogSchema,
  MAX_LOG_BYTES,
  MAX_LOGS,
  MAX_PREVIEW_BYTES,
  MAX_SOURCE_BYTES,
  type AttemptLog,
} from '#contract/task/reportSchemas.ts'
import { jobInputs, type Credentials } from '#contract/job/jobConfig.ts'
import { jpegSize } from '#contract/formats/jpegSize.ts'
import { sourcePostSchema } from '#contract/task/protocol.ts'
import { parseTaskId } from '#contract/taskId.ts'
import { logKey, logPrefix, posterKey } from '../storage/objectKeys.ts'
import { readJson } from '../http/jsonBody.ts'
import { taskMonitor } from '../scheduler/applyEvent.ts'
import { savePoster, saveSourceReport, type StoredPoster } from '../db/sourceReports.ts'
import { findJobByJobId, type Job } from '../db/jobs.ts'
import { findTask } from '../db/tasks.ts'
import { RequestError, staleAttempt } from '../http/requestError.ts'
import { openJobSecrets } from '../storage/jobStores.ts'
import type { TaskEnv } from './taskContext.ts'
import { parseMessage } from './parseMessage.ts'
import { requireMainTask } from './parts.ts'
import { requireContentLength } from './putOutput.ts'

/** `POST /task/:id/source` */
export async function receiveSourceReport(c: Context<TaskEnv>): Promise<Response> {
  requireMainTask(c)
  const { value } = await readJson(c as never, 2 * MAX_SOURCE_BYTES)
  const text = JSON.stringify(parseMessage(sourcePostSchema, value).source)
  if (new TextEncoder().encode(text).byteLength > MAX_SOURCE_BYTES) {
    throw new RequestError('too_large', `The source report may have at most ${MAX_SOURCE_BYTES} bytes.`)
  }
  if (!(await saveSourceReport(c.env.DB, c.get('task'), c.get('attempt'), text))) throw staleAttempt()
  return c.json({})
}

/** `PUT /task/:id/preview` */
export async function receivePoster(c: Context<TaskEnv>): Promise<Response> {
  requireMainTask(c)
  const { attempt, task, jobId } = c.var
  if (requireContentLength(c) > MAX_PREVIEW_BYTES) {
    throw new RequestError('too_large', `The poster may have at most ${MAX_PREVIEW_BYTES} bytes.`)
  }
  const bytes = new Uint8Array(await c.req.arrayBuffer())
  const size = bytes.byteLength > MAX_PREVIEW_BYTES ? null : jpegSize(bytes)
  if (size === null) throw new RequestError('invalid_request', 'The poster must be one complete JPEG file.')
  if ((await taskMonitor(c.env, task).attemptState(attempt)) !== 'current') throw staleAttempt()
  const key = posterKey(jobId, attempt)
  await c.env.BUCKET.put(key, bytes, { httpMetadata: { contentType: 'image/jpeg' } })
  if (!(await savePoster(c.env.DB, task, { attempt, ...size } satisfies StoredPoster))) {
    // The attempt ended meanwhile, and the cleanup of the job's objects may have run before this write.
    await c.env.BUCKET.delete(key)
    throw staleAttempt()
  }
  return c.json({})
}

/**
 * `PUT /task/:id/log`. Accepted after the attempt has ended too: a cancelled attempt sends its log then. Each log
 * replaces the log that the attempt stored before.
 */
export async function receiveLog(c: Context<TaskEnv>): Promise<Response> {
  const { attempt, task: id, jobId } = c.var
  const { value } = await readJson(c as never, MAX_LOG_BYTES)
  const log = parseMessage(attemptLogSchema, value)
  const [job, task] = await Promise.all([findJobByJobId(c.env.DB, jobId), findTask(c.env.DB, id)])
  if (!job || !task || !acceptsReports(job) || attempt > task.attempt || job.sealed === null) throw staleAttempt()
  const clean = redactLog(log, await secretsToRedact(c.env, job))
  const number = parseTaskId(id).number
  const key = logKey(jobId, number, attempt)
  await c.env.BUCKET.put(key, JSON.stringify({ attempt, ...clean }), {
    httpMetadata: { contentType: 'application/json' },
  })
  const after = await findJobByJobId(c.env.DB, jobId)
  if (!after || !acceptsReports(after)) {
    await c.env.BUCKET.delete(key)
    throw staleAttempt()
  }
  // On own servers, a list reads the names of all objects.
  if (attempt > MAX_LOGS) await deleteOldLogs(c.env.BUCKET, logPrefix(jobId, number))
  return c.json({})
}

async function deleteOldLogs(bucket: R2Bucket, prefix: string): Promise<void> {
  const { objects } = await bucket.list({ prefix, limit: 1000 })
  const old = objects.slice(0, -MAX_LOGS)
  if (old.length > 0) await bucket.delete(old.map((object) => object.key))
}

/** False for a deleted or cleaned-up job: an ended job has outputs (at least `[]`) until its objects are removed. */
function acceptsReports(job: Job): boolean {
  return job.deleted_at === null && (job.finished_at === null || job.outputs !== null)
}

/** All credentials, all full addresses, and the address and host of each source. */
async function secretsToRedact(env: Env, job: Job): Promise<string[]> {
  const { input, inputs = [], output, addresses } = await openJobSecrets(env, job)
  const hidden = ['access_key', 'secret_key', 'private_key', 'session_token'] as const
  const credentials = [input ?? {}, ...inputs, output].flatMap((side: Partial<Credentials>): string[] =>
    hidden.map((name) => side[name] ?? ''),
  )
  const full = Object.values(addresses).filter((address) => address !== undefined)
  const sources = jobInputs(job.config).map(({ key, address }) => addresses[key] ?? address)
  return [...new Set([...credentials, ...full, ...sources.flatMap(hostAndAddress)])]
}

/** An address and its host or bucket: connection errors name only the host. */
function hostAndAddress(address: string): string[] {
  const host = URL.canParse(address) ? new URL(address).host : ''
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? [address, host] : []
}

/** The source on the transcoder's loopback server, as ffmpeg commands show it. */
const SOURCE = 'http://loopback/***'
const ADDRESS = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s'"<>]*/gi
/** Shorter values would match ordinary words. */
const MIN_SECRET_LENGTH = 6

/** `secrets`: values to hide, each also in its URL-encoded form. */
export function redactLog(log: AttemptLog, secrets: readonly string[]): AttemptLog {
  const hidden = [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    // Longest first, so that a secret that contains another is replaced as a whole.
    .toSorted((a, b) => b.length - a.length)
  const clean = (text: string): string => {
    let rest = text.replaceAll(ADDRESS, (address) => (address === SOURCE ? address : '[address]'))
    for (const secret of hidden) rest = rest.replaceAll(secret, '***')
    return rest
  }
  return {
    engine: log.engine === null ? null : clean(log.engine),
    commands: log.commands.map((each) => ({ ...each, purpose: clean(each.purpose), command: clean(each.command) })),
    lines: log.lines.map((each) => ({ ...each, message: clean(each.message) })),
  }
}
