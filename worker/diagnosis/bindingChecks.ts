// In charge of: checking that D1, R2, the queue and the Durable Objects accept, return and delete data. No data
// remains.
// Not in charge of: customers' stores.
import type { Check } from '#contract/api/diagnosis.ts'
import { webhookScheduler, jobMonitor } from '../scheduler/applyEvent.ts'
import { listAppliedMigrations, insertProbe, deleteProbe, lastSeenAt, CRON_RUN } from '../db/lastSeen.ts'
import { resumableUpload } from '../uploads/tus/resumableUpload.ts'
import { fault, ok, skipped } from '#contract/api/checkOutcome.ts'
import { runCheck } from './runCheck.ts'
import { REQUIRED_MIGRATIONS } from '#contract/api/requiredMigrations.ts'
import type { ProbeMessage } from '../scheduler/queueProbe.ts'

/** The diagnosis that created an older probe has ended. */
const PROBE_TTL_MS = 3600_000
const POLL_INTERVAL_MS = 100
/** Without a run for this long, the cron (every minute) is late. */
const CRON_LATE_MS = 3 * 60_000
const PROBE_ACCOUNT = 'diagnosis'

const MIGRATE = 'Apply them: npm run cloudflare -- d1 migrations apply DB --remote (local mode: npm start does it).'

export async function appliedMigrations(env: Env): Promise<string[]> {
  return listAppliedMigrations(env.DB).catch(() => [])
}

export function checkMigrations(applied: readonly string[]): Promise<Check> {
  return runCheck('migrations', MIGRATE, () => {
    const missing = REQUIRED_MIGRATIONS.filter((name) => !applied.includes(name))
    if (missing.length > 0) return fault(`Not applied: ${missing.join(', ')}.`, MIGRATE)
    const unknown = applied.filter((name) => !(REQUIRED_MIGRATIONS as readonly string[]).includes(name))
    return ok(
      `All ${REQUIRED_MIGRATIONS.length} are applied` +
        (unknown.length > 0 ? `, and of a newer version: ${unknown.join(', ')}.` : '.'),
    )
  })
}

/** Write, read, delete. */
export function checkDatabase(env: Env): Promise<Check> {
  const remedy =
    'Check [[d1_databases]] in wrangler.toml: binding DB, your own database_id (npm run cloudflare -- d1 list), and apply the migrations.'
  return runCheck('database', remedy, async () => {
    const now = Date.now()
    const probe = await insertProbe(env.DB, crypto.randomUUID(), now, now - PROBE_TTL_MS)
    const removed = await deleteProbe(env.DB, probe)
    return removed
      ? ok('D1 wrote, read and deleted a row.')
      : fault('A row that was written to D1 was missing.', remedy)
  })
}

export function checkBucket(env: Env): Promise<Check> {
  const remedy =
    'Check [[r2_buckets]] in wrangler.toml: binding BUCKET, a bucket of this account (npm run cloudflare -- r2 bucket list).'
  return runCheck('bucket', remedy, async () => {
    const key = `diagnosis/${crypto.randomUUID()}`
    const bytes = crypto.getRandomValues(new Uint8Array(64))
    try {
      await env.BUCKET.put(key, bytes)
      const back = new Uint8Array((await (await env.BUCKET.get(key))?.arrayBuffer()) ?? new ArrayBuffer(0))
      if (back.length !== bytes.length || back.some((byte, index) => byte !== bytes[index])) {
        return fault('R2 returned different bytes than were stored.', remedy)
      }
    } finally {
      await env.BUCKET.delete(key)
    }
    return (await env.BUCKET.head(key)) === null
      ? ok('R2 stored, returned and deleted an object.')
      : fault('R2 still returns an object that was deleted.', remedy)
  })
}

/** Sends a message to the queue and waits until the consumer has seen it. */
export function checkQueue(env: Env, timeoutMs: number): Promise<Check> {
  const remedy =
    'Check [[queues.producers]] and [[queues.consumers]] in wrangler.toml: both must name the same queue, and this Worker must be its consumer (npm run cloudflare -- queues info splicepoint-tasks). Otherwise no job starts.'
  return runCheck('queue', remedy, async () => {
    const now = Date.now()
    const probe = await insertProbe(env.DB, crypto.randomUUID(), now, now - PROBE_TTL_MS)
    try {
      await env.QUEUE.send({ probe } satisfies ProbeMessage)
      const until = now + timeoutMs
      let seen: number | null = null
      while (seen === null && Date.now() < until) {
        await scheduler.wait(POLL_INTERVAL_MS)
        seen = await lastSeenAt(env.DB, probe)
      }
      return seen === null
        ? fault(`A message was sent, but the consumer did not receive it within ${timeoutMs / 1000} s.`, remedy)
        : ok(`A message reached the consumer after ${seen - now} ms.`)
    } finally {
      // A message that arrives later finds no probe and has no effect.
      await deleteProbe(env.DB, probe)
    }
  })
}

export async function lastCronRun(env: Env): Promise<number | null> {
  return lastSeenAt(env.DB, CRON_RUN).catch(() => null)
}

export function checkCron(last: number | null): Promise<Check> {
  const remedy =
    'Check [triggers] crons in wrangler.toml: ["* * * * *"]. A trigger that was just deployed takes up to 15 minutes to begin; errors of a run are in the log (npm run cloudflare -- tail). Without the trigger, jobs do not recover from a lost queue message or a lost monitor.'
  return runCheck('cron', remedy, () => {
    if (last === null) return fault('The reconciler has never completed a run.', remedy)
    const age = Date.now() - last
    const text = `The last run of the reconciler ended ${Math.round(age / 1000)} s ago.`
    return age > CRON_LATE_MS ? fault(text, remedy) : ok(text)
  })
}

/** One call to each class, to an object that stores nothing. */
export function checkDurableObjects(env: Env): Promise<Check> {
  const remedy =
    'Check [[durable_objects.bindings]] in wrangler.toml: MONITOR, COURIER and UPLOAD, each with its class, and [[migrations]].'
  return runCheck('durable_objects', remedy, async () => {
    const asked = await Promise.allSettled([
      jobMonitor(env, PROBE_ACCOUNT).isCleanedUp(),
      webhookScheduler(env, PROBE_ACCOUNT).isIdle(),
      resumableUpload(env, 0).state(PROBE_ACCOUNT),
    ])
    const failed = ['MONITOR', 'COURIER', 'UPLOAD'].flatMap((name, index) => {
      const one = asked[index]
      return one?.status === 'rejected' ? [`${name} (${String(one.reason)})`] : []
    })
    return failed.length > 0
      ? fault(`No answer from ${failed.join(', ')}.`, remedy)
      : ok('MONITOR, COURIER and UPLOAD answer.')
  })
}

export function checkRateLimit(env: Env): Promise<Check> {
  return runCheck('rate_limit', '', () =>
    env.RATE_LIMIT
      ? ok('Cloudflare counts requests in front of the service as well.')
      : skipped('No [[ratelimits]] are bound: each instance of the Worker counts by itself.'),
  )
}
