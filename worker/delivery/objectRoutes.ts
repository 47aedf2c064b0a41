// In charge of: outputs in the service's own store at signed addresses that expire:
// /o/<expiry>.<signature>/<account>/<job_id>/<path…>; for a share: /o/<expiry>s.<signature>/….
// The signature is in the path, so that relative URIs in a playlist keep it.
// Not in charge of: Range and conditional requests (serveObject.ts).
import { Hono, type Context } from 'hono'
import { decodePathSegments } from '../util/pathSegments.ts'
import type { AppEnv } from '../http/context.ts'
import { notFound, RequestError } from '../http/requestError.ts'
import { hmacSign, hmacVerify } from '../secrets/hmac.ts'
import { limitMaxAge } from '../storage/cacheControl.ts'
import { keyBelow, ownPrefix } from '../storage/keyBelow.ts'
import { StoreError } from '../storage/objectStore.ts'
import { serveStoredObject } from './serveObject.ts'

/** Players on any origin may read segments; nothing here depends on cookies. */
export const crossOriginHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Accept-Ranges, Content-Length, Content-Range, Content-Type, ETag, Last-Modified',
  'cross-origin-resource-policy': 'cross-origin',
  'timing-allow-origin': '*',
}

const preflight = {
  ...crossOriginHeaders,
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': 'Range, If-Match, If-None-Match, If-Range, If-Modified-Since, If-Unmodified-Since',
  'access-control-max-age': '86400',
}

/**
 * Which objects an address gives access to: all of the job's, or those of a share, which exclude the owner's job
 * report.
 */
type UrlScope = 'object' | 'shared'

const JOB_REPORT = /(?:^|\/)job\.json$/

/** `expiresAt` in Unix seconds. One address gives access to all objects of its scope until then. */
export async function signedObjectUrl(
  env: Env,
  baseUrl: string,
  { account, jobId, path }: { account: string; jobId: string; path: string },
  { expiresAt, scope }: { expiresAt: number; scope: UrlScope },
): Promise<string> {
  const expiry = String(Math.floor(expiresAt))
  const signature = await hmacSign(env, scope, `${account}/${jobId}/${expiry}`)
  const elements = [account, jobId, ...path.split('/')].map(encodeURIComponent)
  return `${baseUrl}/o/${expiry}${scope === 'shared' ? 's' : ''}.${signature}/${elements.join('/')}`
}

interface ObjectGrant {
  account: string
  jobId: string
  path: string
  secondsLeft: number
}

/** Null for any invalid address: the result is the same for a forged, an expired and a malformed one. */
async function verifyGrant(c: Context<AppEnv>): Promise<ObjectGrant | null> {
  const [, , grant = '', ...rest] = new URL(c.req.url).pathname.split('/')
  const elements = decodePathSegments(rest)
  const [, expiry, mark, signature] = /^(\d{1,12})(s?)\.([\w-]{43})$/.exec(grant) ?? []
  if (!elements || !expiry || !signature) return null
  const [account = '', jobId = '', ...names] = elements
  const scope: UrlScope = mark === 's' ? 'shared' : 'object'
  if (!(await hmacVerify(c.env, scope, `${account}/${jobId}/${expiry}`, signature))) return null
  const path = names.join('/')
  if (scope === 'shared' && JOB_REPORT.test(path)) return null
  const secondsLeft = Number(expiry) - Math.floor(Date.now() / 1000)
  return secondsLeft > 0 ? { account, jobId, path, secondsLeft } : null
}

/** @throws RequestError 404 for an invalid name, as for a missing object */
function keyOf({ account, jobId, path }: ObjectGrant): string {
  try {
    return keyBelow(ownPrefix(account, jobId), path, 'vendor-store', 'read')
  } catch (error) {
    if (error instanceof StoreError)
      throw new RequestError('not_found', notFound().message, { headers: { ...crossOriginHeaders } })
    throw error
  }
}

export const objectRoutes = new Hono<AppEnv>()

objectRoutes.options('/*', (c) => c.body(null, 204, preflight))

objectRoutes.get('/*', async (c) => {
  const grant = await verifyGrant(c)
  if (!grant || grant.path === '') {
    throw new RequestError('forbidden', 'This address is invalid or has expired. Read the job again for a new one.', {
      headers: { ...crossOriginHeaders },
    })
  }
  return serveStoredObject(c, keyOf(grant), (object) => ({
    ...crossOriginHeaders,
    // Nothing may be cached for longer than its address is valid.
    'cache-control': object
      ? limitMaxAge(object.httpMetadata?.cacheControl ?? 'private', grant.secondsLeft)
      : 'no-store',
  }))
})
