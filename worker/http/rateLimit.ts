// In charge of: the request rate of a key: by the platform's rate limit if one is bound, and per minute, counted by
// each instance of the Worker separately. Both are cheap and approximate.
// Not in charge of: limits that must hold globally; those are in SQL (active jobs: db/jobs.ts, stored bytes:
// db/uploads.ts).
import { RequestError } from './requestError.ts'

/** The longer of the platform's two possible periods: the code cannot see which one is bound. */
const PLATFORM_PERIOD_SECONDS = 60

/**
 * Counted in each location of the platform, with one limit for all keys (wrangler.toml). For limits of single keys, see
 * `takeToken`.
 * @throws RequestError 429
 */
export async function checkPlatformRateLimit(env: Env, keyId: string): Promise<void> {
  if (!env.RATE_LIMIT || (await env.RATE_LIMIT.limit({ key: keyId })).success) return
  throw new RequestError('rate_limited', 'This key exceeds the request limit of this deployment.', {
    headers: { 'retry-after': String(PLATFORM_PERIOD_SECONDS) },
  })
}

interface TokenBucket {
  /** Requests that may be sent at once. */
  left: number
  at: number
}

const MAX_BUCKETS = 10_000
const tokenBuckets = new Map<string, TokenBucket>()

/**
 * Takes one token from the bucket of `keyId`, which has a capacity of `perMinute` and refills at that rate; null = no limit.
 * @throws RequestError 429 with the seconds until the next token
 */
export function takeToken(keyId: string, perMinute: number | null, now: number, who = 'This key'): void {
  if (perMinute === null) return
  if (tokenBuckets.size >= MAX_BUCKETS) tokenBuckets.clear()
  const bucket = tokenBuckets.get(keyId) ?? { left: perMinute, at: now }
  const left = Math.min(perMinute, bucket.left + (Math.max(0, now - bucket.at) / 60_000) * perMinute)
  tokenBuckets.set(keyId, { left: left >= 1 ? left - 1 : left, at: now })
  if (left >= 1) return
  const seconds = Math.max(1, Math.ceil(((1 - left) / perMinute) * 60))
  throw new RequestError('rate_limited', `${who} is limited to ${perMinute} requests per minute.`, {
    headers: { 'retry-after': String(seconds) },
    details: { requests_per_minute: perMinute },
  })
}
