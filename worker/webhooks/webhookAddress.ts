// In charge of: the address that is notified of a job's end: the job's own, else its API key's. The SSRF check runs
// when the address is set, because at the time of a delivery no client would see the error.
// Not in charge of: its format in a job (contract/job/validateJob.ts), DNS (each delivery checks again:
// webhookDelivery.ts).
import type { KeyWebhook } from '../db/apiKeys.ts'
import { parseHttp } from '#contract/job/stores/http.ts'
import type { JobConfig, JobSecrets } from '#contract/job/jobConfig.ts'
import type { Problem, Warning } from '#contract/errors.ts'
import { isRedacted, redactAddress, SEND_UNREDACTED } from '#contract/job/redact.ts'
import { settings } from '../env.ts'
import { addressProblem } from '../storage/addressPolicy.ts'
import { newestKeyId, unseal, seal } from '../secrets/vault.ts'

const FIELD = 'webhook_url'

/** What is wrong with an address for an API key, or in another field of an administrator. */
export function administratorWebhookProblem(env: Env, address: string | null, field = FIELD): Problem | null {
  if (address === null) return null
  const parsed = parseHttp(address)
  if (parsed.kind === 'invalid') return { code: parsed.code, field, message: `${field}: ${parsed.message}` }
  if (isRedacted(address)) {
    return { code: 'invalid_value', field, message: `${field} ${SEND_UNREDACTED}, or leave it out` }
  }
  return addressProblem(address, settings(env), field)
}

/** The columns of a key's row. A query may contain a secret, so the full address is sealed for this key only. */
export async function sealKeyWebhook(env: Env, account: string, keyId: string, address: string | null) {
  const redacted = address === null ? null : redactAddress(address)
  const sealed = address === null || redacted === address ? null : await seal(env, account, keyId, FIELD, address)
  return { webhook_url: redacted, webhook_sealed: sealed }
}

/**
 * @returns the full address of a key; null if it is lost because the key that sealed it was removed from VAULT_KEYS
 * @throws Error if VAULT_KEYS is missing or malformed: that can be corrected, so the address is not lost
 */
export async function openKeyWebhook(
  env: Env,
  account: string,
  { keyId, redacted, sealed }: KeyWebhook,
): Promise<string | null> {
  if (sealed === null) return redacted
  await newestKeyId(env)
  return unseal<string>(env, account, keyId, FIELD, sealed).catch(() => null)
}

/** @param consequence the second half of a sentence */
export function webhookUnreadable(consequence: string): Warning {
  const message = `The webhook_url of this API key can no longer be read, so ${consequence}. An administrator can set it again (PATCH /api/v0/keys/<id>).`
  return { code: 'webhook_left_out', field: FIELD, message }
}

/**
 * A job whose webhook_url is missing or null gets the address of its API key; an empty string means no webhook. If the key's
 * address is lost, the job is still created.
 */
export async function withKeyWebhook<Job extends { config: JobConfig; secrets: JobSecrets; warnings: Warning[] }>(
  env: Env,
  account: string,
  keyWebhook: KeyWebhook | null,
  job: Job,
): Promise<Job & { usesKeyWebhook: boolean }> {
  const own = job.config.webhook_url ?? undefined
  if (keyWebhook === null || own !== undefined) return { ...job, usesKeyWebhook: false }
  const address = await openKeyWebhook(env, account, keyWebhook)
  if (address === null) {
    const warnings = [...job.warnings, webhookUnreadable('no webhook will be sent for this job')]
    return { ...job, warnings, usesKeyWebhook: false }
  }
  const addresses = { ...job.secrets.addresses, ...(keyWebhook.sealed === null ? {} : { webhook_url: address }) }
  const config = { ...job.config, webhook_url: keyWebhook.redacted }
  return { ...job, config, secrets: { ...job.secrets, addresses }, usesKeyWebhook: true }
}
