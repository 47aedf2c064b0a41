// In charge of: counts of single requests. They are collected in this isolate's memory and added to the totals in D1
// at most every ten seconds, so that no request waits for a write. An isolate that ends before loses up to ten seconds
// of counts; a write that D1 made but did not confirm is counted twice.
// Not in charge of: counts of jobs, which are exact (transitionTotals.ts).
import { waitUntil } from 'cloudflare:workers'
import { addTotals } from '../db/metricTotals.ts'
import { Totals } from '../util/totals.ts'

const FLUSH_MS = 10_000

let pending = new Map<string, Totals>()
/** When the scheduled write is due, on the clock of performance.now(). */
let dueAt = -Infinity
/** A write that is later than this was cancelled together with its request. */
const CANCELLED_AFTER_MS = 30_000

/**
 * Counts something that a request did. `scope`: the row that the totals are added to; only rows with news are written.
 */
export function countInIsolate(env: Env, scope: string, count: (totals: Totals) => void): void {
  const totals = pending.get(scope) ?? new Totals()
  pending.set(scope, totals)
  count(totals)
  const now = performance.now()
  if (now < dueAt + CANCELLED_AFTER_MS) return
  dueAt = now + FLUSH_MS
  // The request that schedules the write may be answered long before; the platform lets it go on for half a minute.
  waitUntil(
    scheduler.wait(FLUSH_MS).then(
      () => flushCounts(env),
      () => undefined,
    ),
  )
}

/** Also called before /metrics is answered, so that it shows what this isolate has counted. Never rejects. */
export async function flushCounts(env: Env): Promise<void> {
  dueAt = -Infinity
  const counts = pending
  pending = new Map()
  if (counts.size === 0) return
  const began = performance.now()
  try {
    await addTotals(env.DB, Object.fromEntries([...counts].map(([scope, { series }]) => [scope, series]))).run()
    const database = pending.get('database') ?? new Totals()
    // Written with the next counts; it alone causes no write.
    pending.set('database', database.observe('database_write_seconds', {}, (performance.now() - began) / 1000))
  } catch {
    // Kept for the next write; the number of series is bounded.
    for (const [scope, { series }] of counts) {
      const totals = pending.get(scope) ?? new Totals()
      totals.addAll(series)
      pending.set(scope, totals)
    }
  }
}
