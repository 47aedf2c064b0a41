// In charge of: what stores' answers have in common: headers, statuses, sentences of errors, bodies of a wrong length.
// Not in charge of: the error codes of one provider (s3/s3Errors.ts, oracle/ociErrors.ts).
import { StoreError, type StoreErrorCode } from './objectStore.ts'

export const codeOfStatus: Readonly<Record<number, StoreErrorCode>> = {
  401: 'credentials_invalid',
  403: 'forbidden',
  404: 'not_found',
  408: 'unreachable',
  409: 'unreachable',
  412: 'source_changed',
  413: 'too_large',
  416: 'range_not_satisfiable',
  429: 'unreachable',
}

/**
 * Of the answer to one request. The longest are errors of S3, which repeat what was signed, with a key of 1024 bytes, as text
 * and as hexadecimal numbers; Amazon sends blanks while it completes an upload.
 */
export const MAX_ANSWER_BYTES = 32 * 1024

/** What the answer to a request for the deletion of `keys` may have besides: a refusal of each, with its key, escaped. */
export function refusalBytes(keys: readonly string[]): number {
  return keys.reduce((sum, key) => sum + 512 + 6 * new TextEncoder().encode(key).byteLength, 0)
}

/** They follow the name of a bucket. */
export const storeErrorMessages = {
  not_found: 'has no such object',
  no_such_upload: 'has no such upload: it was completed or aborted before',
  clock_skew: 'says that the clock of the service is wrong',
  source_changed: 'has replaced the object while it was being read',
  range_not_satisfiable: 'has fewer bytes than requested',
  too_large: 'says that the object is too large',
  invalid: 'rejects this request',
  unreachable: 'cannot process this request at the moment',
} as const

/** A hostile endpoint may send anything as its code, including what it received. Codes have only letters, keys do not. */
export function safeErrorCode(code: string | null): string | null {
  return code !== null && /^[A-Za-z]{3,48}$/.test(code) ? code : null
}

export function retryAfterMs({ headers }: Response): number | null {
  const header = headers.get('retry-after')?.trim() ?? ''
  return /^\d{1,6}$/.test(header) ? Number(header) * 1000 : null
}

/** Whether the runtime reports that a stream has more or fewer bytes than its FixedLengthStream. */
export function isLengthError(error: unknown): boolean {
  return error instanceof Error && error.message.includes('FixedLengthStream')
}

export function bodyLengthError(
  provider: string,
  operation: string,
  size: number,
  code: 'invalid' | 'body_broken' = 'invalid',
): StoreError {
  return new StoreError(code, provider, operation, `The body ended early or does not have the announced ${size} bytes.`)
}
