// In charge of: publishing the outputs of a finished attempt, in order, from a stored record. Every step can be resumed
// without the transcoder.
// Not in charge of: whether the attempt was allowed to finish (the guarded UPDATE running → committing), retries, and
// that only one commit of a job runs at a time (both jobMonitor.ts).
import type { JobErrorCode } from '#contract/errorCodes.ts'
import type { JobError } from '#contract/errors.ts'
import { outputProvider } from '#contract/job/jobConfig.ts'
import { mergeWarnings } from '#contract/job/findings.ts'
import type { FinishedObject, FinishPost, WrittenObject } from '#contract/task/protocol.ts'
import { outputFigures } from '../metrics/outputFigures.ts'
import { deliveryOf } from '../usage/transitionUsage.ts'
import { jobErrorFor, storeErrorDetails, fieldFor } from '../storage/jobErrorMapping.ts'
import { applyEvent, type MonitorHandle } from '../scheduler/applyEvent.ts'
import { mapConcurrent } from '../util/mapConcurrent.ts'
import { findJobByJobId, type StoredOutput } from '../db/jobs.ts'
import type { TaskRow } from '../db/tasks.ts'
import { openJobSink } from '../storage/jobStores.ts'
import { isTransient, StoreError, type Sink } from '../storage/objectStore.ts'
import { sha256Hex } from '../util/encoding.ts'

interface CommitRecord extends FinishPost {
  attempt: number
}

/** Path → ETag of the object at that path before the first write of this commit. */
type EtagsBefore = Record<string, string>

/** Concurrent requests to the store. */
const CONCURRENCY = 6

function commitRecordKey(jobId: string, attempt: number): string {
  return `work/${jobId}/commit-${attempt}.json`
}

function etagsBeforeKey(jobId: string, attempt: number): string {
  return `work/${jobId}/before-${attempt}.json`
}

/** Stored before the transition to `committing`. From then on the commit needs nothing but this record. */
export async function storeCommitRecord(env: Env, jobId: string, attempt: number, finish: FinishPost): Promise<void> {
  await env.BUCKET.put(commitRecordKey(jobId, attempt), JSON.stringify({ ...finish, attempt } satisfies CommitRecord), {
    httpMetadata: { contentType: 'application/json' },
  })
}

export async function deleteCommitRecord(env: Env, jobId: string, attempt: number): Promise<void> {
  await env.BUCKET.delete([commitRecordKey(jobId, attempt), etagsBeforeKey(jobId, attempt)])
}

/** Records of all attempts, once the job has ended: a request may have stored one and died before it used it. */
export async function deleteCommitRecords(env: Env, jobId: string): Promise<void> {
  // A divided job has a record of each attempt at each of its parts: more than a page.
  for (;;) {
    const { objects, truncated } = await env.BUCKET.list({ prefix: `work/${jobId}/` })
    if (objects.length > 0) await env.BUCKET.delete(objects.map(({ key }) => key))
    if (!truncated) return
  }
}

/**
 * Completes all uploads of the record, then writes the media playlists, then the manifests that refer to them, then
 * completes the job. Idempotent: an upload that was completed before is accepted if the object has the recorded size,
 * and a put is repeated. A transient error is thrown, and the monitor tries again until the job's deadline. A permanent
 * error rolls back what it can and fails the job.
 */
export async function commitOutputs(env: Env, task: TaskRow, monitor: MonitorHandle): Promise<void> {
  const ref = { id: task.id, jobId: task.job_id }
  const { attempt } = task
  const [stored, job] = await Promise.all([
    env.BUCKET.get(commitRecordKey(task.job_id, attempt)),
    findJobByJobId(env.DB, task.job_id),
  ])
  if (!job) return
  if (!stored) return fail({ code: 'internal', message: 'The record of the finished attempt is missing.' })
  const record = await stored.json<CommitRecord>()
  const { objects, written } = record
  const inStage = (n: 1 | 2) => written.filter((object) => object.stage === n)
  let sink: Sink | null = null
  let etagsBefore: EtagsBefore | null = null
  let outputs: StoredOutput[]
  try {
    const opened = await openJobSink(env, task.job_id, job)
    if (!opened) return
    sink = opened
    etagsBefore = await readEtagsBefore(env, opened, task, [...objects, ...written])
    outputs = [
      ...(await mapConcurrent(objects, CONCURRENCY, (object) => completeObject(opened, object))),
      ...(await mapConcurrent(inStage(1), CONCURRENCY, (object) => putManifest(opened, object))),
      ...(await mapConcurrent(inStage(2), CONCURRENCY, (object) => putManifest(opened, object))),
    ]
  } catch (error) {
    if (isTransient(error) && Date.now() < job.deadline_at) throw error
    const remaining = sink ? await rollBack(sink, [inStage(2), inStage(1), objects], etagsBefore) : []
    return fail(commitError(error, remaining), record.progress)
  }
  const figures = outputFigures(record, outputProvider(job.config))
  await applyEvent(
    env,
    ref,
    { type: 'committed', attempt },
    {
      monitor,
      figures,
      delivery: deliveryOf(record, figures.bytes),
      outputs: JSON.stringify(outputs),
      progress: JSON.stringify({ ...record.progress, attempt }),
      warnings: JSON.stringify(mergeWarnings(job.warnings, record.warnings)),
    },
  )
  await deleteCommitRecord(env, task.job_id, attempt)

  async function fail(error: JobError, progress?: CommitRecord['progress']): Promise<void> {
    const { cpu_seconds: cpuSeconds, bytes_read: bytesRead } = progress ?? {}
    await applyEvent(env, ref, { type: 'commit_failed', attempt, error }, { monitor, cpuSeconds, bytesRead })
    await deleteCommitRecord(env, task.job_id, attempt)
  }
}

