// In charge of: making a finished attempt's outputs visible, in order, from a stored record; resumable at every step
// without the transcoder.
// Not in charge of: whether the attempt was allowed to finish (the guarded UPDATE running → committing), nor when it is
// tried again (jobMonitor.ts, which also sees to it that only one commit of a job runs at a time).
import type { JobErrorCode } from '#contract/errorCodes.ts'
import type { JobError } from '#contract/errors.ts'
import { mergeWarnings } from '#contract/job/findings.ts'
import type { FinishedObject, FinishPost, WrittenObject } from '#contract/task/protocol.ts'
import { answerTo, detailsOf, fieldOf } from '../storage/jobErrorMapping.ts'
import type { Watcher } from '../scheduler/applyEvent.ts'
import { apply } from '../scheduler/applyEvent.ts'
import { inParallel } from '../util/mapConcurrent.ts'
import type { StoredOutput } from '../db/jobs.ts'
import { findJobByBackendId } from '../db/jobs.ts'
import type { TaskRow } from '../db/tasks.ts'
import { openSinkOf } from '../storage/jobStores.ts'
import type { Sink } from '../storage/objectStore.ts'
import { isPassing, StoreError } from '../storage/objectStore.ts'

interface CommitRecord extends Omit<FinishPost, 'written'> {
  attempt: number
  /** Absent in a record that an older version stored. */
  written?: WrittenObject[]
}

/** Path → tag of what lay at a final path before the first write of this commit. */
type Before = Record<string, string>

/** Requests to the store at a time. */
const WRITES = 6

function recordKey(jobId: string, attempt: number): string {
  return `work/${jobId}/commit-${attempt}.json`
}

function beforeKey(jobId: string, attempt: number): string {
  return `work/${jobId}/before-${attempt}.json`
}

/** Before the transition to `committing`: from then on the record is all that the commit needs. */
export async function storeRecord(env: Env, jobId: string, attempt: number, finish: FinishPost): Promise<void> {
  await env.BUCKET.put(recordKey(jobId, attempt), JSON.stringify({ ...finish, attempt } satisfies CommitRecord), {
    httpMetadata: { contentType: 'application/json' },
  })
}

export async function dropRecord(env: Env, jobId: string, attempt: number): Promise<void> {
  await env.BUCKET.delete([recordKey(jobId, attempt), beforeKey(jobId, attempt)])
}

/** Of every attempt, once the job has ended: one that a request stored and did not live to use is nobody else's to find. */
export async function dropRecords(env: Env, jobId: string): Promise<void> {
  const { objects } = await env.BUCKET.list({ prefix: `work/${jobId}/` })
  if (objects.length > 0) await env.BUCKET.delete(objects.map(({ key }) => key))
}

/**
 * Completes every upload of the record, then puts the media playlists, then what points at them, then completes the job.
 * Idempotent: an upload that was completed before counts when the object has the recorded size, and a put is repeated.
 * A passing failure throws and is tried again by the monitor until the job's deadline; a lasting one undoes what it can
 * and fails the job.
 */
export async function commit(env: Env, task: TaskRow, watcher: Watcher): Promise<void> {
  const ref = { id: task.id, jobId: task.job_id }
  const { attempt } = task
  const [stored, job] = await Promise.all([
    env.BUCKET.get(recordKey(task.job_id, attempt)),
    findJobByBackendId(env.DB, task.job_id),
  ])
  if (!job) return
  if (!stored) return fail({ code: 'internal', message: 'The record of the finished attempt is missing.' })
  const record = await stored.json<CommitRecord>()
  const { objects, written = [] } = record
  const stage = (n: 1 | 2) => written.filter((object) => object.stage === n)
  let sink: Sink | null = null
  let before: Before | null = null
  let outputs: StoredOutput[]
  try {
    const opened = await openSinkOf(env, task.job_id, job)
    if (!opened) return
    sink = opened
    before = await replacedBy(env, opened, task, [...objects, ...written])
    outputs = [
      ...(await inParallel(objects, WRITES, (object) => complete(opened, object))),
      ...(await inParallel(stage(1), WRITES, (object) => write(opened, object))),
      ...(await inParallel(stage(2), WRITES, (object) => write(opened, object))),
    ]
  } catch (error) {
    if (isPassing(error) && Date.now() < job.deadline_at) throw error
    const inPlace = sink ? await undo(sink, [stage(2), stage(1), objects], before) : []
    return fail(described(error, inPlace))
  }
  await apply(
    env,
    ref,
    { type: 'committed', attempt },
    {
      watcher,
      outputs: JSON.stringify(outputs),
      progress: JSON.stringify({ ...record.progress, attempt }),
      warnings: JSON.stringify(mergeWarnings(job.warnings, record.warnings)),
    },
  )
  await dropRecord(env, task.job_id, attempt)

  async function fail(error: JobError): Promise<void> {
    await apply(env, ref, { type: 'commit_failed', attempt, error }, { watcher })
    await dropRecord(env, task.job_id, attempt)
  }
}

