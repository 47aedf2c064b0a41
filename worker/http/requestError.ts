// In charge of: turning every error into the API's single error format.
// Not in charge of: which codes exist (contract/errorCodes.ts).
import { log } from '../log.ts'
import { HTTPException } from 'hono/http-exception'
import { errorHelp } from '#contract/errorAdvice.ts'
import type { Problem } from '#contract/errors.ts'
import { requestErrorStatus, type RequestErrorCode } from '#contract/errorCodes.ts'

export interface RequestErrorOptions {
  field?: string
  details?: unknown
  headers?: Record<string, string>
}

/** An error answer, which can be thrown anywhere below a route. */
export class RequestError extends Error {
  override name = 'RequestError'
  readonly code: RequestErrorCode
  readonly options: RequestErrorOptions
  constructor(code: RequestErrorCode, message: string, options: RequestErrorOptions = {}) {
    super(message)
    this.code = code
    this.options = options
  }
}

/** The same answer for a missing object and for another account's (I16). */
export function notFound(): RequestError {
  return new RequestError('not_found', 'Not found for this account.')
}

/** For a transcoder whose attempt may not write any more. */
export function staleAttempt(): RequestError {
  return new RequestError('stale_attempt', 'Another attempt is current, or the job has ended: stop.')
}

/** For an upload token (RFC 6750, 3.1). Browsers open no dialog for it. */
export function invalidToken(message: string): RequestError {
  return new RequestError('unauthorized', message, {
    headers: { 'www-authenticate': 'Bearer realm="Splicepoint", error="invalid_token"' },
  })
}

export function expiredToken(): RequestError {
  return invalidToken('This upload token has expired, or it was revoked. Request a new one.')
}

/** @param allow methods in the format of the Allow header */
export function methodNotAllowed(allow: string): RequestError {
  return new RequestError('method_not_allowed', `This route accepts ${allow}.`, { headers: { allow } })
}

/** 400 with all problems; the message describes the first problem. */
export function validationFailed(problems: Problem[]): RequestError {
  const [first] = problems
  const more = problems.length - 1
  return new RequestError(
    'invalid_request',
    (first?.message ?? 'The job is not valid.') +
      (more > 0 ? ` (and ${more} more ${more === 1 ? 'problem' : 'problems'}, see details)` : ''),
    { ...(first ? { field: first.field } : {}), details: problems },
  )
}

const codeOfStatus: Readonly<Record<number, RequestErrorCode>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  404: 'not_found',
  413: 'too_large',
  415: 'unsupported_media_type',
}

export function errorResponse(error: RequestError): Response {
  const { field, details, headers } = error.options
  const body = {
    error: {
      code: error.code,
      message: error.message,
      ...(field === undefined ? {} : { field }),
      ...(details === undefined ? {} : { details }),
      ...errorHelp(error.code),
    },
  }
  return Response.json(body, { status: requestErrorStatus[error.code], headers: headers ?? {} })
}

/**
 * Transient failures of D1, R2 and Durable Objects. If the disk is full (local mode), D1 fails in every statement that
 * needs the disk, including reads: the runtime reports "internal error" and logs SQLITE_FULL. No programming error has
 * these messages.
 */
const UNAVAILABLE_MESSAGES =
  /overloaded|network connection lost|storage operation exceeded timeout|code was updated|internal error; reference =|we encountered an internal error|failed to get session commit token|SQLITE_(FULL|IOERR|BUSY|CANTOPEN|READONLY)/i

export function isTemporarilyUnavailable(error: unknown): boolean {
  return error instanceof Error && UNAVAILABLE_MESSAGES.test(error.message)
}

export function handleError(error: Error): Response {
  if (error instanceof RequestError) return errorResponse(error)
  if (error instanceof HTTPException) {
    return errorResponse(new RequestError(codeOfStatus[error.status] ?? 'invalid_request', error.message))
  }
  // A service that this one depends on is unavailable: the client may repeat the request.
  const passing = isTemporarilyUnavailable(error)
  log.error('request failed', { error: error.message })
  return passing
    ? errorResponse(
        new RequestError('unavailable', 'The service is busy. Try again in a moment.', {
          headers: { 'retry-after': '2' },
        }),
      )
    : errorResponse(new RequestError('internal', 'Something went wrong on our side.'))
}
