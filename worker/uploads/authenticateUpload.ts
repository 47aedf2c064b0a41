// In charge of: who may upload a file: an API key, or a short-lived upload token for a visitor's browser
// (`Authorization: Bearer`). A token may begin uploads, and continue or cancel those that it began.
// Not in charge of: issuing tokens (uploadTokenRoutes.ts), their limits (uploadQuota.ts, db/uploads.ts).
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { authenticate, hashApiKey, assertSettingsValid } from '../http/authenticate.ts'
import { settings } from '../env.ts'
import type { AppEnv } from '../http/context.ts'
import { findUploadToken, isUploadOfToken, type UploadTokenWithKey } from '../db/uploadTokens.ts'
import { notFound, RequestError, expiredToken, invalidToken } from '../http/requestError.ts'
import { checkPlatformRateLimit, takeToken } from '../http/rateLimit.ts'
import { isTusRequest, effectiveMethod, uploadNumberInPath } from './tus/tusRoutes.ts'
import { hmacSign, hmacVerify } from '../secrets/hmac.ts'

export const TOKEN_ID = 'ut_[A-Za-z0-9_-]{12}'
const TOKEN = new RegExp(`^(${TOKEN_ID})\\.([0-9]{1,15})\\.([A-Za-z0-9_-]{43})$`)
const HMAC_LABEL = 'upload token'

/** `ut_<id>.<expiry in ms>.<HMAC>`: a forged or expired token is refused without a database query. */
export async function createUploadToken(env: Env, id: string, expiresAt: number): Promise<string> {
  return `${id}.${expiresAt}.${await hmacSign(env, HMAC_LABEL, `${id}|${expiresAt}`)}`
}

/** @throws RequestError 401 */
async function verifyUploadToken(env: Env, token: string): Promise<UploadTokenWithKey> {
  const [, id, expiry, signature] = TOKEN.exec(token) ?? []
  if (!id || !expiry || !signature || !(await hmacVerify(env, HMAC_LABEL, `${id}|${expiry}`, signature))) {
    throw invalidToken('This upload token is not valid.')
  }
  const now = Date.now()
  const row = Number(expiry) <= now ? null : await findUploadToken(env.DB, id, now)
  if (!row || row.revoked_at !== null || !(await isKeyInUse(env, row))) {
    throw expiredToken()
  }
  return row
}

/** A key from the configuration is revoked by setting another one. */
async function isKeyInUse(env: Env, { key_hash: hash }: UploadTokenWithKey): Promise<boolean> {
  return hash === null || hash === (await configuredKeyHash(env))
}

export async function configuredKeyHash(env: Env): Promise<string | null> {
  return env.API_KEY ? hashApiKey(env, env.API_KEY) : null
}

/**
 * @throws RequestError 403 for an operation that tokens do not allow, 404 for an upload that this token did not begin
 */
async function requireTokenScope(c: Context<AppEnv>, id: string): Promise<void> {
  const [method, upload] = [isTusRequest(c) ? effectiveMethod(c) : c.req.method, uploadNumberInPath(c)]
  const allowed = upload === '' ? ['POST'] : isTusRequest(c) ? ['HEAD', 'PATCH', 'DELETE'] : ['DELETE']
  if (!allowed.includes(method)) {
    throw new RequestError(
      'forbidden',
      'An upload token can only send files: POST /uploads, and with tus HEAD, PATCH and DELETE for the uploads that it created.',
    )
  }
  if (upload === '') return
  if (!/^[1-9]\d{0,14}$/.test(upload) || !(await isUploadOfToken(c.env.DB, Number(upload), id))) throw notFound()
}

const authenticateByKey = authenticate('jobs')

/** Requires an API key, or an upload token that allows the operation. */
export const authenticateUpload = createMiddleware<AppEnv>(async (c, next) => {
  const token = /^Bearer +([\x21-\x7e]{1,200}) *$/i.exec(c.req.header('authorization') ?? '')?.[1]
  if (token === undefined) return authenticateByKey(c, next)
  const row = await verifyUploadToken(c.env, token)
  assertSettingsValid(c.env)
  // A token has its own rate limit, so that visitors do not use up the limit of the key.
  await checkPlatformRateLimit(c.env, row.id)
  takeToken(row.id, row.requests_per_minute ?? settings(c.env).requestsPerMinute, Date.now())
  await requireTokenScope(c, row.id)
  c.set('account', row.account)
  c.set('keyId', row.key_id)
  c.set('scopes', [])
  c.set('priority', 0)
  c.set('keyWebhook', null)
  c.set('uploadToken', row)
  return next()
})
