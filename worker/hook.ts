// In charge of: which address is told of a job's end: the one that the job names, else its key's; and whether it may be, as
// far as that can be told without a look-up: the guard of every other address, asked when the address is given, since nobody
// waits for the answer of a delivery.
// Not in charge of: its form in a job (contract/job.ts), what its name resolves to (each delivery asks again: webhooks.ts).
import { parseHttp } from '#contract/addresses.ts'
import type { Problem } from '#contract/errors.ts'
import type { JobConfig, JobSecrets } from '#contract/job.ts'
import { redactAddress } from '#contract/redact.ts'
import { settings } from './env.ts'
import { AddressRefused, checkAddress } from './storage/address.ts'
import { open, seal } from './vault.ts'

/** The address that an admin gave to a key. */
export interface KeyHook {
  keyId: string
  /** Without its query. */
  shown: string
  /** The whole, where it has a query. */
  sealed: string | null
}

const FIELD = 'webhook_url'

/** @returns null for an address that may be called, and for none */
export function hookProblem(env: Env, address: unknown): Problem | null {
  if (typeof address !== 'string' || address === '') return null
  try {
    checkAddress(address, settings(env))
    return null
  } catch (error) {
    if (!(error instanceof AddressRefused)) throw error
    return { code: 'address_refused', field: FIELD, message: `webhook_url is refused: ${error.message}` }
  }
}

/** What is wrong with an address that is to be a key's. */
export function keyHookProblem(env: Env, address: string | null): Problem | null {
  if (address === null) return null
  const parsed = parseHttp(address)
  if (parsed.kind === 'invalid') return { code: parsed.code, field: FIELD, message: `webhook_url: ${parsed.message}` }
  return hookProblem(env, address)
}

/** As a key's row keeps it: a query may be a secret, so it is sealed for this key alone. */
export async function keepHook(env: Env, account: string, keyId: string, address: string | null) {
  const shown = address === null ? null : redactAddress(address)
  const sealed = address === null || shown === address ? null : await seal(env, account, keyId, FIELD, address)
  return { webhook_url: shown, webhook_sealed: sealed }
}

/** The whole address of a key. */
export async function hookOf(env: Env, account: string, { keyId, shown, sealed }: KeyHook): Promise<string> {
  return sealed === null ? shown : open<string>(env, account, keyId, FIELD, sealed)
}

/** A job that says nothing of a webhook has its key's; null and an empty text say that nobody is told. */
export async function withHook<Job extends { config: JobConfig; secrets: JobSecrets }>(
  env: Env,
  account: string,
  hook: KeyHook | null,
  job: Job,
): Promise<Job> {
  if (hook === null || job.config.webhook_url !== undefined) return job
  const address = await hookOf(env, account, hook)
  const addresses = { ...job.secrets.addresses, ...(hook.sealed === null ? {} : { webhook_url: address }) }
  return { ...job, config: { ...job.config, webhook_url: hook.shown }, secrets: { ...job.secrets, addresses } }
}
