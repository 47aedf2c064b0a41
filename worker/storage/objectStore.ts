// In charge of: the interfaces that every provider implements (Source, Sink), and their errors.
// Not in charge of: which provider a job uses (registry.ts).

import { CONNECTION_ERRORS, type ConnectionError } from '#contract/errorCodes.ts'
import type { ObjectKind } from './cacheControl.ts'

/** A byte range. Without `length`: to the end. */
export interface ByteRange {
  offset: number
  length?: number
}

export interface SourceStat {
  /** Bytes; null if the server does not report it. */
  size: number | null
  etag: string | null
  contentType: string | null
  /** False if the server answers a Range request with the whole object. */
  ranges: boolean
}

export interface SourceBody extends SourceStat {
  /** The requested bytes; the whole object if `isPartial` is false. */
  body: ReadableStream<Uint8Array>
  isPartial: boolean
  /** Offset of the first byte of `body` in the object. */
  offset: number
  /** Bytes in `body`; null if the server does not report it. */
  length: number | null
}

/** Reads one object, which is chosen when the source is opened. */
export interface Source {
  /** @throws StoreError */
  stat(): Promise<SourceStat>
  /**
   * Streams a range. With `etag`, the object must still have that ETag, else StoreError `source_changed`.
   * @throws StoreError
   */
  read(range: ByteRange | null, etag?: string): Promise<SourceBody>
}

export interface StoredPart {
  /** 1-based. */
  n: number
  etag: string
}

/** Maximum number of objects in one `deleteMany`: the limit of S3's DeleteObjects and of R2's binding. */
export const MAX_DELETE_BATCH = 1000

/**
 * Writes below one job's destination. Paths are relative, checked, and cannot leave it. Cached and used by many
 * requests at once, so it has no state but what it was opened with.
 */
export interface Sink {
  /** Replaces an existing object atomically. May be repeated. Without `kind`: a file. */
  put(
    path: string,
    body: ReadableStream<Uint8Array> | Uint8Array,
    size: number,
    contentType: string,
    kind?: ObjectKind,
  ): Promise<{ etag: string }>
  stat(path: string): Promise<{ size: number; etag: string } | null>
  /** Succeeds too if the object does not exist. */
  delete(path: string): Promise<void>
  /**
   * Deletes up to `MAX_DELETE_BATCH` objects, in as few requests as the provider allows. Some may not exist. After an
   * error, some may remain: the caller repeats the call with the same list.
   */
  deleteMany(paths: readonly string[]): Promise<void>
  /** For a file. → an opaque upload id for the other methods. */
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
   * Makes the object visible atomically.
   * @throws StoreError `no_such_upload` if it was aborted before; if it was completed before, either that or the same
   * result
   */
  completeUpload(path: string, upload: string, parts: StoredPart[]): Promise<{ etag: string }>
  /** Succeeds too if the upload does not exist any more. */
  abortUpload(path: string, upload: string): Promise<void>
  /**
   * Checks whether objects can be written below a directory, without creating a visible one. Missing if a store cannot
   * refuse. `onUploadStarted` is called with an upload that would remain if the process died here.
   * @throws StoreError as the first write would
   */
  probeWrite?(directory: string, onUploadStarted: (upload: string, path: string) => Promise<void>): Promise<void>
  /**
   * A URL with which anyone can read the object for about an hour, created without a request to the store. Missing if
   * the provider has none that hides its secrets. null = not for this object.
   */
  presignedUrl?(path: string): Promise<string | null>
  /** The address of the object in the provider's own format (`s3://bucket/key`), for `status.outputs[].location`. */
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
  /** A stream to be stored ended early, or was longer than announced. */
  | 'body_broken'
  | 'unreachable'
  // `unreachable` with a known cause.
  | ConnectionError

export interface StoreErrorOptions {
  /** The provider's error code, such as `NoSuchBucket`. */
  providerCode?: string | null
  /** The provider's Retry-After, in milliseconds. */
  retryAfterMs?: number | null
}

/**
 * Errors that may pass: an unreachable server, and a wrong clock, here or at the store. The caller decides for how
 * long.
 */
const transientErrors: ReadonlySet<StoreErrorCode> = new Set(['unreachable', ...CONNECTION_ERRORS, 'clock_skew'])

export class StoreError extends Error {
  override name = 'StoreError'
  readonly code: StoreErrorCode
  readonly provider: string
  readonly operation: string
  /** HTTP status from the provider, if there was one. */
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
  /** True if the same call may succeed later. */
  get transient(): boolean {
    return transientErrors.has(this.code)
  }
}

/** True if the same call may succeed later. An error that did not come from a store counts as transient. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof StoreError) || error.transient
}
