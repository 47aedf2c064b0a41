// In charge of: the still image of a job's source at a signed address that expires:
// /p/<expiry>.<signature>/<job_id>/<attempt>.jpg.
// Not in charge of: receiving it (taskApi/receiveReports.ts), Range and conditional requests (serveObject.ts).
import { Hono } from 'hono'
import { limitMaxAge } from '../storage/cacheControl.ts'
import { posterKey } from '../storage/objectKeys.ts'
import { settings } from '../env.ts'
import type { AppEnv } from '../http/context.ts'
import { RequestError } from '../http/requestError.ts'
import { hmacSign, hmacVerify } from '../secrets/hmac.ts'
import { serveStoredObject } from './serveObject.ts'

/** Pages on any origin may show it; nothing here depends on cookies. */
const crossOriginHeaders = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }

const DAY_MS = 86_400_000

/**
 * When the outputs of a job in the service's own store are deleted, in milliseconds since 1970. For an unfinished job
 * the value is the same all day, so that clients that poll it do not load its poster again with each new URL.
 */
export function outputsExpireAt(env: Env, { finished_at: finished }: { finished_at: number | null }): number {
  return (finished ?? Math.ceil(Date.now() / DAY_MS) * DAY_MS) + settings(env).retentionDays.outputs * DAY_MS
}

/** `until` in milliseconds since 1970. */
export async function signedPosterUrl(
  env: Env,
  baseUrl: string,
  poster: { jobId: string; attempt: number },
  until: number,
): Promise<string> {
  const expiry = Math.floor(until / 1000)
  const signature = await hmacSign(env, 'poster', signedText(poster.jobId, poster.attempt, expiry))
  return `${baseUrl}/p/${expiry}.${signature}/${poster.jobId}/${poster.attempt}.jpg`
}

function signedText(jobId: string, attempt: number, expiry: number): string {
  return `${jobId}/${attempt}/${expiry}`
}

export const posterRoutes = new Hono<AppEnv>().get('/:grant/:job/:name', async (c) => {
  const [, expiry, signature] = /^(\d{1,12})\.([\w-]{43})$/.exec(c.req.param('grant')) ?? []
  const attempt = Number(/^([1-9]\d{0,8})\.jpg$/.exec(c.req.param('name'))?.[1])
  const jobId = c.req.param('job')
  const secondsLeft = Number(expiry) - Math.floor(Date.now() / 1000)
  const isOurs =
    signature !== undefined &&
    Number.isInteger(attempt) &&
    (await hmacVerify(c.env, 'poster', signedText(jobId, attempt, Number(expiry)), signature))
  if (!isOurs || secondsLeft <= 0) {
    throw new RequestError('forbidden', 'This address is invalid or has expired. Read the job again for a new one.', {
      headers: { ...crossOriginHeaders },
    })
  }
  return serveStoredObject(c, posterKey(jobId, attempt), (object) => ({
    ...crossOriginHeaders,
    // The object at this key never changes.
    'cache-control': object ? limitMaxAge('private, max-age=31536000, immutable', secondsLeft) : 'no-store',
  }))
})
