// In charge of: collecting the problems and warnings of one request.
// Not in charge of: the rules.
import type { Problem, Warning } from '../errors.ts'
import type { WarningCode } from '../warningCodes.ts'

/** Codes of `Problem.code`. The list is closed, so that clients can branch on them. */
export type ProblemCode =
  | 'required'
  | 'invalid_type'
  | 'invalid_value'
  | 'invalid_length'
  | 'out_of_range'
  | 'too_deep'
  | 'conflict'
  | 'not_available'
  | 'unsupported_combination'
  | 'invalid_input_address'
  | 'invalid_output_path'
  | 'output_path_conflict'
  | 'user_info_in_address'
  | 'address_refused'
  | 'upload_not_found'
  | 'preset_not_found'
  | 'video_bitrate_too_low'
  | 'video_bitrate_too_high'
  | 'audio_bitrate_not_allowed'

export interface Bounds {
  allowed?: readonly (string | number | boolean)[]
  minimum?: number
  maximum?: number
}

export class Findings {
  readonly problems: Problem[] = []
  readonly warnings: Warning[] = []

  problem(code: ProblemCode, field: string, message: string, bounds: Bounds = {}): void {
    this.problems.push({ code, field, message, ...bounds })
  }

  warn(code: WarningCode, field: string, message: string): void {
    this.warnings.push({ code, field, message })
  }
}

/** Both lists in order, without duplicates. */
export function mergeWarnings(first: readonly Warning[], second: readonly Warning[]): Warning[] {
  const seen = new Set<string>()
  return [...first, ...second].filter((warning) => {
    const key = JSON.stringify([warning.code, warning.field ?? null, warning.message])
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
