// In charge of: running one look at the service: its verdict, how long it took, and a fault for whatever it throws.
// Not in charge of: what is looked at.
import type { Check } from '#contract/api/diagnosis.ts'

export type CheckOutcome = Pick<Check, 'verdict' | 'message'> & { remedy?: string }

export const ok = (message: string): CheckOutcome => ({ verdict: 'ok', message })
export const warning = (message: string, remedy: string): CheckOutcome => ({ verdict: 'warning', message, remedy })
export const fault = (message: string, remedy: string): CheckOutcome => ({ verdict: 'fault', message, remedy })
export const skipped = (message: string): CheckOutcome => ({ verdict: 'skipped', message })

/** @param remedy for what `look` throws: then the part does not work at all */
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
