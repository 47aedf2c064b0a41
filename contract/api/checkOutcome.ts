// In charge of: the outcomes of a check, for the diagnosis of the service and for `splicepoint doctor`.
// Not in charge of: its name and duration, and what an exception means (worker/diagnosis/runCheck.ts, cli/doctor/checkResult.ts).
import type { Check } from './diagnosis.ts'

export type CheckOutcome = Pick<Check, 'verdict' | 'message'> & { remedy?: string }

export const ok = (message: string): CheckOutcome => ({ verdict: 'ok', message })
export const warning = (message: string, remedy: string): CheckOutcome => ({ verdict: 'warning', message, remedy })
export const fault = (message: string, remedy: string): CheckOutcome => ({ verdict: 'fault', message, remedy })
export const skipped = (message: string): CheckOutcome => ({ verdict: 'skipped', message })

export function checkOf(name: string, outcome: CheckOutcome, milliseconds: number | null = null): Check {
  const { verdict, message, remedy = null } = outcome
  return { name, verdict, message, remedy, milliseconds: milliseconds === null ? null : Math.round(milliseconds) }
}