/** What the final paths held before this commit's first write: found out once, and kept for whoever resumes it (I7). */
async function replacedBy(env: Env, sink: Sink, task: TaskRow, objects: { path: string }[]): Promise<Before> {
  const key = beforeKey(task.job_id, task.attempt)
  const known = await env.BUCKET.get(key)
  if (known) return known.json<Before>()
  const before: Before = {}
  await inParallel(objects, WRITES, async ({ path }) => {
    const there = await sink.stat(path)
    if (there) before[path] = there.etag
  })
  await env.BUCKET.put(key, JSON.stringify(before))
  return before
}

/**
 * Deletes what this commit put where nothing was; nothing at all where it is not known what was there (null). Manifests go
 * before what they list (I5).
 * @returns the paths of its objects that stay: they replaced something, or could not be deleted
 */
async function undo(sink: Sink, stages: { path: string }[][], before: Before | null): Promise<string[]> {
  const left: string[] = []
  for (const objects of stages) {
    const paths = await inParallel(objects, WRITES, async ({ path }) => {
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

/** At the commit there is no other try of a request: what a store does not take is an output that is missing. */
function codeOf(error: StoreError): JobErrorCode {
  const { code } = answerTo('output', error)
  const isMissing = code === 'output_refused' || (code === 'output_unreachable' && !error.transient)
  return isMissing ? 'output_incomplete' : code
}

function described(error: unknown, inPlace: string[]): JobError {
  const reason = error instanceof Error ? error.message : String(error)
  const store = error instanceof StoreError ? error : null
  return {
    code: store ? codeOf(store) : 'internal',
    message: `An output could not be published${isPassing(error) ? ' before the job’s deadline' : ''}: ${reason}`,
    ...(store ? fieldOf('output', store) : {}),
    details: {
      ...(store ? detailsOf(store) : {}),
      ...(inPlace.length > 0 ? { in_place: inPlace } : {}),
    },
  }
}

async function complete(sink: Sink, object: FinishedObject): Promise<StoredOutput> {
  let gone: StoreError | null = null
  try {
    await sink.completeUpload(object.path, object.upload, object.parts)
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'no_such_upload')) throw error
    // Completed by a try that did not live to say so?
    gone = error
  }
  // What the store has decides, whatever it answered.
  const there = await sink.stat(object.path)
  if (gone !== null && there?.size !== object.size) throw gone
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

async function write(sink: Sink, object: WrittenObject): Promise<StoredOutput> {
  const bytes = new TextEncoder().encode(object.body)
  const { etag } = await sink.put(object.path, bytes, bytes.byteLength, object.content_type, 'manifest')
  return {
    path: object.path,
    location: sink.location(object.path),
    size: bytes.byteLength,
    sha256: hex(await crypto.subtle.digest('SHA-256', bytes)),
    etag,
    content_type: object.content_type,
    profile: object.profile,
    role: object.role,
    ...(object.segments ? { segments: object.segments } : {}),
    ...(object.media ? { media: object.media } : {}),
  }
}

function hex(digest: ArrayBuffer): string {
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
