// In charge of: whether an address may be told of a job's end, as far as it can be told without a look-up: the guard of
// every other address, asked when the address is given, since nobody waits for the answer of a delivery.
// Not in charge of: its form (contract/job.ts), what its name resolves to (each delivery asks again: webhooks.ts).
import type { Problem } from '#contract/errors.ts'
import { settings } from './env.ts'
import { AddressRefused, checkAddress } from './storage/address.ts'

/** @returns null for an address that may be called, and for none */
export function hookProblem(env: Env, address: unknown): Problem | null {
  if (typeof address !== 'string' || address === '') return null
  try {
    checkAddress(address, settings(env))
    return null
  } catch (error) {
    if (!(error instanceof AddressRefused)) throw error
    return { code: 'address_refused', field: 'webhook_url', message: `webhook_url is refused: ${error.message}` }
  }
}
