// In charge of: turning an error of an S3-compatible store into a StoreError with a readable message. Of the store's
// answer only the code is kept: its message may repeat what was signed.
// Not in charge of: reading the answer (s3Client.ts), the job error that follows (jobErrorMapping.ts).
import { StoreError, type StoreErrorCode } from '../objectStore.ts'
import { codeOfStatus, safeErrorCode, storeErrorMessages } from '../storeResponses.ts'

/** Error codes of S3, R2, GCS, Swift, Ceph and MinIO. */
const codeOfS3Error: Readonly<Record<string, StoreErrorCode>> = {
  NoSuchKey: 'not_found',
  NoSuchVersion: 'not_found',
  NotFound: 'not_found',
  NoSuchBucket: 'no_such_bucket',
  InvalidBucketName: 'no_such_bucket',
  NoSuchUpload: 'no_such_upload',
  AccessDenied: 'forbidden',
  AllAccessDisabled: 'forbidden',
  AccountProblem: 'forbidden',
  MethodNotAllowed: 'forbidden',
  InvalidObjectState: 'forbidden',
  InvalidAccessKeyId: 'credentials_invalid',
  SignatureDoesNotMatch: 'credentials_invalid',
  InvalidToken: 'credentials_invalid',
  InvalidSecurity: 'credentials_invalid',
  NotSignedUp: 'credentials_invalid',
  Unauthorized: 'credentials_invalid',
  AuthenticationRequired: 'credentials_invalid',
  ExpiredToken: 'credentials_expired',
  TokenRefreshRequired: 'credentials_expired',
  RequestTimeTooSkewed: 'clock_skew',
  RequestExpired: 'clock_skew',
  PermanentRedirect: 'wrong_region',
  TemporaryRedirect: 'unreachable',
  AuthorizationHeaderMalformed: 'wrong_region',
  IllegalLocationConstraintException: 'wrong_region',
  IncorrectEndpoint: 'wrong_region',
  PreconditionFailed: 'source_changed',
  InvalidRange: 'range_not_satisfiable',
  EntityTooLarge: 'too_large',
  QuotaExceeded: 'quota_exceeded',
  ServiceQuotaExceeded: 'quota_exceeded',
  XMinioStorageFull: 'quota_exceeded',
  InsufficientStorage: 'quota_exceeded',
  // The body was damaged in transit: it is sent again.
  IncompleteBody: 'body_broken',
  BadDigest: 'body_broken',
  XAmzContentSHA256Mismatch: 'body_broken',
  SlowDown: 'unreachable',
  Busy: 'unreachable',
  InternalError: 'unreachable',
  ServiceUnavailable: 'unreachable',
  RequestTimeout: 'unreachable',
  OperationAborted: 'unreachable',
  ConditionalRequestConflict: 'unreachable',
  BadGateway: 'unreachable',
  TooManyRequests: 'unreachable',
}

const codeOfS3Status: Readonly<Record<number, StoreErrorCode>> = {
  ...codeOfStatus,
  301: 'wrong_region',
  307: 'unreachable',
  425: 'unreachable',
  507: 'quota_exceeded',
}

const errorMessages: Readonly<Record<StoreErrorCode, string>> = {
  ...storeErrorMessages,
  no_such_bucket: 'does not exist',
  forbidden: 'does not allow this to the given key',
  credentials_invalid: 'does not accept the given access_key and secret_key (or session_token)',
  credentials_expired: 'says that the given session_token has expired',
  wrong_region: 'is in another region',
  quota_exceeded: 'has no space left for this account',
  address_refused: 'is at an address that is not allowed',
  body_broken: 'was not sent the whole body',
  host_not_found: 'is at a host that does not exist',
  connection_refused: 'refuses connections',
  tls_failed: 'cannot be reached by TLS',
}

export interface S3ErrorResponse {
  status: number
  /** The provider's error code, as received. */
  code: string | null
  /** If the answer contains it. */
  region: string | null
  retryAfterMs: number | null
  /** Fields of the credential that contain the refused key. */
  credentialNames?: string | undefined
}

/** `place`: `s3://bucket`. */
export function mapS3Error(provider: string, place: string, operation: string, refusal: S3ErrorResponse): StoreError {
  const { status } = refusal
  const own = safeErrorCode(refusal.code)
  const region =
    refusal.region !== null && /^[a-z]{2,10}(-[a-z]{2,12}){1,3}-\d{1,2}$/.test(refusal.region) ? refusal.region : null
  const code = codeOfS3Error[own ?? ''] ?? codeOfS3Status[status] ?? (status >= 500 ? 'unreachable' : 'invalid')
  const hint = code === 'wrong_region' && region !== null ? `: set region to "${region}"` : ''
  const sentence =
    code === 'credentials_invalid' && refusal.credentialNames !== undefined
      ? `does not accept the given ${refusal.credentialNames}`
      : errorMessages[code]
  const text = `${place} ${sentence}${hint} (${status}${own === null ? '' : ` ${own}`}).`
  return new StoreError(code, provider, operation, text, status, {
    providerCode: own,
    retryAfterMs: refusal.retryAfterMs,
  })
}
