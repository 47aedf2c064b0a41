// In charge of: how many requests a key may send: the platform's rate limit where one is bound, and in a minute, counted by
// each instance of the Worker on its own: shields that cost nothing.
// Not in charge of: what must hold everywhere, which is SQL (active jobs: db/jobs.ts, stored bytes: db/uploads.ts).
import { RequestError } from './requestError.ts'

/** The longer of the two periods that the platform knows; which one is bound cannot be seen from here. */
const PLATFORM_PERIOD_SECONDS = 60

/**
 * Counted in each location of the platform, with one bound for all keys (wrangler.toml): a bound of a key's own is below.
 * @throws RequestError 429
 */
export async function checkPlatformRateLimit(env: Env, keyId: string): Promise<void> {
  if (!env.RATE_LIMIT || (await env.RATE_LIMIT.limit({ key: keyId })).success) return
  throw new RequestError('rate_limited', 'This key exceeds the request limit of this deployment.', {
    headers: { 'retry-after': String(PLATFORM_PERIOD_SECONDS) },
  })
}

interface TokenBucket {
  /** Requests that may come at once. */
  left: number
  at: number
}

const MAX_BUCKETS = 10_000
const tokenBuckets = new Map<string, TokenBucket>()

/**
 * Takes one request from the key's bucket, which holds and regains `perMinute`; null = no bound.
 * @throws RequestError 429 with the seconds until the next one
 */
export function takeToken(keyId: string, perMinute: number | null, now: number): void {
  if (perMinute === null) return
  if (tokenBuckets.size >= MAX_BUCKETS) tokenBuckets.clear()
  const bucket = tokenBuckets.get(keyId) ?? { left: perMinute, at: now }
  const left = Math.min(perMinute, bucket.left + (Math.max(0, now - bucket.at) / 60_000) * perMinute)
  tokenBuckets.set(keyId, { left: left >= 1 ? left - 1 : left, at: now })
  if (left >= 1) return
  const seconds = Math.max(1, Math.ceil(((1 - left) / perMinute) * 60))
  throw new RequestError('rate_limited', `This key is limited to ${perMinute} requests per minute.`, {
    headers: { 'retry-after': String(seconds) },
    details: { requests_per_minute: perMinute },
  })
}
