// In charge of: what a store's error is to a job: its code, the HTTP status on the task door, and the details that go along.
// Not in charge of: noticing it (storage/), what a job error does (contract/errors.ts, lifecycle.ts).
import type { JobErrorCode } from '#contract/errorCodes.ts'
import { isConnectionError } from '#contract/errorCodes.ts'
import type { StoreError, StoreErrorCode } from './objectStore.ts'

export type JobSide = 'input' | 'output'

interface ErrorAnswer {
  /** A 4xx is a verdict to the transcoder; what is 5xx it tries again. */
  status: number
  code: JobErrorCode
}

/** The same on both sides: about the credentials, the bucket and the host, not about one object. */
const common = {
  no_such_bucket: { status: 404, code: 'bucket_not_found' },
  credentials_invalid: { status: 403, code: 'credentials_invalid' },
  credentials_expired: { status: 403, code: 'credentials_expired' },
  wrong_region: { status: 400, code: 'wrong_region' },
  clock_skew: { status: 503, code: 'clock_skew' },
  host_not_found: { status: 502, code: 'host_not_found' },
  connection_refused: { status: 502, code: 'connection_refused' },
  tls_failed: { status: 502, code: 'tls_failed' },
} as const satisfies Partial<Record<StoreErrorCode, ErrorAnswer>>

const jobErrorOfStoreError: Readonly<Record<JobSide, Readonly<Record<StoreErrorCode, ErrorAnswer>>>> = {
  input: {
    ...common,
    not_found: { status: 404, code: 'source_not_found' },
    forbidden: { status: 403, code: 'source_forbidden' },
    source_changed: { status: 412, code: 'source_changed' },
    range_not_satisfiable: { status: 416, code: 'source_incomplete' },
    address_refused: { status: 403, code: 'source_address_refused' },
    too_large: { status: 413, code: 'source_too_large' },
    quota_exceeded: { status: 502, code: 'source_unreachable' },
    no_such_upload: { status: 502, code: 'source_unreachable' },
    // Of a server whose answers nobody can use: compressed, with other bytes than were asked for, 405.
    invalid: { status: 400, code: 'source_unsupported' },
    body_broken: { status: 502, code: 'source_unreachable' },
    unreachable: { status: 502, code: 'source_unreachable' },
  },
  output: {
    ...common,
    not_found: { status: 403, code: 'output_forbidden' },
    forbidden: { status: 403, code: 'output_forbidden' },
    address_refused: { status: 403, code: 'output_forbidden' },
    too_large: { status: 413, code: 'output_too_large' },
    quota_exceeded: { status: 403, code: 'store_quota_exceeded' },
    source_changed: { status: 502, code: 'output_unreachable' },
    range_not_satisfiable: { status: 502, code: 'output_unreachable' },
    no_such_upload: { status: 502, code: 'output_unreachable' },
    // A name or an object that it does not take: it would not the next time either.
    invalid: { status: 400, code: 'output_refused' },
    body_broken: { status: 502, code: 'output_unreachable' },
    unreachable: { status: 502, code: 'output_unreachable' },
  },
}

export function jobErrorFor(side: JobSide, error: StoreError): ErrorAnswer {
  return jobErrorOfStoreError[side][error.code]
}

/** The part of the request to look at, where it is the credentials, or the address that they name or are for, that are wrong. */
export function fieldFor(side: JobSide, error: StoreError): { field?: string } {
  if (error.provider === 'http') return isConnectionError(error.code) && side === 'input' ? { field: 'input' } : {}
  return Object.hasOwn(common, error.code) && error.code !== 'clock_skew' ? { field: `cloud_credentials.${side}` } : {}
}

/** For `error.details`: never the provider's words, which may repeat what was signed. */
export function storeErrorDetails(error: StoreError): Record<string, unknown> {
  return {
    provider: error.provider,
    operation: error.operation,
    status: error.status,
    ...(error.providerCode === null ? {} : { provider_code: error.providerCode }),
  }
}

/** Retry-After for whoever asked, in whole seconds. */
export function retryAfterHeader(error: StoreError): Record<string, string> {
  return error.retryAfterMs === null ? {} : { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) }
}
