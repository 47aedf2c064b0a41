// In charge of: running one check of the service: its result, its duration, and a fault for any exception.
// Not in charge of: what is checked.
import { checkOf, fault, type CheckOutcome } from '#contract/api/checkOutcome.ts'
import type { Check } from '#contract/api/diagnosis.ts'

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
  return checkOf(name, found, Date.now() - from)
}
