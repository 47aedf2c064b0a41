// In charge of: identifying the client of a request (specification 5: HTTP Basic, the user name is the API key).
// Not in charge of: issuing keys (admin/apiKeyRoutes.ts), attempt tokens (secrets/attemptToken.ts).
import { createMiddleware } from 'hono/factory'
import { settings } from '../env.ts'
import type { AppEnv } from './context.ts'
import { findApiKey, isKeyUsable, markKeyUsed, type KeyWebhook } from '../db/apiKeys.ts'
import { RequestError } from './requestError.ts'
import { checkPlatformRateLimit, takeToken } from './rateLimit.ts'
import { hmacSign, hmacVerify } from '../secrets/hmac.ts'

export interface Identity {
  account: string
  keyId: string
  scopes: string[]
  priority: number
  /** Null = the deployment's default. */
  requestsPerMinute: number | null
  webhook: KeyWebhook | null
}

/** Cache lifetime of a key in an isolate: a revoked or expired key may still be accepted for this long. */
const CACHE_TTL_MS = 60_000
const MAX_CACHED = 10_000
/** The time of last use is only informative, so it is written at most once per interval. */
const LAST_USED_INTERVAL_MS = 3600_000
const identityCache = new Map<string, { identity: Identity; expiresAt: number }>()

/** Compared when no key has the given id, so that the answer takes as long as for a wrong secret. */
const DUMMY_HASH = 'A'.repeat(43)

/** `sp_<id>.<secret>`: 12 and 43 characters of base64url. */
const KEY = /^(sp_[A-Za-z0-9_-]{12})\.[A-Za-z0-9_-]{43}$/

export const hashApiKey = (env: Env, key: string) => hmacSign(env, 'api-key', key)

async function identify(env: Env, key: string): Promise<Identity | null> {
  const hash = await hashApiKey(env, key)
  const known = identityCache.get(hash)
  if (known && known.expiresAt > Date.now()) return known.identity
  const identity = await findIdentity(env, key)
  if (identity) {
    if (identityCache.size >= MAX_CACHED) identityCache.clear()
    identityCache.set(hash, { identity, expiresAt: Date.now() + CACHE_TTL_MS })
  }
  return identity
}

const configuredKeyDefaults = { priority: 0, requestsPerMinute: null, webhook: null } as const

async function findIdentity(env: Env, key: string): Promise<Identity | null> {
  // Keys from the configuration: both sides are hashed, so the duration of the comparison reveals nothing.
  if (env.ADMIN_KEY && (await hmacVerify(env, 'api-key', key, await hashApiKey(env, env.ADMIN_KEY)))) {
    return { account: 'admin', keyId: 'admin', scopes: ['admin'], ...configuredKeyDefaults }
  }
  if (env.API_KEY && (await hmacVerify(env, 'api-key', key, await hashApiKey(env, env.API_KEY)))) {
    return { account: 'default', keyId: 'configured', scopes: ['jobs'], ...configuredKeyDefaults }
  }
  const id = KEY.exec(key)?.[1]
  const row = id === undefined ? null : await findApiKey(env.DB, id)
  const right = await hmacVerify(env, 'api-key', key, row?.hash ?? DUMMY_HASH)
  const now = Date.now()
  if (!row || !right || !isKeyUsable(row, now)) return null
  if (now - (row.last_used_at ?? 0) >= LAST_USED_INTERVAL_MS) await markKeyUsed(env.DB, row.id, now)
  return {
    account: row.account,
    keyId: row.id,
    scopes: row.scopes.split(','),
    priority: row.priority,
    requestsPerMinute: row.requests_per_minute,
    webhook: row.webhook_url === null ? null : { keyId: row.id, redacted: row.webhook_url, sealed: row.webhook_sealed },
  }
}

/** The user name of HTTP Basic (RFC 7617). The password is ignored: samples send one character or none (5.3). */
function basicUser(header: string | undefined): string | null {
  const encoded = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return null
  try {
    const pair = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'))
    const colon = pair.indexOf(':')
    const user = colon < 0 ? pair : pair.slice(0, colon)
    return user === '' || user.length > 200 ? null : user
  } catch {
    return null
  }
}

/** @throws RequestError 503 while a setting is invalid: a limit could only be guessed */
export function assertSettingsValid(env: Env): void {
  const { problems } = settings(env)
  if (problems.length > 0) {
    throw new RequestError('unavailable', `This service is not configured: ${problems.join('; ')}.`)
  }
}

/** Requires a key with the given scope, and sets the account of the request. */
export function authenticate(scope: 'jobs' | 'admin') {
  return createMiddleware<AppEnv>(async (c, next) => {
    const key = basicUser(c.req.header('authorization'))
    const identity = key === null ? null : await identify(c.env, key)
    if (!identity) {
      // Without this, the browser would open its own login dialog for a dashboard request.
      const quiet = c.req.header('sec-fetch-mode') === 'cors'
      throw new RequestError(
        'unauthorized',
        key === null
          ? 'Send your API key as the user name of HTTP Basic authentication (curl: -u YOUR_KEY:).'
          : 'This API key is unknown, was revoked or has expired.',
        quiet ? {} : { headers: { 'www-authenticate': 'Basic realm="Splicepoint", charset="UTF-8"' } },
      )
    }
    assertSettingsValid(c.env)
    await checkPlatformRateLimit(c.env, identity.keyId)
    takeToken(identity.keyId, identity.requestsPerMinute ?? settings(c.env).requestsPerMinute, Date.now())
    if (!identity.scopes.includes(scope)) {
      throw new RequestError('forbidden', `This key is not permitted to do that: it lacks the scope "${scope}".`)
    }
    c.set('account', identity.account)
    c.set('keyId', identity.keyId)
    c.set('scopes', identity.scopes)
    c.set('priority', identity.priority)
    c.set('keyWebhook', identity.webhook)
    return next()
  })
}
