// In charge of: the results of the command's checks, in the same form as the service's own (POST /api/v0/diagnosis).
// Not in charge of: printing them (doctorReport.ts).
import type { Check, CheckStatus } from '#contract/api/diagnosis.ts'
import { NetworkError, ServiceError } from '../../client/clientErrors.ts'

export type CheckList = Check[]

const makeCheck = (
  name: string,
  verdict: CheckStatus,
  message: string,
  remedy: string | null,
  milliseconds?: number,
): Check => ({
  name,
  verdict,
  message,
  remedy,
  milliseconds: milliseconds === undefined ? null : Math.round(milliseconds),
})

export const ok = (name: string, message: string, milliseconds?: number): Check =>
  makeCheck(name, 'ok', message, null, milliseconds)
export const skipped = (name: string, message: string): Check => makeCheck(name, 'skipped', message, null)
export const warning = (name: string, message: string, remedy: string, milliseconds?: number): Check =>
  makeCheck(name, 'warning', message, remedy, milliseconds)
export const fault = (name: string, message: string, remedy: string, milliseconds?: number): Check =>
  makeCheck(name, 'fault', message, remedy, milliseconds)

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
