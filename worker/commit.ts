// In charge of: making a finished attempt's outputs visible, in order, from a stored record; resumable at every step
// without the transcoder.
// Not in charge of: whether the attempt was allowed to finish (the guarded UPDATE running → committing).
import type { JobError, Warning } from '#contract/errors.ts'
import { mergeWarnings } from '#contract/errors.ts'
import type { FinishedObject, FinishPost } from '#contract/task.ts'
import type { Watcher } from './follow.ts'
import { apply } from './follow.ts'
import { findJobByBackendId } from './ledger/jobs.ts'
import type { TaskRow } from './ledger/tasks.ts'
import { openSinkOf } from './sink.ts'
import type { Sink } from './storage/store.ts'
import { StoreError } from './storage/store.ts'

interface CommitRecord extends FinishPost {
  attempt: number
}

/** One entry of `status.outputs[]` as it is stored; addresses are made anew on every read. */
export interface StoredOutput {
  path: string
  location: string
  size: number
  sha256: string
  etag: string
  content_type: string
  profile: number | null
  role: FinishedObject['role']
}

function recordKey(jobId: string, attempt: number): string {
  return `work/${jobId}/commit-${attempt}.json`
}

/** Before the transition to `committing`: from then on the record is all that the commit needs. */
export async function storeRecord(env: Env, jobId: string, attempt: number, finish: FinishPost): Promise<void> {
  await env.BUCKET.put(recordKey(jobId, attempt), JSON.stringify({ ...finish, attempt } satisfies CommitRecord), {
    httpMetadata: { contentType: 'application/json' },
  })
}

/**
 * Completes every upload of the record, then the job. Idempotent: an upload that was completed before counts when the
 * object has the recorded size. A passing failure throws and is tried again by the monitor; a lasting one fails the job.
 */
export async function commit(env: Env, task: TaskRow, watcher?: Watcher): Promise<void> {
  const ref = { id: task.id, jobId: task.job_id }
  const { attempt } = task
  const stored = await env.BUCKET.get(recordKey(task.job_id, attempt))
  const job = await findJobByBackendId(env.DB, task.job_id)
  const sink = await openSinkOf(env, task.job_id)
  if (!stored || !sink || !job) {
    await fail('The record of the finished work is missing.', [])
    return
  }
  const record = await stored.json<CommitRecord>()

  const done: StoredOutput[] = []
  for (const object of record.objects) {
    try {
      done.push(await complete(sink, object))
    } catch (error) {
      if (error instanceof StoreError && error.transient) throw error
      const inPlace: string[] = []
      // Nothing of a failed job stays: these lie in the job's own directory, so they replaced nothing (I7).
      for (const output of done) await sink.delete(output.path).catch(() => inPlace.push(output.path))
      await fail(`An output could not be stored: ${error instanceof Error ? error.message : String(error)}`, inPlace)
      return
    }
  }
  await apply(
    env,
    ref,
    { type: 'committed', attempt },
    {
      ...(watcher ? { watcher } : {}),
      outputs: JSON.stringify(done),
      progress: JSON.stringify({ ...record.progress, attempt }),
      warnings: JSON.stringify(mergeWarnings(JSON.parse(job.warnings) as Warning[], record.warnings)),
    },
  )
  await env.BUCKET.delete(recordKey(task.job_id, attempt))

  async function fail(message: string, inPlace: string[]): Promise<void> {
    const error: JobError = {
      code: 'output_forbidden',
      message,
      ...(inPlace.length > 0 ? { details: { in_place: inPlace } } : {}),
    }
    await apply(env, ref, { type: 'commit_failed', attempt, error }, watcher ? { watcher } : {})
    await env.BUCKET.delete(recordKey(task.job_id, attempt))
  }
}

async function complete(sink: Sink, object: FinishedObject): Promise<StoredOutput> {
  let etag: string
  try {
    etag = (await sink.completeUpload(object.path, object.upload, object.parts)).etag
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'no_such_upload')) throw error
    // Completed by a try that did not live to say so?
    const there = await sink.stat(object.path)
    if (there?.size !== object.size) throw error
    etag = there.etag
  }
  const there = await sink.stat(object.path)
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
    etag,
    content_type: object.content_type,
    profile: object.profile,
    role: object.role,
  }
}
