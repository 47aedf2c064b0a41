// In charge of: turning a store's error into a job error: its code, the HTTP status at the task API, and its details.
// Not in charge of: detecting it (storage/), what a job error leads to (contract/errors.ts,
// contract/task/lifecycle.ts).
import { isConnectionError, type JobErrorCode } from '#contract/errorCodes.ts'
import type { JobInput } from '#contract/job/jobConfig.ts'
import type { StoreError, StoreErrorCode } from './objectStore.ts'

export type JobSide = 'input' | 'output'

interface ErrorAnswer {
  /** A 4xx is final for the transcoder; it retries a 5xx. */
  status: number
  code: JobErrorCode
}

/** The same for source and destination: errors of the credentials, the bucket or the host, not of one object. */
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
    // The server's answers are unusable: compressed, other bytes than requested, or status 405.
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
    // The store refuses a name or an object. A repeated request would be refused too.
    invalid: { status: 400, code: 'output_refused' },
    body_broken: { status: 502, code: 'output_unreachable' },
    unreachable: { status: 502, code: 'output_unreachable' },
  },
}

export function jobErrorFor(side: JobSide, error: StoreError): ErrorAnswer {
  return jobErrorOfStoreError[side][error.code]
}

/** The field of the request to correct, if the error is in the credentials or the address. */
export function fieldFor(side: JobSide, error: StoreError): { field?: string } {
  if (error.provider === 'http') return isConnectionError(error.code) && side === 'input' ? { field: 'input' } : {}
  return Object.hasOwn(common, error.code) && error.code !== 'clock_skew' ? { field: `cloud_credentials.${side}` } : {}
}

/** The same for one source of a job: of several, each error names its source. */
export function sourceFieldFor(input: JobInput, error: StoreError): { field?: string } {
  const { field } = fieldFor('input', error)
  if (input.key === 'input') return field === undefined ? {} : { field }
  return { field: field === 'cloud_credentials.input' ? input.credentialsField : input.field }
}

/** For `error.details`. Never contains the provider's message, which may repeat what was signed. */
export function storeErrorDetails(error: StoreError): Record<string, unknown> {
  return {
    provider: error.provider,
    operation: error.operation,
    status: error.status,
    ...(error.providerCode === null ? {} : { provider_code: error.providerCode }),
  }
}

/** Retry-After for the caller, in whole seconds. */
export function retryAfterHeader(error: StoreError): Record<string, string> {
  return error.retryAfterMs === null ? {} : { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) }
}
