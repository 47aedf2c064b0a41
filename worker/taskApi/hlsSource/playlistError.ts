// In charge of: the error for a refused playlist, with the code that the job ends with.
import type { JobErrorCode } from '#contract/errorCodes.ts'

export class PlaylistError extends Error {
  override name = 'PlaylistRefused'
  readonly code: JobErrorCode
  constructor(code: 'source_unsupported' | 'source_damaged' | 'source_too_large' | 'source_changed', message: string) {
    super(message)
    this.code = code
  }
}
