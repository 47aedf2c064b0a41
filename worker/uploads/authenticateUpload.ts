// In charge of: who may send a file: an API key, or a short-lived upload token that a visitor's page was given
// (`Authorization: Bearer`), and what such a token lets do: begin uploads, go on with its own, give them up.
// Not in charge of: issuing tokens (uploadTokenRoutes.ts), how many files and bytes they are for (uploadQuota.ts, db/uploads.ts).
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { authenticate, hashKey, requireSettings } from '../http/authenticate.ts'
import { settings } from '../env.ts'
import type { AppEnv } from '../http/context.ts'
import type { TokenWithKey } from '../db/uploadTokens.ts'
import { findToken, isUploadOfToken } from '../db/uploadTokens.ts'
import { notFound, RequestError, tokenEnded, tokenRefused } from '../http/requestError.ts'
import { askPlatform, takeRequest } from '../http/rateLimit.ts'
import { isTus, methodOf, uploadInPath } from './tus/tusRoutes.ts'
import { sign, verify } from '../secrets/hmac.ts'

export const TOKEN_ID = 'ut_[A-Za-z0-9_-]{12}'
const TOKEN = new RegExp(`^(${TOKEN_ID})\\.([0-9]{1,15})\\.([A-Za-z0-9_-]{43})$`)
const LABEL = 'upload token'

/** `ut_<id>.<expiry in ms>.<HMAC>`: one that is forged or too old is refused without a look at the database. */
export async function uploadToken(env: Env, id: string, expiresAt: number): Promise<string> {
  return `${id}.${expiresAt}.${await sign(env, LABEL, `${id}|${expiresAt}`)}`
}

/** @throws RequestError 401 */
async function identify(env: Env, token: string): Promise<TokenWithKey> {
  const [, id, expiry, signature] = TOKEN.exec(token) ?? []
  if (!id || !expiry || !signature || !(await verify(env, LABEL, `${id}|${expiry}`, signature))) {
    throw tokenRefused('This upload token is not valid.')
  }
  const row = Number(expiry) <= Date.now() ? null : await findToken(env.DB, id)
  if (!row || row.revoked_at !== null || !(await isKeyInUse(env, row))) {
    throw tokenEnded()
  }
  return row
}

/** A key of the configuration is revoked by setting another one. */
async function isKeyInUse(env: Env, { key_hash: hash }: TokenWithKey): Promise<boolean> {
  return hash === null || hash === (await configuredKeyHash(env))
}

export async function configuredKeyHash(env: Env): Promise<string | null> {
  return env.API_KEY ? hashKey(env, env.API_KEY) : null
}

/** @throws RequestError 403 for what no token lets do, 404 for an upload that is not its own */
async function confine(c: Context<AppEnv>, id: string): Promise<void> {
  const [method, upload] = [isTus(c) ? methodOf(c) : c.req.method, uploadInPath(c)]
  const allowed = upload === '' ? ['POST'] : isTus(c) ? ['HEAD', 'PATCH', 'DELETE'] : ['DELETE']
  if (!allowed.includes(method)) {
    throw new RequestError(
      'forbidden',
      'An upload token only sends files: POST /uploads, and by tus HEAD, PATCH and DELETE of the uploads that it began.',
    )
  }
  if (upload === '') return
  if (!/^[1-9]\d{0,14}$/.test(upload) || !(await isUploadOfToken(c.env.DB, Number(upload), id))) throw notFound()
}

const byKey = authenticate('jobs')

/** Lets a request to /uploads through with a key, or with a token for what it is for. */
export const authenticateUpload = createMiddleware<AppEnv>(async (c, next) => {
  const token = /^Bearer +([\x21-\x7e]{1,200}) *$/i.exec(c.req.header('authorization') ?? '')?.[1]
  if (token === undefined) return byKey(c, next)
  const row = await identify(c.env, token)
  requireSettings(c.env)
  // Of its own: a visitor takes nothing from what the key may send.
  await askPlatform(c.env, row.id)
  takeRequest(row.id, row.requests_per_minute ?? settings(c.env).requestsPerMinute, Date.now())
  await confine(c, row.id)
  c.set('account', row.account)
  c.set('keyId', row.key_id)
  c.set('scopes', [])
  c.set('priority', 0)
  c.set('hook', null)
  c.set('uploadToken', row)
  return next()
})
