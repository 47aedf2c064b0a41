// In charge of: `/task/:id/logo`: the logo of a job for one attempt, fetched here with the SSRF checks, and only if it
// is an image.
// Not in charge of: decoding it (transcoder/source/logoImage.ts).
import type { Context } from 'hono'
import type { JobErrorCode } from '#contract/errorCodes.ts'
import { MAX_LOGO_BYTES } from '#contract/limits.ts'
import { imageType } from '#contract/formats/imageType.ts'
import { RequestError } from '../http/requestError.ts'
import { logoUrlOf } from '../storage/jobStores.ts'
import { StoreError } from '../storage/objectStore.ts'
import { guardedFetch } from '../storage/guardedFetch.ts'
import { jobOfAttempt } from './jobOfAttempt.ts'
import type { TaskEnv } from './taskContext.ts'
import { readBoundedBytes } from '../storage/boundedBody.ts'

/** A server that stops sending must not block the attempt. */
const DOWNLOAD_TIMEOUT_MS = 30_000

export async function serveLogo(c: Context<TaskEnv>): Promise<Response> {
  const job = await jobOfAttempt(c.env, c.var)
  try {
    const address = await logoUrlOf(c.env, job)
    if (address === null) return logoRefused('The job has no logo.')
    const response = await guardedFetch(
      c.env,
      address,
      { headers: { accept: 'image/png, image/jpeg, image/webp' }, signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) },
      { provider: 'logo', operation: 'read' },
    )
    if (response.status >= 500 || response.status === 429)
      return logoUnavailable(`Its server answered ${response.status}.`)
    if (response.status !== 200) return logoRefused(`Its server answered ${response.status}.`)
    const bytes = await readBoundedBytes(response, MAX_LOGO_BYTES)
    if (bytes === null) return logoRefused(`It is larger than ${MAX_LOGO_BYTES} bytes.`)
    const type = imageType(bytes)
    if (type === null) return logoRefused('It is neither PNG nor JPEG nor WebP.')
    return new Response(bytes, { headers: { 'content-type': type, 'cache-control': 'no-store' } })
  } catch (error) {
    if (error instanceof StoreError)
      return error.transient ? logoUnavailable(error.message) : logoRefused(error.message)
    if (error instanceof RequestError) throw error
    return logoUnavailable('The connection to its server dropped.')
  }
}

/** 422: the transcoder retries a 5xx and takes every other status as final. */
function logoRefused(why: string): Response {
  return errorResponse(422, 'logo_unavailable', why)
}

function logoUnavailable(why: string): Response {
  return errorResponse(502, 'unavailable', why)
}

function errorResponse(status: number, code: JobErrorCode | 'unavailable', why: string): Response {
  const message = `The logo cannot be used. ${why}`
  return Response.json({ error: { code, message, field: 'logo_url' } }, { status })
}
