// In charge of: `/task/:id/captions/:index`: a caption file of a job for one attempt, read from its store with the same
// checks as the source, up to the size limit.
// Not in charge of: its content (transcoder/formats/captions).
import type { Context } from 'hono'
import type { JobErrorCode } from '#contract/errorCodes.ts'
import { captionField } from '#contract/job/captions.ts'
import { MAX_CAPTION_BYTES } from '#contract/limits.ts'
import { RequestError } from '../http/requestError.ts'
import { readBoundedBytes } from '../storage/boundedBody.ts'
import { openCaptionSource } from '../storage/jobStores.ts'
import { StoreError } from '../storage/objectStore.ts'
import { jobOfAttempt } from './jobOfAttempt.ts'
import type { TaskEnv } from './taskContext.ts'

/** A server that stops sending must not block the attempt. */
const DOWNLOAD_TIMEOUT_MS = 45_000

export async function serveCaptions(c: Context<TaskEnv>): Promise<Response> {
  const index = Number(c.req.param('index'))
  const job = await jobOfAttempt(c.env, c.var)
  const refused = (why: string) => errorResponse(index, 422, 'captions_unavailable', why)
  const unavailable = (why: string) => errorResponse(index, 502, 'unavailable', why)
  try {
    const source = await openCaptionSource(c.env, job, index)
    if (source === null) return refused('The job has no such caption file.')
    const { body } = await source.read(null)
    const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)
    const limited = body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal })
    const bytes = await readBoundedBytes(new Response(limited), MAX_CAPTION_BYTES)
    if (bytes === null) return refused(`It is larger than ${MAX_CAPTION_BYTES} bytes.`)
    return new Response(bytes, { headers: { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' } })
  } catch (error) {
    if (error instanceof StoreError) return error.transient ? unavailable(error.message) : refused(error.message)
    if (error instanceof RequestError) throw error
    return unavailable('The connection to its server dropped, or is too slow.')
  }
}

/** 422: the transcoder retries a 5xx and takes every other status as final. */
function errorResponse(index: number, status: number, code: JobErrorCode | 'unavailable', why: string): Response {
  const message = `Caption file ${index} cannot be read. ${why}`
  return Response.json({ error: { code, message, field: captionField(index) } }, { status })
}
