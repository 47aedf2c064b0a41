// In charge of: the error for a format that this ffmpeg cannot write.
import { TaskError } from '#contract/taskError.ts'

export function unavailable(field: string, format: string, allowed: readonly string[]): TaskError {
  return new TaskError(
    'unsupported_combination',
    `The ffmpeg of this service cannot write ${format}; use ${allowed.join(' or ')}.`,
    { field, details: { allowed: [...allowed] } },
  )
}
