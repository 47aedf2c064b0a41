// In charge of: running one check of the service: its result, its duration, and a fault for any exception.
// Not in charge of: what is checked.
import type { Check } from '#contract/api/diagnosis.ts'

export type CheckOutcome = Pick<Check, 'verdict' | 'message'> & { remedy?: string }

export const ok = (message: string): CheckOutcome => ({ verdict: 'ok', message })
export const warning = (message: string, remedy: string): CheckOutcome => ({ verdict: 'warning', message, remedy })
export const fault = (message: string, remedy: string): CheckOutcome => ({ verdict: 'fault', message, remedy })
export const skipped = (message: string): CheckOutcome => ({ verdict: 'skipped', message })

/** @param remedy for exceptions from `probe`: then the component does not work at all */
export async function runCheck(
  name: string,
  remedy: string,
  probe: () => Promise<CheckOutcome> | CheckOutcome,
): Promise<Check> {
  const from = Date.now()
  const found = await Promise.resolve()
    .then(probe)
    .catch((error: unknown) => fault(`It failed: ${error instanceof Error ? error.message : String(error)}`, remedy))
  const { verdict, message } = found
  return { name, verdict, message, remedy: found.remedy ?? null, milliseconds: Date.now() - from }
}
