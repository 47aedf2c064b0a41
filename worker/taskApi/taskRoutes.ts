// In charge of: the task API (`/task/…`), the only address that a transcoder calls. Authenticated by tokens of
// attempts, never by API keys.
// Not in charge of: state transitions (contract/task/lifecycle.ts), providers (storage/).
import { countSourceReads, countStoreError } from './storeCounts.ts'
import { Hono, type Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type * as z from 'zod/mini'
import type { JobError, Warning } from '#contract/errors.ts'
import { isJobErrorCode } from '#contract/errorCodes.ts'
import { outputDirectories } from '#contract/job/paths/outputLocation.ts'
import { withRequestField } from '#contract/job/jobConfig.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import {
  failPostSchema,
  finishPostSchema,
  MAX_TASK_BODY_BYTES,
  MAX_UPLOAD_PARTS,
  MAX_PLAN_BYTES,
  MAX_UPLOAD_HANDLE,
  MIN_PART_BYTES,
  planPostSchema,
  progressPostSchema,
  TASK_PROTOCOL,
  uploadRequestSchema,
  type ProgressReply,
  type TaskDescription,
  type UploadReply,
} from '#contract/task/protocol.ts'
import { terminal } from '#contract/task/lifecycle.ts'
import { parseTaskId } from '#contract/taskId.ts'
import { readJson } from '../http/jsonBody.ts'
import { deleteCommitRecord } from '../monitor/commitOutputs.ts'
import { jobErrorFor, storeErrorDetails, fieldFor, retryAfterHeader } from '../storage/jobErrorMapping.ts'
import { applyEvent, jobMonitor, taskMonitor } from '../scheduler/applyEvent.ts'
import { findJobByJobId } from '../db/jobs.ts'
import { findPlan, findTask, savePlan, decodePlan } from '../db/tasks.ts'
import { settings } from '../env.ts'
import { handleError, notFound, RequestError, staleAttempt } from '../http/requestError.ts'
import { StoreError } from '../storage/objectStore.ts'
import { verifyAttemptToken } from '../secrets/attemptToken.ts'
import { addWarnings } from './addWarnings.ts'
import { describeDeadline } from './deadline.ts'
import { requireFittingBuild } from './fittingBuild.ts'
import { finishDryRun } from './finishDryRun.ts'
import {
  acceptedReports,
  deliverPart,
  describeDivision,
  divideJob,
  planOf,
  requireMainTask,
  servePartRecord,
} from './parts.ts'
import { receiveLog, receivePoster, receiveSourceReport } from './receiveReports.ts'
import { describeHls, serveDecryptionKey, serveResource } from './hlsSource/serveHlsSource.ts'
import { serveCaptions } from './serveCaptions.ts'
import { serveLogo } from './serveLogo.ts'
import { parseMessage } from './parseMessage.ts'
import {
  checkFinishedObjects,
  attemptDestination,
  requireContentLength,
  putOutput,
  requireAllowedOutput,
  sourceBaseName,
} from './putOutput.ts'
import { serveSource } from './serveSource.ts'
import { putWorkObject, serveWorkObject } from './workObjects.ts'
import type { TaskEnv } from './taskContext.ts'
import { fromBase64Url, toBase64Url } from '../util/encoding.ts'

/** An attempt that takes longer is given up. Its token is valid for an hour more. */
const MAX_ATTEMPT_MS = 12 * 3600_000
/** A plan, or a commit record of many objects with many parts; one part takes about 60 bytes. */
const MAX_JSON_BYTES = 16 * 1024 * 1024

const authenticateAttempt = createMiddleware<TaskEnv>(async (c, next) => {
  const task = c.req.param('id') ?? ''
  const token = /^Bearer ([\w.-]{1,500})$/.exec(c.req.header('authorization') ?? '')?.[1]
  const attempt = token === undefined ? null : await verifyAttemptToken(c.env, task, token)
  if (attempt === null) {
    throw new RequestError('unauthorized', 'The token belongs to another task.', {
      headers: { 'www-authenticate': 'Bearer' },
    })
  }
  c.set('attempt', attempt)
  c.set('task', task)
  c.set('jobId', parseTaskId(task).jobId)
  return next()
})

