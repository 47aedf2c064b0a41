// In charge of: the error that ends a task: a stable code, a sentence, and the parameter that caused it.
// Not in charge of: the codes (errorCodes.ts), redacting it before it leaves the process (transcoder/errors.ts).
import { jobErrorPolicies, type JobErrorCode } from './errorCodes.ts'

/** It becomes `status.error`. */
export class TaskError extends Error {
  override name = 'TaskError'
  readonly code: JobErrorCode
  /** Path in the request body, for example `videoProfiles[0].video_bitrate`. */
  readonly field: string | undefined
  readonly details: Record<string, unknown> | undefined

  constructor(
    code: JobErrorCode,
    message: string,
    options: { field?: string | undefined; details?: Record<string, unknown> | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.field = options.field
    this.details = options.details
  }

  /** True when another attempt would fail in the same way. */
  get permanent(): boolean {
    return jobErrorPolicies[this.code].permanent
  }
}
