// In charge of: the two kinds of errors (the service refused, or there was no answer), and which of them are transient.
// Not in charge of: the service's error codes (#contract/errorCodes.ts).
import type { RequestErrorCode } from '#contract/errorCodes.ts'

/** The service answered with an error. */
export class ServiceError extends Error {
  override name = 'ServiceError'
  /** HTTP status. */
  readonly status: number
  /** null if the answer does not come from the service (a proxy, another program). */
  readonly code: RequestErrorCode | null
  readonly field: string | null
  /** For a refused job: an array of its problems, each `{code, field, message, allowed?, minimum?, maximum?}`. */
  readonly details: unknown
  /** What to do about errors with this code. */
  readonly advice: string | null
  /** Address of the page that explains the code. */
  readonly docs: string | null

  constructor(status: number, text: string) {
    const told = parseErrorBody(text)
    super(told?.message ?? `The address answered HTTP ${status} without an error message. Is it a Splicepoint service?`)
    this.status = status
    this.code = (told?.code as RequestErrorCode | undefined) ?? null
    this.field = told?.field ?? null
    this.details = told?.details
    this.advice = told?.advice ?? null
    this.docs = told?.docs ?? null
  }
}

/** There was no answer, an incomplete one, or one whose content differs from what was announced. */
export class NetworkError extends Error {
  override name = 'NetworkError'
}

/** Whether a retry may help. */
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
  advice?: string
  docs?: string
}

function parseErrorBody(text: string): ErrorBody | null {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<ErrorBody> }
    return typeof error?.code === 'string' && typeof error.message === 'string' ? (error as ErrorBody) : null
  } catch {
    return null
  }
}