/** Ordinary writes are checked against the monitor; plan, finish and fail against D1. */
async function requireCurrentAttempt(c: Context<TaskEnv>): Promise<void> {
  if ((await taskMonitor(c.env, c.get('task')).attemptState(c.get('attempt'))) !== 'current') throw staleAttempt()
}

async function parseBody<T extends z.ZodMiniType>(c: Context<TaskEnv>, schema: T): Promise<z.infer<T>> {
  const { value } = await readJson(c as never, MAX_JSON_BYTES)
  return parseMessage(schema, value)
}

export const taskApi = new Hono<TaskEnv>()
  .onError((error, c) => (error instanceof StoreError ? storeErrorResponse(c.env, error) : handleError(error)))
  .use('/task/:id', authenticateAttempt)
  .use('/task/:id/*', authenticateAttempt)
  .use('/task/:id/*', countSourceReads)

  .get('/task/:id', async (c) => {
    const { attempt, task: id, jobId } = c.var
    await requireFittingBuild(c)
    const result = await applyEvent(c.env, { id, jobId }, { type: 'started', attempt })
    if (!result.ok && result.refusal !== 'same') throw staleAttempt()
    const job = await findJobByJobId(c.env.DB, jobId)
    const task = await findTask(c.env.DB, id)
    if (!job || !task) throw staleAttempt()
    await taskMonitor(c.env, id).attemptRunning({ job: job.id, jobId, account: job.account, task: id, attempt })
    const { config } = job
    const name = sourceBaseName(job)
    const { maxSourceSeconds } = settings(c.env)
    return c.json({
      protocol: TASK_PROTOCOL,
      task_id: id,
      job_id: jobId,
      attempt,
      kind: task.kind,
      config,
      spec: toSpec(config, name),
      plan: decodePlan(await planOf(c.env.DB, task)),
      input_name: name,
      max_attempt_ms: MAX_ATTEMPT_MS,
      ...(maxSourceSeconds === null ? {} : { max_source_seconds: maxSourceSeconds }),
      ...describeDivision(c.env, task),
      ...(await describeDeadline(c.env, job, task, Date.now())),
      accepts: acceptedReports(c.env, job, task),
    } satisfies TaskDescription)
  })

  .post('/task/:id/plan', async (c) => {
    requireMainTask(c)
    const { plan, warnings, replaces = false, whole: planJson } = await parsePlan(c)
    const foreign = (await attemptDestination(c)).allowed.firstForeignPath(plan)
    if (foreign !== null)
      throw new RequestError('forbidden', `The plan has ${foreign}, which is not an output of this job.`)
    await probeOutputDirectories(c)
    const { task, attempt, jobId } = c.var
    const replaced = replaces ? decodePlan(await findPlan(c.env.DB, task)) : null
    const stored = await savePlan(c.env.DB, task, attempt, planJson, replaces, Date.now())
    if (stored === null) throw staleAttempt()
    await addWarnings(c.env, jobId, warnings, (replaced as { warnings?: Warning[] } | null)?.warnings)
    c.executionCtx.waitUntil(jobMonitor(c.env, c.get('jobId')).notifyListeners())
    return c.json(stored)
  })

  .post('/task/:id/source', receiveSourceReport)
  .put('/task/:id/preview', receivePoster)
  .put('/task/:id/log', receiveLog)

  .on(['GET', 'HEAD'], '/task/:id/input', serveSource)
  .on(['GET', 'HEAD'], '/task/:id/input/:piece{[0-9]{1,2}}', serveSource)
  .get('/task/:id/input/hls', describeHls)
  .get('/task/:id/input/hls/:digest/keys/:n{[0-9]{1,6}}', serveDecryptionKey)
  .get('/task/:id/input/hls/:digest/:track{[0-9]{1,2}}/:kind{segments|maps}/:n{[0-9]{1,6}}', serveResource)

  .get('/task/:id/logo', serveLogo)
  .get('/task/:id/captions/:index{[0-9]{1,2}}', serveCaptions)

  .post('/task/:id/uploads', async (c) => {
    const request = await parseBody(c, uploadRequestSchema)
    const { path, content_type: type } = request
    const size = choosePartSize(request.expected_size)
    await requireCurrentAttempt(c)
    const { sink, allowed } = await attemptDestination(c)
    requireAllowedOutput(allowed, 'parts', path, type)
    const upload = await sink.beginUpload(path, type)
    if ((await taskMonitor(c.env, c.get('task')).journalUpload(c.get('attempt'), upload, path)) !== 'current') {
      await sink.abortUpload(path, upload)
      throw staleAttempt()
    }
    const handle = toBase64Url(JSON.stringify([path, upload]))
    if (handle.length > MAX_UPLOAD_HANDLE) {
      await sink.abortUpload(path, upload)
      throw new StoreError('invalid', 'door', 'beginUpload', 'The upload id of the store is too long.')
    }
    return c.json({ upload: handle, part_size: size } satisfies UploadReply)
  })

  .put('/task/:id/uploads/:upload/:n{[1-9][0-9]{0,4}}', async (c) => {
    const length = requireContentLength(c)
    await requireCurrentAttempt(c)
    const number = Number(c.req.param('n'))
    // S3, 10,000 parts; other stores have no more.
    if (number > MAX_UPLOAD_PARTS)
      throw new RequestError('invalid_request', `An upload has at most ${MAX_UPLOAD_PARTS} parts.`)
    const [path, upload] = decodeUploadHandle(c.req.param('upload'))
    const { sink, allowed } = await attemptDestination(c)
    requireAllowedOutput(allowed, 'parts', path)
    const body = c.req.raw.body ?? new Uint8Array(0)
    return c.json({ etag: await sink.uploadPart(path, upload, Number(c.req.param('n')), body, length) })
  })

  .put('/task/:id/output/*', putOutput)

  .post('/task/:id/progress', async (c) => {
    const post = await parseBody(c, progressPostSchema)
    const instruction = await taskMonitor(c.env, c.get('task')).heartbeat(c.get('attempt'), post)
    return c.json({ instruction } satisfies ProgressReply)
  })

  .post('/task/:id/finish', async (c) => {
    requireMainTask(c)
    const { attempt, task: id, jobId } = c.var
    const finish = await parseBody(c, finishPostSchema)
    for (const object of finish.objects) {
      const [path, upload] = decodeUploadHandle(object.upload)
      if (path !== object.path)
        throw new RequestError('invalid_request', `${object.path}: the upload belongs to another path.`)
      object.upload = upload
    }
    const before = await findTask(c.env.DB, id)
    if (!before || before.attempt !== attempt || before.kind === 'plan') throw staleAttempt()
    checkFinishedObjects((await attemptDestination(c)).allowed, finish)
    const monitor = jobMonitor(c.env, jobId)
    // Clients see the last progress while the commit runs.
    const store = () =>
      Promise.all([monitor.storeCommitRecord(attempt, finish), monitor.heartbeat(attempt, finish.progress)])
    if (before.state === 'running' && (await store())[0] === 'current') {
      const result = await applyEvent(
        c.env,
        { id, jobId },
        { type: 'finish', attempt, undivided: finish.undivided === true },
        { cpuSeconds: finish.progress.cpu_seconds },
      )
      if (!result.ok && result.refusal !== 'same') {
        await deleteCommitRecord(c.env, jobId, attempt)
        throw staleAttempt()
      }
    } else {
      // The request may have been sent twice, and the other copy may have changed the state meanwhile.
      const now = await findTask(c.env.DB, id)
      if (now?.attempt !== attempt || (now.state !== 'committing' && now.state !== 'completed')) throw staleAttempt()
    }
    // From here on the record is enough: if the store is unavailable, the monitor continues later.
    await monitor.commit()
    return c.json({ state: (await findTask(c.env.DB, id))?.state ?? 'completed' })
  })

  .post('/task/:id/estimate', finishDryRun)
  .post('/task/:id/divide', divideJob)
  .post('/task/:id/deliver', deliverPart)
  .get('/task/:id/parts/:index{[0-9]{1,3}}', servePartRecord)
  .put('/task/:id/work/*', putWorkObject)
  .get('/task/:id/work/*', serveWorkObject)

  .post('/task/:id/fail', async (c) => {
    const { attempt, task: id, jobId } = c.var
    const { reason, why, error, warnings, ...post } = await parseBody(c, failPostSchema)
    const used = { cpuSeconds: post.cpu_seconds, bytesRead: post.bytes_read }
    const before = await findTask(c.env.DB, id)
    if (before?.attempt !== attempt) throw staleAttempt()
    // A final state never changes (I2).
    if (warnings && !terminal[before.state]) await addWarnings(c.env, jobId, warnings)
    if (reason === 'cancelled') return c.json({ state: 'cancelled' })
    const job = error?.field === undefined ? null : await findJobByJobId(c.env.DB, jobId)
    const told = error && job ? withRequestField(job.config, error) : error
    const result =
      reason === 'interrupted'
        ? await applyEvent(c.env, { id, jobId }, { type: 'evicted', attempt, why }, used)
        : await applyEvent(c.env, { id, jobId }, { type: 'attempt_failed', attempt, error: toJobError(told) }, used)
    if (!result.ok && result.refusal === 'stale') throw staleAttempt()
    return c.json({ state: result.ok ? result.next.state : (result.task?.state ?? 'failed') })
  })

