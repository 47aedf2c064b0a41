// In charge of: the service's own R2 bucket as a source and as a sink.
// Not in charge of: who may read or write which prefix (provider.ts), answering clients (delivery/serveObject.ts).
import type { CacheControlByKind, ObjectKind } from '../cacheControl.ts'
import { keyBelow } from '../keyBelow.ts'
import {
  StoreError,
  type ByteRange,
  type Sink,
  type Source,
  type SourceStat,
  type StoredPart,
  type StoreErrorCode,
} from '../objectStore.ts'
import { bodyLengthError, isLengthError } from '../storeResponses.ts'

const PROVIDER = 'vendor-store'

// R2's binding throws plain errors that end in an API error code: https://developers.cloudflare.com/r2/api/error-codes/
const codeOfR2Error: Readonly<Record<string, StoreErrorCode>> = {
  '10007': 'not_found', // NoSuchKey
  '10011': 'invalid', // EntityTooSmall
  '10020': 'invalid', // InvalidObjectName
  '10024': 'no_such_upload',
  '10025': 'invalid', // InvalidPart
  '10029': 'invalid', // InvalidArgument
  '10031': 'source_changed', // PreconditionFailed
  '10037': 'invalid', // BadDigest
  '10039': 'range_not_satisfiable',
  '10048': 'invalid', // parts of unequal size
  '100100': 'too_large', // EntityTooLarge
}

async function mapR2Errors<T>(operation: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof StoreError) throw error
    const message = error instanceof Error ? error.message : String(error)
    const code = codeOfR2Error[/\((\d{5,6})\)\s*$/.exec(message)?.[1] ?? ''] ?? 'unreachable'
    throw new StoreError(code, PROVIDER, operation, `The service's own store: ${message}`)
  }
}

function statOf(object: R2Object): SourceStat {
  return {
    size: object.size,
    etag: object.httpEtag,
    contentType: object.httpMetadata?.contentType ?? null,
    ranges: true,
  }
}

export function r2Source(bucket: R2Bucket, key: string): Source {
  // For some unsatisfiable ranges R2 returns the whole object, and miniflare's R2 an unspecified error.
  function beyond(size: number): StoreError {
    return new StoreError('range_not_satisfiable', PROVIDER, 'read', `The object ends at byte ${size}.`, 416)
  }

  function changed(): StoreError {
    return new StoreError('source_changed', PROVIDER, 'read', 'The object was replaced while it was being read.')
  }

  function missing(operation: string): StoreError {
    return new StoreError('not_found', PROVIDER, operation, 'There is no such object in the service’s own store.')
  }
  return {
    async stat() {
      const object = await mapR2Errors('stat', () => bucket.head(key))
      if (!object) throw missing('stat')
      return statOf(object)
    },

    async read(range: ByteRange | null, etag?: string) {
      const object = await mapR2Errors('read', () =>
        bucket.get(key, {
          ...(range ? { range: { ...range } } : {}),
          // The binding expects the ETag without the header's quotes.
          ...(etag ? { onlyIf: { etagMatches: etag.replace(/^"(.*)"$/, '$1') } } : {}),
        }),
      ).catch(async (error: StoreError) => {
        const found = range && error.code === 'unreachable' ? await bucket.head(key).catch(() => null) : null
        if (!found || !range || range.offset < found.size) throw error
        throw etag && etag !== found.httpEtag ? changed() : beyond(found.size)
      })
      if (!object) throw missing('read')
      if (!('body' in object)) {
        throw changed()
      }
      const offset = range?.offset ?? 0
      if (range && offset >= object.size) {
        await object.body.cancel()
        throw beyond(object.size)
      }
      const length = Math.min(range?.length ?? Number.POSITIVE_INFINITY, object.size - offset)
      return { ...statOf(object), body: object.body, isPartial: range !== null, offset, length }
    },
  }
}

/** R2 accepts a stream only with its length. A body of another length is an error before the object becomes visible. */
async function storeWithLength<T>(
  operation: string,
  body: ReadableStream<Uint8Array> | Uint8Array,
  size: number,
  store: (value: ReadableStream | Uint8Array) => Promise<T>,
): Promise<T> {
  if (body instanceof Uint8Array) {
    if (body.byteLength !== size) throw bodyLengthError(PROVIDER, operation, size)
    return mapR2Errors(operation, () => store(body))
  }
  const fixed = new FixedLengthStream(size)
  const stop = new AbortController()
  let bodyFailed = false
  let storeFailed = false
  const piped = body.pipeTo(fixed.writable, { signal: stop.signal }).catch(() => {
    // A failing store closes the pipe too. Only if the pipe failed first, the error is in the body.
    bodyFailed = !storeFailed
  })
  try {
    return await mapR2Errors(operation, () => store(fixed.readable))
  } catch (error) {
    storeFailed = true
    stop.abort()
    await piped
    throw bodyFailed || isLengthError(error) ? bodyLengthError(PROVIDER, operation, size, 'body_broken') : error
  }
}

export function r2Sink(bucket: R2Bucket, prefix: string, caching: CacheControlByKind | null = null): Sink {
  function keyOf(path: string, operation: string): string {
    return keyBelow(prefix, path, PROVIDER, operation)
  }

  const metadataOf = (contentType: string, kind: ObjectKind): R2HTTPMetadata =>
    caching === null ? { contentType } : { contentType, cacheControl: caching[kind] }

  function resume(path: string, upload: string, operation: string): R2MultipartUpload {
    return bucket.resumeMultipartUpload(keyOf(path, operation), upload)
  }

  return {
    async put(path, body, size, contentType, kind = 'file') {
      const key = keyOf(path, 'put')
      const object = await storeWithLength('put', body, size, (value) =>
        bucket.put(key, value, { httpMetadata: metadataOf(contentType, kind) }),
      )
      return { etag: object.httpEtag }
    },

    async stat(path) {
      const key = keyOf(path, 'stat')
      const object = await mapR2Errors('stat', () => bucket.head(key))
      return object && { size: object.size, etag: object.httpEtag }
    },

    async delete(path) {
      const key = keyOf(path, 'delete')
      await mapR2Errors('delete', () => bucket.delete(key))
    },

    async deleteMany(paths) {
      const keys = paths.map((path) => keyOf(path, 'deleteMany'))
      if (keys.length > 0) await mapR2Errors('deleteMany', () => bucket.delete(keys))
    },

    async beginUpload(path, contentType) {
      const key = keyOf(path, 'beginUpload')
      const httpMetadata = metadataOf(contentType, 'file')
      const made = await mapR2Errors('beginUpload', () => bucket.createMultipartUpload(key, { httpMetadata }))
      return made.uploadId
    },

    async uploadPart(path, upload, n, body, size) {
      const target = resume(path, upload, 'uploadPart')
      const part = await storeWithLength('uploadPart', body, size, (value) => target.uploadPart(n, value))
      return part.etag
    },

    async completeUpload(path, upload, parts: StoredPart[]) {
      const target = resume(path, upload, 'completeUpload')
      const list = parts.map(({ n, etag }) => ({ partNumber: n, etag })).toSorted((a, b) => a.partNumber - b.partNumber)
      const object = await mapR2Errors('completeUpload', () => target.complete(list))
      return { etag: object.httpEtag }
    },

    async abortUpload(path, upload) {
      try {
        const target = resume(path, upload, 'abortUpload')
        await mapR2Errors('abortUpload', () => target.abort())
      } catch (error) {
        if (!(error instanceof StoreError && error.code === 'no_such_upload')) throw error
      }
    },

    location: (path) => `${PROVIDER}://${prefix}${path}`,
  }
}
