// In charge of: the results of the command's checks, in the same form as the service's own (POST /api/v0/diagnosis).
// Not in charge of: printing them (doctorCommand.ts).
import * as outcome from '#contract/api/checkOutcome.ts'
import type { Check } from '#contract/api/diagnosis.ts'
import { NetworkError, ServiceError } from '../../client/clientErrors.ts'

export const ok = (name: string, message: string, milliseconds?: number): Check =>
  outcome.checkOf(name, outcome.ok(message), milliseconds)
export const skipped = (name: string, message: string): Check => outcome.checkOf(name, outcome.skipped(message))
export const warning = (name: string, message: string, remedy: string, milliseconds?: number): Check =>
  outcome.checkOf(name, outcome.warning(message, remedy), milliseconds)
export const fault = (name: string, message: string, remedy: string, milliseconds?: number): Check =>
  outcome.checkOf(name, outcome.fault(message, remedy), milliseconds)

/** The message of any thrown value, with the service's error code if there is one. */
export function errorText(error: unknown): string {
  if (error instanceof ServiceError) return `${error.message} (${error.code ?? error.status})`
  return error instanceof Error ? error.message : String(error)
}

/** Runs one check. An error becomes a failed check of that name; an interruption is rethrown. */
export async function runCheck(
  name: string,
  remedy: string,
  find: () => Promise<Check> | Check,
  signal?: AbortSignal,
): Promise<Check> {
  const from = performance.now()
  try {
    return await find()
  } catch (error) {
    if (signal?.aborted) throw error
    const isKnown = error instanceof ServiceError || error instanceof NetworkError
    return fault(name, isKnown ? errorText(error) : `It failed: ${errorText(error)}`, remedy, performance.now() - from)
  }
}
