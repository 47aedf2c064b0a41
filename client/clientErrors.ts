// In charge of: the two ways in which a call can fail: the service refused it, or there was no answer; and which of them may pass.
// Not in charge of: which codes the service has (#contract/errors.ts).
import type { RequestErrorCode } from '#contract/errorCodes.ts'

/** The service answered, and not with success. */
export class ServiceError extends Error {
  override name = 'ServiceError'
  /** HTTP status. */
  readonly status: number
  /** null when what answered is not the service (a proxy, another program). */
  readonly code: RequestErrorCode | null
  readonly field: string | null
  /** Of a refused job: an array of its problems, each `{code, field, message, allowed?, minimum?, maximum?}`. */
  readonly details: unknown

  constructor(status: number, text: string) {
    const told = parseErrorBody(text)
    super(told?.message ?? `The address answered HTTP ${status} without a reason. Is it a Splicepoint service?`)
    this.status = status
    this.code = (told?.code as RequestErrorCode | undefined) ?? null
    this.field = told?.field ?? null
    this.details = told?.details
  }
}

/** No answer, a broken one, or bytes that are not the announced ones. */
export class NetworkError extends Error {
  override name = 'NetworkError'
}

/** Whether asking again may help. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof NetworkError ||
    (error instanceof ServiceError && (error.status >= 500 || error.code === 'rate_limited'))
  )
}

interface ErrorBody {
  code: string
  message: string
  field?: string
  details?: unknown
}

function parseErrorBody(text: string): ErrorBody | null {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<ErrorBody> }
    return typeof error?.code === 'string' && typeof error.message === 'string' ? (error as ErrorBody) : null
  } catch {
    return null
  }
}
