// In charge of: `POST /api/v0/diagnosis`: the service checks itself for an administrator. POST, because the checks
// write and delete data: caches and prefetching must not trigger them.
// Not in charge of: single checks (bindingChecks.ts, configurationChecks.ts, slotChecks.ts).
import { Hono } from 'hono'
import { authenticate } from '../http/authenticate.ts'
import type { AppEnv } from '../http/context.ts'
import type { Diagnosis } from '#contract/api/diagnosis.ts'
import { settings } from '../env.ts'
import { keyIds } from '../secrets/vault.ts'
import { checkEgress, checkSecrets, checkSettings, checkVault } from './configurationChecks.ts'
import { REQUIRED_MIGRATIONS } from '#contract/api/requiredMigrations.ts'
import { appliedMigrations, checkBucket, checkCron, checkMigrations, checkQueue, lastCronRun } from './bindingChecks.ts'
import { checkStarts, checkSlots } from './slotChecks.ts'

/** Far more than a queue with a running consumer needs. */
const QUEUE_TIMEOUT_MS = 15_000

async function diagnose(env: Env, origin: string, queueMs = QUEUE_TIMEOUT_MS): Promise<Diagnosis> {
  const configured = settings(env)
  const [applied, sweptAt, slots] = await Promise.all([
    appliedMigrations(env),
    lastCronRun(env),
    checkSlots(env, configured),
  ])
  const checks = await Promise.all([
    checkSettings(env, configured, origin),
    checkSecrets(env),
    checkVault(env),
    checkEgress(env, configured),
    checkMigrations(applied),
    checkBucket(env),
    checkQueue(env, queueMs),
    checkCron(sweptAt),
    checkStarts(env),
  ])
  return {
    at: new Date().toISOString(),
    checks: [...checks, slots.check],
    migrations: { expected: [...REQUIRED_MIGRATIONS], applied },
    vault: { key_ids: await keyIds(env).catch(() => []) },
    egress: { policy: configured.egress, allow_private_hosts: [...configured.allowPrivateHosts] },
    settings: {
      base_url: configured.baseUrl,
      max_slots: slots.capacity,
      lease_seconds: configured.leaseMs / 1000,
      max_active_jobs: configured.maxActiveJobs,
      max_stored_upload_bytes: configured.maxStoredUploadBytes,
      requests_per_minute: configured.requestsPerMinute,
      transcoders: configured.transcoders === 'listed' ? 'local' : configured.transcoders,
    },
    cron: { last_ended_at: sweptAt === null ? null : new Date(sweptAt).toISOString() },
    slots: slots.facts,
  }
}

export const diagnosisRoutes = new Hono<AppEnv>()
  .use(authenticate('admin'))
  .post('/', async (c) =>
    c.json(await diagnose(c.env, new URL(c.req.url).origin), 200, { 'cache-control': 'no-store' }),
  )