/** What was at the final paths before this commit's first write. Stored, so that a resumed commit knows it too (I7). */
async function readEtagsBefore(env: Env, sink: Sink, task: TaskRow, objects: { path: string }[]): Promise<EtagsBefore> {
  const key = etagsBeforeKey(task.job_id, task.attempt)
  const known = await env.BUCKET.get(key)
  if (known) return known.json<EtagsBefore>()
  const before: EtagsBefore = {}
  await mapConcurrent(objects, CONCURRENCY, async ({ path }) => {
    const stat = await sink.stat(path)
    if (stat) before[path] = stat.etag
  })
  await env.BUCKET.put(key, JSON.stringify(before))
  return before
}

/**
 * Deletes the objects that this commit wrote to paths that were empty before. If it is not known what was there (null),
 * nothing is deleted. Manifests are deleted before the files that they list (I5).
 * @returns paths of this commit's objects that remain: they replaced an object, or could not be deleted
 */
async function rollBack(sink: Sink, stages: { path: string }[][], before: EtagsBefore | null): Promise<string[]> {
  const left: string[] = []
  for (const objects of stages) {
    const paths = await mapConcurrent(objects, CONCURRENCY, async ({ path }) => {
      const was = before?.[path]
      if (before && was === undefined) await sink.delete(path).catch(() => undefined)
      try {
        const there = await sink.stat(path)
        return there === null || there.etag === was ? [] : [path]
      } catch {
        return [path]
      }
    })
    left.push(...paths.flat())
  }
  return left
}

/** The request is not repeated during a commit, so an object that the store refuses is a missing output. */
function commitErrorCode(error: StoreError): JobErrorCode {
  const { code } = jobErrorFor('output', error)
  const isMissing = code === 'output_refused' || (code === 'output_unreachable' && !error.transient)
  return isMissing ? 'output_incomplete' : code
}

function commitError(error: unknown, remaining: string[]): JobError {
  const reason = error instanceof Error ? error.message : String(error)
  const store = error instanceof StoreError ? error : null
  return {
    code: store ? commitErrorCode(store) : 'internal',
    message: `An output could not be published${isTransient(error) ? ' before the job’s deadline' : ''}: ${reason}`,
    ...(store ? fieldFor('output', store) : {}),
    details: {
      ...(store ? storeErrorDetails(store) : {}),
      ...(remaining.length > 0 ? { in_place: remaining } : {}),
    },
  }
}

async function completeObject(sink: Sink, object: FinishedObject): Promise<StoredOutput> {
  let uploadError: StoreError | null = null
  try {
    await sink.completeUpload(object.path, object.upload, object.parts)
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'no_such_upload')) throw error
    // Completed by a try that did not live to say so?
    uploadError = error
  }
  // The stored object decides, whatever the store answered.
  const there = await sink.stat(object.path)
  if (uploadError !== null && there?.size !== object.size) throw uploadError
  if (there?.size !== object.size) {
    throw new StoreError(
      'invalid',
      'store',
      'completeUpload',
      `${object.path} has ${there?.size ?? 'no'} bytes instead of ${object.size}.`,
    )
  }
  return {
    path: object.path,
    location: sink.location(object.path),
    size: object.size,
    sha256: object.sha256,
    etag: there.etag,
    content_type: object.content_type,
    profile: object.profile,
    role: object.role,
    ...(object.media ? { media: object.media } : {}),
  }
}

async function putManifest(sink: Sink, object: WrittenObject): Promise<StoredOutput> {
  const bytes = new TextEncoder().encode(object.body)
  const { etag } = await sink.put(object.path, bytes, bytes.byteLength, object.content_type, 'manifest')
  return {
    path: object.path,
    location: sink.location(object.path),
    size: bytes.byteLength,
    sha256: await sha256Hex(bytes),
    etag,
    content_type: object.content_type,
    profile: object.profile,
    role: object.role,
    ...(object.segments ? { segments: object.segments } : {}),
    ...(object.media ? { media: object.media } : {}),
  }
}
