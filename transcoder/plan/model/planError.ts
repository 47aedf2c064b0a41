// In charge of: the one error that planning throws.
// Not in charge of: how it reaches a client (transcoder/errors.ts turns it into a task error).
import type { JobErrorCode } from '#contract/errorCodes.ts'

/** The job and its source do not fit each other. Another attempt would meet the same problem. */
export class PlanError extends Error {
  override name = 'PlanError'
  readonly code: JobErrorCode
  /** Path in the request body, for example `videoProfiles[0].video_bitrate`. */
  readonly field: string | undefined
  readonly details: Record<string, unknown> | undefined

  constructor(
    code: JobErrorCode,
    message: string,
    options: { field?: string; details?: Record<string, unknown> } = {},
  ) {
    super(message)
    this.code = code
    this.field = options.field
    this.details = options.details
  }
}
