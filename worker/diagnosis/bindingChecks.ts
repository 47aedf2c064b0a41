// In charge of: checking that R2 and the queue accept, return and delete data, that the migrations are applied and that
// the cron runs. No data remains.
// Not in charge of: customers' stores.
import type { Check } from '#contract/api/diagnosis.ts'
import { listAppliedMigrations, insertProbe, deleteProbe, lastSeenAt, CRON_RUN } from '../db/lastSeen.ts'
import { fault, ok } from '#contract/api/checkOutcome.ts'
import { runCheck } from './runCheck.ts'
import { REQUIRED_MIGRATIONS } from '#contract/api/requiredMigrations.ts'
import type { ProbeMessage } from '../scheduler/queueProbe.ts'

/** The diagnosis that created an older probe has ended. */
const PROBE_TTL_MS = 3600_000
const POLL_INTERVAL_MS = 100
/** Without a run for this long, the cron (every minute) is late. */
const CRON_LATE_MS = 3 * 60_000

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
