// In charge of: requesting the service's diagnosis with an admin key.
// Not in charge of: the diagnosis itself (worker/diagnosis/).
import type { Check } from '#contract/api/diagnosis.ts'
import { Client } from '../../client/nodeClient.ts'
import { ServiceError } from '../../client/clientErrors.ts'
import { errorText, fault, skipped } from './checkResult.ts'

const ADMIN = 'Set SPLICEPOINT_ADMIN_KEY to the ADMIN_KEY of the service, or to a key with the scope admin.'

/** @param keys the key for jobs is tried if there is no other one: it may have both scopes */
export async function checkService(
  address: string,
  { admin, jobs }: { admin: string | null; jobs: string | null },
  signal: AbortSignal,
): Promise<Check[]> {
  try {
    return (await new Client(address, admin ?? jobs ?? '', signal).diagnose()).checks
  } catch (error) {
    signal.throwIfAborted()
    const isRefused = error instanceof ServiceError && [401, 403].includes(error.status)
    if (isRefused && admin === null)
      return [skipped('admin_key', `None was given, so the service was not asked for its diagnosis. ${ADMIN}`)]
    if (isRefused) return [fault('admin_key', errorText(error), ADMIN)]
    return [fault('diagnosis', errorText(error), 'See the log of the Worker: npm run cloudflare -- tail.')]
  }
}
