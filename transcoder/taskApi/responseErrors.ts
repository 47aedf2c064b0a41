// In charge of: the meaning of an error response of the task API: the attempt is stale, a retry may help, or the job
// fails.
// Not in charge of: retrying (retry.ts), the requests (taskClient.ts).
import { isJobErrorCode, isConnectionError, jobErrorPolicies, type JobErrorCode } from '#contract/errorCodes.ts'
import { TaskError } from '#contract/taskError.ts'
import { StaleAttempt } from '../errors.ts'
import { TransientError } from './retry.ts'

const MAX_RETRY_AFTER_MS = 60_000

export function toTransient(error: unknown, code: JobErrorCode, message: string): Error {
  if (error instanceof TransientError || error instanceof TaskError || error instanceof StaleAttempt) return error
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TransientError(new TaskError(code, `${message}: ${why}.`, { cause: error }))
}

export async function readAnswer<T>(response: Response, fallback: JobErrorCode): Promise<T> {
  if (response.ok) return (await response.json()) as T
  throw await responseError(response, fallback)
}

/** Converts an error response: the attempt is stale, a retry may help, or the job fails. Reads the body. */
export async function responseError(response: Response, fallback: JobErrorCode): Promise<Error> {
  const answer = await readErrorBody(response)
  // 401: the token of an attempt becomes invalid with the end of its job. Every 409 except a plain conflict means that
  // this attempt, or its job, has ended.
  if (response.status === 401 || (response.status === 409 && answer.code !== 'conflict'))
    return new StaleAttempt(`The task API rejected this attempt: ${answer.code || response.status}.`)
  const known = isJobErrorCode(answer.code) ? answer.code : null
  const after = retryAfterMs(response.headers.get('retry-after'))
  // The queue observes this delay too, if the task waits there.
  const details = after === null ? answer.details : { ...answer.details, retry_after: Math.ceil(after / 1000) }
  const options = { field: answer.field, details }
  // 413 is the task API's own limit for an output: another attempt would write as much.
  const tooLarge = response.status === 413 && fallback === 'output_unreachable'
  // An error that the service explains, but not with a job error, would be the same for every attempt.
  const isVerdict = answer.code !== '' && !isRetryable(response.status) && response.status !== 409
  const error = new TaskError(
    known ?? (tooLarge ? 'output_too_large' : isVerdict ? 'task_refused' : fallback),
    answer.message || `The service answered ${response.status}.`,
    options,
  )
  const mayPass = isRetryable(response.status)
  // A permanent code is final, with any status, except a connection error, which must last for some time first.
  if (!mayPass || (known !== null && jobErrorPolicies[known].permanent && !isConnectionError(known))) return error
  return new TransientError(error, after, known !== null && known !== 'internal')
}

function isRetryable(status: number): boolean {
  return status >= 500 || status === 429 || status === 408
}

interface ErrorBody {
  code: string
  message: string
  field: string | undefined
  details: Record<string, unknown> | undefined
}

async function readErrorBody(response: Response): Promise<ErrorBody> {
  const body = (await response.json().catch(() => null)) as { error?: Record<string, unknown> } | null
  const error = body?.error ?? {}
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  return {
    code: text(error['code']),
    message: text(error['message']),
    field: text(error['field']) || undefined,
    details:
      typeof error['details'] === 'object' && error['details'] !== null
        ? (error['details'] as Record<string, unknown>)
        : undefined,
  }
}

/** Seconds or an HTTP date; at most a minute is accepted. */
export function retryAfterMs(header: string | null, now = Date.now()): number | null {
  if (header === null) return null
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS) : null
}
