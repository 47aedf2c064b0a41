// In charge of: what an attempt tells beside its outputs: the source as it was probed, a still picture of it, its log.
// Not in charge of: who may call (taskRoutes.ts), showing it (jobStatus.ts, posterRoutes.ts, serveLog.ts).
import type { Context } from 'hono'
import {
  attemptLog,
  MAX_LOG_BYTES,
  MAX_LOGS,
  MAX_PREVIEW_BYTES,
  MAX_SOURCE_BYTES,
} from '#contract/task/reportSchemas.ts'
import { jpegSize } from '#contract/formats/jpegSize.ts'
import { redactLog } from './redactLog.ts'
import { sourcePost } from '#contract/task/protocol.ts'
import { logKey, logPrefix, posterKey } from '../storage/objectKeys.ts'
import { readJson } from '../http/jsonBody.ts'
import { monitorOf } from '../scheduler/applyEvent.ts'
import type { StoredPoster } from '../db/sourceReports.ts'
import { storePoster, storeSource } from '../db/sourceReports.ts'
import type { Job } from '../db/jobs.ts'
import { findJobByBackendId } from '../db/jobs.ts'
import { RequestError, staleAttempt } from '../http/requestError.ts'
import { secretsOf } from '../storage/jobStores.ts'
import type { DoorEnv } from './taskRoutes.ts'
import { checked } from './parseMessage.ts'
import { lengthOf } from './putOutput.ts'

/** `POST /task/:id/source` */
export async function takeSource(c: Context<DoorEnv>): Promise<Response> {
  const { value } = await readJson(c as never, 2 * MAX_SOURCE_BYTES)
  const text = JSON.stringify(checked(sourcePost, value).source)
  if (new TextEncoder().encode(text).byteLength > MAX_SOURCE_BYTES) {
    throw new RequestError('too_large', `The report of a source may have ${MAX_SOURCE_BYTES} bytes.`)
  }
  if (!(await storeSource(c.env.DB, c.get('task'), c.get('attempt'), text))) throw staleAttempt()
  return c.json({})
}

/** `PUT /task/:id/preview` */
export async function takePreview(c: Context<DoorEnv>): Promise<Response> {
  const { attempt, task, jobId } = c.var
  if (lengthOf(c) > MAX_PREVIEW_BYTES) {
    throw new RequestError('too_large', `The picture may have ${MAX_PREVIEW_BYTES} bytes.`)
  }
  const bytes = new Uint8Array(await c.req.arrayBuffer())
  const size = bytes.byteLength > MAX_PREVIEW_BYTES ? null : jpegSize(bytes)
  if (size === null) throw new RequestError('invalid_request', 'The picture must be one whole JPEG.')
  if ((await monitorOf(c.env, jobId).standing(attempt)) !== 'current') throw staleAttempt()
  const key = posterKey(jobId, attempt)
  await c.env.BUCKET.put(key, bytes, { httpMetadata: { contentType: 'image/jpeg' } })
  if (!(await storePoster(c.env.DB, task, { attempt, ...size } satisfies StoredPoster))) {
    // The attempt ended meanwhile, and what removes the job's objects may have been here before this one.
    await c.env.BUCKET.delete(key)
    throw staleAttempt()
  }
  return c.json({})
}

/**
 * `PUT /task/:id/log`. Also when the attempt is over: a cancelled one learns of it afterwards. Each time the whole log replaces
 * what the attempt stored before.
 */
export async function takeLog(c: Context<DoorEnv>): Promise<Response> {
  const { attempt, jobId } = c.var
  const { value } = await readJson(c as never, MAX_LOG_BYTES)
  const log = checked(attemptLog, value)
  const job = await findJobByBackendId(c.env.DB, jobId)
  if (!job || !isKept(job) || attempt > job.attempt || job.sealed === null) throw staleAttempt()
  const clean = redactLog(log, await secretTexts(c.env, job))
  const key = logKey(jobId, attempt)
  await c.env.BUCKET.put(key, JSON.stringify({ attempt, ...clean }), {
    httpMetadata: { contentType: 'application/json' },
  })
  const after = await findJobByBackendId(c.env.DB, jobId)
  if (!after || !isKept(after)) {
    await c.env.BUCKET.delete(key)
    throw staleAttempt()
  }
  const { objects } = await c.env.BUCKET.list({ prefix: logPrefix(jobId), limit: 1000 })
  const old = objects.slice(0, -MAX_LOGS)
  if (old.length > 0) await c.env.BUCKET.delete(old.map((object) => object.key))
  return c.json({})
}

/** Neither deleted nor swept: a job that has ended has outputs (`[]` at least) until its objects are removed. */
function isKept(job: Job): boolean {
  return job.deleted_at === null && (job.finished_at === null || job.outputs !== null)
}

/** Every credential, every full address, and where the source lies. */
async function secretTexts(env: Env, job: Job): Promise<string[]> {
  const { input, output, addresses } = await secretsOf(env, job)
  const hidden = ['access_key', 'secret_key', 'private_key', 'session_token'] as const
  const credentials = [input, output].flatMap((side) => hidden.map((name) => side[name] ?? ''))
  const source = addresses.input ?? job.config.input
  return [...credentials, ...Object.values(addresses), ...placeOf(source)]
}

/** An address, and its host or bucket by itself: messages of connections name it alone. */
function placeOf(address: string): string[] {
  const host = URL.canParse(address) ? new URL(address).host : ''
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? [address, host] : []
}
