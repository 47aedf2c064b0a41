// In charge of: writing to an S3-compatible store: put, parts, complete, abort, delete.
// Not in charge of: differences between providers (S3Store), retries.
import type { CacheControlByKind, ObjectKind } from '../cacheControl.ts'
import { keyBelow } from '../keyBelow.ts'
import { StoreError, type Sink, type StoredPart } from '../objectStore.ts'
import { mapConcurrent } from '../../util/mapConcurrent.ts'
import { sendS3Request, readXmlResponse, entryError, type S3Store } from './s3Client.ts'
import { bodyLengthError, MAX_ANSWER_BYTES, refusalBytes } from '../storeResponses.ts'
import { objectUrl } from './bucketAddress.ts'
import { childElements, escapeXml, elementText } from './s3Xml.ts'
import { toBase64 } from '../../util/encoding.ts'

/** Concurrent requests when objects are deleted one by one. */
const DELETE_CONCURRENCY = 6
/** Amazon, AbortMultipartUpload: "it might be necessary to abort a given multipart upload multiple times". */
const MAX_ABORT_TRIES = 3

/** `prefix` is '' or ends with a slash. */
export function s3Sink(store: S3Store, prefix: string, caching: CacheControlByKind | null = null): Sink {
  const { provider, presign } = store
  const keyOf = (path: string, operation: string): string => keyBelow(prefix, path, provider, operation)

  const described = (contentType: string, kind: ObjectKind): Record<string, string> => ({
    'content-type': contentType,
    ...(caching === null ? {} : { 'cache-control': caching[kind] }),
  })

  /** Puts a whole body or a part. @returns its ETag */
  async function send(
    operation: string,
    key: string,
    query: Record<string, string>,
    headers: Record<string, string>,
    body: ReadableStream<Uint8Array> | Uint8Array,
    size: number,
  ): Promise<string> {
    const inMemory = body instanceof Uint8Array
    if (inMemory && body.byteLength !== size) throw bodyLengthError(provider, operation, size)
    const response = await sendS3Request(store, {
      operation,
      method: 'PUT',
      key,
      query,
      headers,
      ...(inMemory ? { body } : { stream: { body, size } }),
    })
    await response.body?.cancel()
    return tagOf(operation, response.headers.get('etag'))
  }

  function tagOf(operation: string, etag: string | null): string {
    if (etag) return etag.startsWith('"') ? etag : `"${etag}"`
    throw new StoreError('invalid', provider, operation, `${store.bucketAddress.name} answered without an ETag.`)
  }

  async function abort(key: string, uploadId: string): Promise<void> {
    const response = await sendS3Request(store, {
      operation: 'abortUpload',
      method: 'DELETE',
      key,
      query: { uploadId },
      accept: [404],
    })
    await response.body?.cancel()
  }

  /** Whether the store still has parts of the upload. */
  async function isThere(key: string, uploadId: string): Promise<boolean> {
    const query = { uploadId, 'max-parts': '1' }
    // An error here does not matter: the abort itself has succeeded.
    const response = await sendS3Request(store, { operation: 'abortUpload', method: 'GET', key, query }).catch(
      () => null,
    )
    await response?.body?.cancel()
    return response !== null
  }

  async function begin(key: string, contentType: string): Promise<string> {
    const operation = 'beginUpload'
    const headers = described(contentType, 'file')
    const request = { method: 'POST', key, query: { uploads: '' }, headers } as const
    const id = elementText(
      await readXmlResponse(store, operation, await sendS3Request(store, { operation, ...request })),
      'UploadId',
    )
    if (id) return id
    throw new StoreError('invalid', provider, operation, `${store.bucketAddress.name} answered without an upload id.`)
  }

  const sink: Sink = {
    async put(path, body, size, contentType, kind = 'file') {
      const headers = described(contentType, kind)
      return { etag: await send('put', keyOf(path, 'put'), {}, headers, body, size) }
    },

    async stat(path) {
      const key = keyOf(path, 'stat')
      // Without permission to list, S3 answers 403 for a missing object. Bad credentials failed at an earlier write.
      // put.
      const response = await sendS3Request(store, { operation: 'stat', method: 'HEAD', key, accept: [403, 404] })
      if (!response.ok) return null
      return { size: Number(response.headers.get('content-length')), etag: tagOf('stat', response.headers.get('etag')) }
    },

    async delete(path) {
      const key = keyOf(path, 'delete')
      const response = await sendS3Request(store, { operation: 'delete', method: 'DELETE', key, accept: [404] })
      await response.body?.cancel()
    },

    async deleteMany(paths) {
      const operation = 'deleteMany'
      const keys = paths.map((path) => keyOf(path, operation))
      if (keys.length === 0) return
      if (!store.supportsDeleteObjects)
        return void (await mapConcurrent(paths, DELETE_CONCURRENCY, (path) => sink.delete(path)))
      const entries = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('')
      const body = new TextEncoder().encode(`<Delete><Quiet>true</Quiet>${entries}</Delete>`)
      const response = await sendS3Request(store, {
        operation,
        method: 'POST',
        key: '',
        query: { delete: '' },
        headers: { 'content-type': 'application/xml' },
        signed: { 'content-md5': toBase64(await crypto.subtle.digest('MD5', body)) },
        body,
      })
      const answer = await readXmlResponse(store, operation, response, MAX_ANSWER_BYTES + refusalBytes(keys))
      for (const error of childElements(answer, 'Error')) {
        const code = elementText(error, 'Code')
        if (code !== 'NoSuchKey') throw entryError(store, operation, code)
      }
    },

    beginUpload: async (path, contentType) => begin(keyOf(path, 'beginUpload'), contentType),

    uploadPart: async (path, uploadId, n, body, size) =>
      send('uploadPart', keyOf(path, 'uploadPart'), { partNumber: String(n), uploadId }, {}, body, size),

    async completeUpload(path, uploadId, parts: StoredPart[]) {
      const operation = 'completeUpload'
      const list = parts
        .toSorted((a, b) => a.n - b.n)
        .map(({ n, etag }) => `<Part><PartNumber>${n}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`)
        .join('')
      const body = new TextEncoder().encode(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`)
      const response = await sendS3Request(store, {
        operation,
        method: 'POST',
        key: keyOf(path, operation),
        query: { uploadId },
        headers: { 'content-type': 'application/xml' },
        body,
      })
      const etag = elementText(await readXmlResponse(store, operation, response), 'ETag')
      if (etag) return { etag: tagOf(operation, etag) }
      // Ceph's gateway completes the object but omits its ETag; it is read from the object.
      const made = await sink.stat(path)
      return { etag: tagOf(operation, made?.etag ?? null) }
    },

    async abortUpload(path, uploadId) {
      const key = keyOf(path, 'abortUpload')
      for (let n = 0; n < MAX_ABORT_TRIES; n++) {
        await abort(key, uploadId)
        // A part that was in flight may have arrived after the abort.
        if (!(await isThere(key, uploadId))) return
      }
    },

    async probeWrite(directory, keep) {
      const path = `${directory === '' ? '' : `${directory}/`}.splicepoint`
      const key = keyOf(path, 'beginUpload')
      // An upload that is never completed creates no object, no object version and no event.
      const uploadId = await begin(key, 'application/octet-stream')
      await keep(uploadId, path)
      await abort(key, uploadId)
    },

    ...(presign === undefined
      ? {}
      : { presignedUrl: (path) => presign(objectUrl(store.bucketAddress, keyOf(path, 'address'))) }),

    location: (path) => `${store.bucketAddress.name}/${prefix}${path}`,
  }
  return sink
}
