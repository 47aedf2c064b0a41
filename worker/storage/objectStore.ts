// In charge of: the small interface behind which every provider stands, and its errors.
// Not in charge of: which provider serves a job (registry.ts).

import type { ConnectionError } from '#contract/errorCodes.ts'
import { CONNECTION_ERRORS } from '#contract/errorCodes.ts'
import type { ObjectKind } from './cacheControl.ts'

/** A byte range: `length` absent = to the end. */
export interface ByteRange {
  offset: number
  length?: number
}

export interface SourceStat {
  /** Bytes; null where the server does not say. */
  size: number | null
  etag: string | null
  contentType: string | null
  /** False where the server answers a Range request with the whole object. */
  ranges: boolean
}

export interface SourceBody extends SourceStat {
  /** The bytes asked for; the whole object where `partial` is false. */
  body: ReadableStream<Uint8Array>
  partial: boolean
  /** First byte of `body` in the object. */
  offset: number
  /** Bytes in `body`; null where the server does not say. */
  length: number | null
}

/** Reading side of a provider: one object, named when the source is opened. */
export interface Source {
  /** @throws StoreError */
  stat(): Promise<SourceStat>
  /**
   * Streams a range. With `etag`, the object must still be that one, else StoreError `source_changed`.
   * @throws StoreError
   */
  read(range: ByteRange | null, etag?: string): Promise<SourceBody>
}

export interface StoredPart {
  /** 1-based. */
  n: number
  etag: string
}

/** Objects that one `deleteMany` may name: what S3's DeleteObjects and R2's binding take. */
export const MAX_DELETE_BATCH = 1000

/**
 * Writing side of a provider, below one job's destination. Paths are relative, checked and never escape it.
 * Kept and used by many requests at once: no state beside what opening it gave.
 */
export interface Sink {
  /** Replaces what was there, in one step: no reader meets a part of it. The same again is no error. `kind` absent = file. */
  put(
    path: string,
    body: ReadableStream<Uint8Array> | Uint8Array,
    size: number,
    contentType: string,
    kind?: ObjectKind,
  ): Promise<{ etag: string }>
  stat(path: string): Promise<{ size: number; etag: string } | null>
  /** Succeeds also when there is no such object. */
  delete(path: string): Promise<void>
  /**
   * The same for `MAX_DELETE` paths at most, in as few requests as the provider allows. Some may be gone already, and
   * after an error some may be left: the caller asks again with the same list.
   */
  deleteMany(paths: readonly string[]): Promise<void>
  /** Of a file. → an upload id, opaque, that the other calls take. */
  beginUpload(path: string, contentType: string): Promise<string>
  /** All parts but the last have the same size. */
  uploadPart(
    path: string,
    upload: string,
    n: number,
    body: ReadableStream<Uint8Array> | Uint8Array,
    size: number,
  ): Promise<string>
  /**
   * Makes the object visible in one step.
   * @throws StoreError `no_such_upload` when it was aborted before; when it was completed before, that or the same answer
   */
  completeUpload(path: string, upload: string, parts: StoredPart[]): Promise<{ etag: string }>
  /** Succeeds also when there is no such upload any more. */
  abortUpload(path: string, upload: string): Promise<void>
  /**
   * Finds out whether objects can be written below a directory, without anyone seeing one; absent where nobody could refuse.
   * `keep` is told of what would be left by whoever dies here.
   * @throws StoreError as the first write would
   */
  probeWrite?(directory: string, onUploadStarted: (upload: string, path: string) => Promise<void>): Promise<void>
  /**
   * An address at which whoever has it can read the object for an hour or so, made without asking the store; absent where the
   * provider has none that shows no secret. null = not for this object.
   */
  presignedUrl?(path: string): Promise<string | null>
  /** Where the object is, in the provider's own form (`s3://bucket/key`), for `status.outputs[].location`. */
  location(path: string): string
}

export type StoreErrorCode =
  | 'not_found'
  | 'no_such_bucket'
  | 'forbidden'
  | 'credentials_invalid'
  | 'credentials_expired'
  | 'clock_skew'
  | 'wrong_region'
  | 'quota_exceeded'
  | 'source_changed'
  | 'range_not_satisfiable'
  | 'no_such_upload'
  | 'address_refused'
  | 'too_large'
  | 'invalid'
  /** A stream that was to be stored ended early, or was longer than announced. */
  | 'body_broken'
  | 'unreachable'
  // `unreachable`, where it is known why.
  | ConnectionError

export interface StoreErrorOptions {
  /** What the provider calls it: `NoSuchBucket`. */
  providerCode?: string | null
  /** The provider's Retry-After, in milliseconds. */
  retryAfterMs?: number | null
}

/** A clock is set right some time, here or there, and a server is started again; how long that may take is for others to say. */
const transientErrors: ReadonlySet<StoreErrorCode> = new Set(['unreachable', ...CONNECTION_ERRORS, 'clock_skew'])

export class StoreError extends Error {
  override name = 'StoreError'
  readonly code: StoreErrorCode
  readonly provider: string
  readonly operation: string
  /** HTTP status of the provider, where there was one. */
  readonly status: number | null
  readonly providerCode: string | null
  readonly retryAfterMs: number | null
  constructor(
    code: StoreErrorCode,
    provider: string,
    operation: string,
    message: string,
    status: number | null = null,
    options: StoreErrorOptions = {},
  ) {
    super(message)
    this.code = code
    this.provider = provider
    this.operation = operation
    this.status = status
    this.providerCode = options.providerCode ?? null
    this.retryAfterMs = options.retryAfterMs ?? null
  }
  /** True where the same call may succeed later. */
  get transient(): boolean {
    return transientErrors.has(this.code)
  }
}

/** True where the same call may succeed later: what is not the store's own verdict is somebody's accident. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof StoreError) || error.transient
}
