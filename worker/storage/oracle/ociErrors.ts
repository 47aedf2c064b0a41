// In charge of: turning an error of Oracle's native API into a StoreError with a readable message. Of Oracle's answer
// only the code is kept: its message may repeat what was signed.
// Not in charge of: reading the answer (ociClient.ts).
import { StoreError, type StoreErrorCode } from '../objectStore.ts'
import { codeOfStatus, safeErrorCode, storeErrorMessages } from '../storeResponses.ts'

export interface OciErrorResponse {
  operation: string
  status: number
  /** Oracle's error code, as received. */
  code: string | null
  /** How far the store's clock is ahead of ours, in milliseconds. */
  clockAheadMs: number | null
  retryAfterMs: number | null
}

const codeOfOciError: Readonly<Record<string, StoreErrorCode>> = {
  ObjectNotFound: 'not_found',
  BucketNotFound: 'no_such_bucket',
  NamespaceNotFound: 'no_such_bucket',
  NoSuchUpload: 'no_such_upload',
  NotAuthorizedOrNotFound: 'forbidden',
  NotAuthorized: 'forbidden',
  NotAllowed: 'forbidden',
  InsufficientServicePermissions: 'forbidden',
  NotRestored: 'forbidden',
  NotAuthenticated: 'credentials_invalid',
  SignUpRequired: 'credentials_invalid',
  IfMatchFailed: 'source_changed',
  InvalidRange: 'range_not_satisfiable',
  QuotaExceeded: 'quota_exceeded',
  LimitExceeded: 'quota_exceeded',
  StorageLimitExceeded: 'quota_exceeded',
  RequestEntityTooLarge: 'too_large',
  TooManyRequests: 'unreachable',
  ConcurrentObjectUpdate: 'unreachable',
  IncorrectState: 'unreachable',
  RequestTimeout: 'unreachable',
}

const errorMessages: Partial<Record<StoreErrorCode, string>> = {
  ...storeErrorMessages,
  no_such_bucket: 'does not exist or is not visible to the given user',
  forbidden: 'does not allow this to the given user',
  credentials_invalid: 'does not accept the given private_key for tenancy_ocid, user_ocid and oci_fingerprint',
  quota_exceeded: 'has no space left for this tenancy',
}

/** Oracle, "Maximum Allowed Client Clock Skew". */
const MAX_SKEW_MS = 5 * 60_000
const uploadOperations = new Set(['uploadPart', 'completeUpload', 'abortUpload'])

/** `place`: `oci://namespace/bucket`. */
export function mapOciError(place: string, refusal: OciErrorResponse): StoreError {
  const { operation, status } = refusal
  const own = safeErrorCode(refusal.code)
  const code = ociErrorCode(refusal, own)
  const text = `${place} ${errorMessages[code] ?? 'rejects this request'} (${status}${own === null ? '' : ` ${own}`}).`
  return new StoreError(code, 'oracle', operation, text, status, {
    providerCode: own,
    retryAfterMs: refusal.retryAfterMs,
  })
}

function ociErrorCode({ operation, status, clockAheadMs }: OciErrorResponse, own: string | null): StoreErrorCode {
  const code = codeOfOciError[own ?? ''] ?? codeOfStatus[status] ?? (status >= 500 ? 'unreachable' : 'invalid')
  // Oracle answers a date that is too far off like a wrong key. The date of the answer tells the cases apart.
  if (code === 'credentials_invalid' && Math.abs(clockAheadMs ?? 0) > MAX_SKEW_MS) return 'clock_skew'
  return code === 'not_found' && uploadOperations.has(operation) ? 'no_such_upload' : code
}
