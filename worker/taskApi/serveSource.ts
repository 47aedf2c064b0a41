// In charge of: `/task/:id/input`: byte ranges of the source for one attempt, signed and fetched here.
// Not in charge of: providers (storage/), retries (the transcoder's loopback server repeats the request).
import type { Context } from 'hono'
import { terminal } from '#contract/task/lifecycle.ts'
import { SOURCE_ERROR_HEADER } from '#contract/task/protocol.ts'
import { jobErrorFor, storeErrorDetails, fieldFor, retryAfterHeader } from '../storage/jobErrorMapping.ts'
import { TtlCache } from '../util/ttlCache.ts'
import { findJobByJobId } from '../db/jobs.ts'
import { staleAttempt } from '../http/requestError.ts'
import { openJobSource } from '../storage/jobStores.ts'
import { StoreError, type ByteRange, type Source, type SourceStat } from '../storage/objectStore.ts'
import type { TaskEnv } from './taskContext.ts'
import { fromBase64Url, toBase64Url } from '../util/encoding.ts'

const sources = new TtlCache<Source>()

function attemptSource(env: Env, jobId: string, task: string, attempt: number): Promise<Source> {
  return sources.get(`${task}/${attempt}`, async () => {
    const job = await findJobByJobId(env.DB, jobId)
    if (!job || terminal[job.task_state] || job.attempt !== attempt) {
      throw staleAttempt()
    }
    return openJobSource(env, job)
  })
}

/** GET and HEAD with one Range. If-Match names the version of the object that the first answer gave. */
export async function serveSource(c: Context<TaskEnv>): Promise<Response> {
  const { task, attempt, jobId } = c.var
  try {
    const source = await attemptSource(c.env, jobId, task, attempt)
    if (c.req.method === 'HEAD') {
      const stat = await source.stat()
      return new Response(null, { headers: sourceHeaders(stat, stat.size) })
    }
    const range = readRange(c.req.header('range'))
    const expectedEtag = decodeEtag(c.req.header('if-match'))
    const read = await source.read(range, expectedEtag)
    const headers = sourceHeaders(read, read.length)
    if (!read.isPartial) return new Response(read.body, { headers })
    const last = read.length === null ? '' : String(read.offset + read.length - 1)
    headers.set('content-range', `bytes ${read.offset}-${last}/${read.size ?? '*'}`)
    return new Response(read.body, { status: 206, headers })
  } catch (error) {
    return sourceErrorResponse(error)
  }
}

/** A store's error as a job error; other errors are thrown again. */
export function sourceErrorResponse(error: unknown): Response {
  if (!(error instanceof StoreError)) throw error
  const { status, code } = jobErrorFor('input', error)
  const body = {
    error: { code, message: error.message, ...fieldFor('input', error), details: storeErrorDetails(error) },
  }
  return Response.json(body, { status, headers: { ...retryAfterHeader(error), [SOURCE_ERROR_HEADER]: code } })
}

function sourceHeaders(stat: SourceStat, length: number | null): Headers {
  const headers = new Headers({
    // Always set: a local answer without a type would be compressed and lose its length.
    'content-type': 'application/octet-stream',
    'accept-ranges': stat.ranges ? 'bytes' : 'none',
    'cache-control': 'no-store',
  })
  // A provider's ETag may be weak or combine several headers. It is wrapped in a strong one.
  if (stat.etag !== null) headers.set('etag', `"${toBase64Url(stat.etag)}"`)
  if (length !== null) headers.set('content-length', String(length))
  return headers
}

function decodeEtag(header: string | undefined): string | undefined {
  const tag = /^"([\w-]+)"$/.exec(header ?? '')?.[1]
  if (tag === undefined) return undefined
  const bytes = fromBase64Url(tag)
  // A tag that was not made here matches no object.
  return bytes === null ? tag : new TextDecoder().decode(bytes)
}

/** `bytes=a-b` and `bytes=a-`; anything else is the whole object (RFC 9110, 14.2 allows to ignore a Range). */
function readRange(header: string | undefined): ByteRange | null {
  const parts = /^bytes=(\d{1,15})-(\d{1,15})?$/.exec(header ?? '')
  if (!parts) return null
  const offset = Number(parts[1])
  if (parts[2] === undefined) return { offset }
  const last = Number(parts[2])
  return last < offset ? null : { offset, length: last - offset + 1 }
}
