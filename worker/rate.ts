// In charge of: how many requests a key may send in a minute, counted by each instance of the Worker on its own: a shield
// that costs nothing. What must hold everywhere is SQL (active jobs: ledger/jobs.ts).
import { RequestError } from './problems.ts'

interface Bucket {
  /** Requests that may come at once. */
  left: number
  at: number
}

const MAX_BUCKETS = 10_000
const buckets = new Map<string, Bucket>()

/**
 * Takes one request from the key's bucket, which holds and regains `perMinute`; null = no bound.
 * @throws RequestError 429 with the seconds until the next one
 */
export function takeRequest(keyId: string, perMinute: number | null, now: number): void {
  if (perMinute === null) return
  if (buckets.size >= MAX_BUCKETS) buckets.clear()
  const bucket = buckets.get(keyId) ?? { left: perMinute, at: now }
  const left = Math.min(perMinute, bucket.left + (Math.max(0, now - bucket.at) / 60_000) * perMinute)
  buckets.set(keyId, { left: left >= 1 ? left - 1 : left, at: now })
  if (left >= 1) return
  const seconds = Math.max(1, Math.ceil(((1 - left) / perMinute) * 60))
  throw new RequestError('rate_limited', `This key may send ${perMinute} requests a minute.`, {
    headers: { 'retry-after': String(seconds) },
    details: { requests_per_minute: perMinute },
  })
}
