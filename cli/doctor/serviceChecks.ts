// In charge of: requesting the service's diagnosis with an admin key, repeating it if the cron has not run yet, and
// checking whether idle containers stop.
// Not in charge of: the diagnosis itself (worker/diagnosis/).
import { setTimeout as pause } from 'node:timers/promises'
import type { Check, Diagnosis } from '#contract/api/diagnosis.ts'
import type { Client } from '../../client/nodeClient.ts'
import { ServiceError } from '../../client/clientErrors.ts'
import { fault, ok, skipped, warning } from './checkResult.ts'

/** The cron runs every minute; plus a margin. */
const CRON_MS = 75_000
/** Longer than the lifetime of an idle container. */
const IDLE_MS = 90_000

export interface ServiceReport {
  checks: Check[]
  diagnosis: Diagnosis | null
}

export async function diagnoseService(admin: Client): Promise<ServiceReport> {
  try {
    const diagnosis = await admin.diagnose()
    return { checks: diagnosis.checks, diagnosis }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 404) throw error
    const remedy = 'Deploy a newer version, or use the command of its version.'
    return {
      checks: [warning('diagnosis', 'This version of the service has no diagnosis.', remedy)],
      diagnosis: null,
    }
  }
}

/** The cron of a new deployment may not have run yet. Repeats the diagnosis when it must have. */
export async function recheckCron(
  admin: Client,
  { checks }: ServiceReport,
  since: number,
  signal: AbortSignal,
): Promise<void> {
  const at = checks.findIndex(({ name, verdict }) => name === 'cron' && verdict === 'fault')
  if (at < 0) return
  await pause(Math.max(0, since + CRON_MS - Date.now()), null, { signal })
  const again = (await admin.diagnose()).checks.find(({ name }) => name === 'cron')
  if (again) checks[at] = again
}

/** Transcoders that are stopping or draining, as visible from outside. */
export function checkIdleContainers({ slots }: Diagnosis): Check {
  const stopping = slots.filter(({ transcoder }) => transcoder !== null && /stopping|draining/.test(transcoder.state))
  return stopping.length > 0
    ? warning(
        'drain',
        `${stopping.length} transcoders finish their task and accept no new one.`,
        'A rollout or the restart of a host is in progress. Run this again afterwards.',
      )
    : ok('drain', 'No transcoder is being stopped.')
}

export async function waitForIdleContainers(
  admin: Client,
  note: (text: string) => void,
  signal: AbortSignal,
): Promise<Check> {
  note(`waiting ${IDLE_MS / 1000} s for idle containers to end …`)
  await pause(IDLE_MS, null, { signal })
  const { slots, settings } = await admin.diagnose()
  if (settings.transcoders !== 'containers')
    return skipped('idle', 'The service uses your own transcoders, which keep running.')
  const idle = slots.filter(({ running, busy }) => running === true && !busy)
  return idle.length > 0
    ? fault(
        'idle',
        `${idle.length} containers still run without a job, and cost money.`,
        'See the log of the Worker; npm run cloudflare -- containers list.',
      )
    : ok('idle', 'Containers without a job have ended.')
}
