// In charge of: which address is told of a job's end: the one that the job names, else its key's; and whether it may be, as
// far as that can be told without a look-up: the guard of every other address, asked when the address is given, since nobody
// waits for the answer of a delivery.
// Not in charge of: its form in a job (contract/job/validateJob.ts), what its name resolves to (each delivery asks again: webhookDelivery.ts).
import { parseHttp } from '#contract/job/stores/http.ts'
import type { JobConfig, JobSecrets } from '#contract/job/jobConfig.ts'
import type { Problem, Warning } from '#contract/errors.ts'
import { isRedacted, redactAddress, SEND_UNREDACTED } from '#contract/job/redact.ts'
import { settings } from '../env.ts'
import { AddressRefusedError, requireAllowedAddress } from '../storage/addressPolicy.ts'
import { newestKeyId, unseal, seal } from '../secrets/vault.ts'

/** The address that an admin gave to a key. */
export interface KeyWebhook {
  keyId: string
  /** Without its query. */
  shown: string
  /** The whole, where it has a query. */
  sealed: string | null
}

const FIELD = 'webhook_url'

/** @returns null for an address that may be called, and for none */
export function webhookProblem(env: Env, address: unknown): Problem | null {
  if (typeof address !== 'string' || address === '') return null
  try {
    requireAllowedAddress(address, settings(env))
    return null
  } catch (error) {
    if (!(error instanceof AddressRefusedError)) throw error
    return { code: 'address_refused', field: FIELD, message: `webhook_url is refused: ${error.message}` }
  }
}

/** What is wrong with an address that is to be a key's. */
export function keyWebhookProblem(env: Env, address: string | null): Problem | null {
  if (address === null) return null
  const parsed = parseHttp(address)
  if (parsed.kind === 'invalid') return { code: parsed.code, field: FIELD, message: `webhook_url: ${parsed.message}` }
  if (isRedacted(address)) {
    return { code: 'invalid_value', field: FIELD, message: `webhook_url ${SEND_UNREDACTED}, or leave it out` }
  }
  return webhookProblem(env, address)
}

/** As a key's row keeps it: a query may be a secret, so it is sealed for this key alone. */
export async function sealKeyWebhook(env: Env, account: string, keyId: string, address: string | null) {
  const shown = address === null ? null : redactAddress(address)
  const sealed = address === null || shown === address ? null : await seal(env, account, keyId, FIELD, address)
  return { webhook_url: shown, webhook_sealed: sealed }
}

/**
 * @returns the whole address of a key; null where it is lost: what sealed it has left VAULT_KEYS
 * @throws Error when VAULT_KEYS itself is missing or malformed: that can be mended, so nothing is lost
 */
export async function openKeyWebhook(
  env: Env,
  account: string,
  { keyId, shown, sealed }: KeyWebhook,
): Promise<string | null> {
  if (sealed === null) return shown
  await newestKeyId(env)
  return unseal<string>(env, account, keyId, FIELD, sealed).catch(() => null)
}

/** @param consequence the middle of a sentence */
export function webhookUnreadable(consequence: string): Warning {
  const message = `The webhook_url of this API key can no longer be read, so ${consequence}. An administrator can set it again (PATCH /api/v0/keys/<id>).`
  return { code: 'webhook_left_out', field: FIELD, message }
}

/**
 * A job that says nothing of a webhook, or null, has its key's; an empty string means that no webhook is sent. An address that
 * is lost keeps no job from being made.
 */
export async function withKeyWebhook<Job extends { config: JobConfig; secrets: JobSecrets; warnings: Warning[] }>(
  env: Env,
  account: string,
  keyWebhook: KeyWebhook | null,
  job: Job,
): Promise<Job & { hookOfKey: boolean }> {
  const own = job.config.webhook_url ?? undefined
  if (keyWebhook === null || own !== undefined) return { ...job, hookOfKey: false }
  const address = await openKeyWebhook(env, account, keyWebhook)
  if (address === null) {
    const warnings = [...job.warnings, webhookUnreadable('no webhook will be sent for this job')]
    return { ...job, warnings, hookOfKey: false }
  }
  const addresses = { ...job.secrets.addresses, ...(keyWebhook.sealed === null ? {} : { webhook_url: address }) }
  const config = { ...job.config, webhook_url: keyWebhook.shown }
  return { ...job, config, secrets: { ...job.secrets, addresses }, hookOfKey: true }
}
