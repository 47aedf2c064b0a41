// In charge of: `/task/:id/input` and `/task/:id/input/:piece`: byte ranges of a source for one attempt, signed and
// fetched here.
// Not in charge of: providers (storage/), retries (the transcoder's loopback server repeats the request).
import type { Context } from 'hono'
import { jobInputs, type JobInput } from '#contract/job/jobConfig.ts'
import { INPUTS, MAX_JOB_PARTS } from '#contract/limits.ts'
import { SOURCE_ERROR_HEADER } from '#contract/task/protocol.ts'
import {
  jobErrorFor,
  storeErrorDetails,
  fieldFor,
  retryAfterHeader,
  sourceFieldFor,
} from '../storage/jobErrorMapping.ts'
import { TtlCache } from '../util/ttlCache.ts'
import { notFound } from '../http/requestError.ts'
import { openJobSource } from '../storage/jobStores.ts'
import { StoreError, type ByteRange, type Source, type SourceStat } from '../storage/objectStore.ts'
import { jobOfAttempt } from './jobOfAttempt.ts'
import type { TaskEnv } from './taskContext.ts'
import { fromBase64Url, toBase64Url } from '../util/encoding.ts'

/** A source of a job, and where it is named in the request. */
interface AttemptSource {
  source: Source
  input: JobInput
}

/** One attempt may have as many sources as a request. */
const sources = new TtlCache<AttemptSource>(Math.max(10 * INPUTS.maximum, 2 * MAX_JOB_PARTS))

function attemptSource(env: Env, of: TaskEnv['Variables'], piece: number): Promise<AttemptSource> {
  return sources.get(`${of.task}/${of.attempt}/${piece}`, async () => {
    const job = await jobOfAttempt(env, of)
    const input = jobInputs(job.config)[piece]
    if (!input) throw notFound()
    try {
      const source = await openJobSource(env, job, piece)
      return { source, input }
    } catch (error) {
      throw error instanceof StoreError ? new SourceError(error, input) : error
    }
  })
}

/** An error of one source of a job. */
class SourceError extends Error {
  readonly error: StoreError
  readonly input: JobInput
  constructor(error: StoreError, input: JobInput) {
    super(error.message)
    this.error = error
    this.input = input
  }
}

/** GET and HEAD with one Range. If-Match names the version of the object that the first answer gave. */
export async function serveSource(c: Context<TaskEnv>): Promise<Response> {
  const piece = Number(c.req.param('piece') ?? 0)
  let input: JobInput | undefined
  try {
    const opened = await attemptSource(c.env, c.var, piece)
    const { source } = opened
    input = opened.input
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
    if (error instanceof SourceError) return sourceErrorResponse(error.error, error.input)
    return sourceErrorResponse(error, input)
  }
}

/** A store's error as a job error, with the field of that source; other errors are thrown again. */
export function sourceErrorResponse(error: unknown, input?: JobInput): Response {
  if (!(error instanceof StoreError)) throw error
  const { status, code } = jobErrorFor('input', error)
  const field = input === undefined ? fieldFor('input', error) : sourceFieldFor(input, error)
  const body = { error: { code, message: error.message, ...field, details: storeErrorDetails(error) } }
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