/**
 * @returns the validated fields of the plan, and the whole plan with fields that a newer transcoder may have added
 * @throws RequestError
 */
async function parsePlan(c: Context<TaskEnv>) {
  const { value } = await readJson(c as never, MAX_JSON_BYTES)
  const post = parseMessage(planPostSchema, value)
  const whole = JSON.stringify((value as { plan: unknown }).plan)
  if (new TextEncoder().encode(whole).byteLength > MAX_PLAN_BYTES) {
    throw new RequestError('too_large', `A plan may have at most ${MAX_PLAN_BYTES} bytes.`)
  }
  return { ...post, whole }
}

/** Reports credentials that cannot write now instead of after the encode. */
async function probeOutputDirectories(c: Context<TaskEnv>): Promise<void> {
  const { attempt, jobId } = c.var
  const job = await findJobByJobId(c.env.DB, jobId)
  if (!job || job.attempt !== attempt || job.kind !== 'transcode') return
  const { sink } = await attemptDestination(c)
  if (!sink.probeWrite) return
  const monitor = jobMonitor(c.env, jobId)
  for (const directory of outputDirectories(job.config)) {
    await sink.probeWrite(directory, async (upload, path) => void (await monitor.journalUpload(attempt, upload, path)))
  }
}

/** A store's error for an output: the transcoder takes a 4xx as final and retries the rest. */
function storeErrorResponse(env: Env, error: StoreError): Response {
  // A missing upload was aborted when this attempt ended.
  const { status, code } =
    error.code === 'no_such_upload' ? { status: 409, code: 'stale_attempt' } : jobErrorFor('output', error)
  if (code !== 'stale_attempt') countStoreError(env, 'output', code)
  const body = {
    error: { code, message: error.message, ...fieldFor('output', error), details: storeErrorDetails(error) },
  }
  return Response.json(body, { status, headers: retryAfterHeader(error) })
}

