// In charge of: everything that a running service can find out about itself, put together for an administrator.
// Not in charge of: each look (the other files here), what only a client can see (cli/doctor/).
import type { Diagnosis } from '#contract/api/diagnosis.ts'
import { settings } from '../env.ts'
import { ringIds } from '../secrets/vault.ts'
import { checkEgress, checkSecrets, checkSettings, checkVault } from './configurationChecks.ts'
import { MIGRATIONS } from '#contract/api/requiredMigrations.ts'
import {
  appliedMigrations,
  checkBucket,
  checkCron,
  checkDatabase,
  checkMigrations,
  checkObjects,
  checkQueue,
  checkRateLimit,
  lastSweep,
} from './bindingChecks.ts'
import { checkStarts, lookAtSlots } from './slotChecks.ts'

/** Far more than a queue takes whose consumer is awake. */
const QUEUE_PATIENCE_MS = 15_000

export async function diagnose(env: Env, origin: string, queueMs = QUEUE_PATIENCE_MS): Promise<Diagnosis> {
  const configured = settings(env)
  const [applied, sweptAt, slots] = await Promise.all([
    appliedMigrations(env),
    lastSweep(env),
    lookAtSlots(env, configured),
  ])
  const checks = await Promise.all([
    checkSettings(env, configured, origin),
    checkSecrets(env),
    checkVault(env),
    checkEgress(env, configured),
    checkMigrations(applied),
    checkDatabase(env),
    checkBucket(env),
    checkQueue(env, queueMs),
    checkCron(sweptAt),
    checkObjects(env),
    checkRateLimit(env),
    checkStarts(env),
  ])
  return {
    at: new Date().toISOString(),
    checks: [...checks, slots.check],
    migrations: { expected: [...MIGRATIONS], applied },
    vault: { key_ids: await ringIds(env).catch(() => []) },
    egress: { policy: configured.egress, allow_private_hosts: [...configured.allowPrivateHosts] },
    settings: {
      base_url: configured.baseUrl,
      max_slots: configured.maxSlots,
      lease_seconds: configured.leaseMs / 1000,
      max_active_jobs: configured.maxActiveJobs,
      max_stored_upload_bytes: configured.maxStoredUploadBytes,
      requests_per_minute: configured.requestsPerMinute,
      transcoders: configured.transcoderUrls.length > 0 ? 'local' : 'containers',
    },
    cron: { last_ended_at: sweptAt === null ? null : new Date(sweptAt).toISOString() },
    slots: slots.facts,
  }
}