function toJobError(
  error: { code: string; message: string; field?: string | undefined; details?: unknown } | undefined,
): JobError {
  if (!error || !isJobErrorCode(error.code)) {
    return { code: 'internal', message: error?.message ?? 'The transcoder failed without giving a reason.' }
  }
  return {
    code: error.code,
    message: error.message,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.details === undefined ? {} : { details: error.details as Record<string, unknown> }),
  }
}

/** All parts but the last have the same size (R2). Large enough for MAX_UPLOAD_PARTS, at most what one request may carry. */
function choosePartSize(expectedBytes: number): number {
  const mebibyte = 1024 * 1024
  const needed = Math.ceil((expectedBytes * 1.1) / MAX_UPLOAD_PARTS / mebibyte) * mebibyte
  if (needed > MAX_TASK_BODY_BYTES) {
    throw new RequestError(
      'too_large',
      `An output may have at most ${(MAX_TASK_BODY_BYTES * MAX_UPLOAD_PARTS) / 1e9} GB.`,
    )
  }
  return Math.max(MIN_PART_BYTES, needed)
}

/** The upload id of the task API contains the path, so that a part needs no lookup. */
function decodeUploadHandle(text: string): [path: string, upload: string] {
  const bytes = fromBase64Url(text)
  try {
    const pair = JSON.parse(new TextDecoder().decode(bytes ?? new Uint8Array(0))) as unknown
    if (Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string') return [pair[0], pair[1]]
  } catch {
    // Not an id that this API issued.
  }
  throw notFound()
}
