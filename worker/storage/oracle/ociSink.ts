// In charge of: writing through Oracle's native API: put, parts, commit, abort, delete.
// Not in charge of: retries.
import { mapConcurrent } from '../../util/mapConcurrent.ts'
import type { CacheControlByKind } from '../cacheControl.ts'
import { keyBelow } from '../keyBelow.ts'
import { bodyLengthError, MAX_ANSWER_BYTES, refusalBytes } from '../storeResponses.ts'
import { StoreError, type Sink } from '../objectStore.ts'
import { sendOciRequest, readOciJson, type OciStore } from './ociClient.ts'
import { ociBucketName } from './ociAddress.ts'
import { unquoteEtag, quoteEtag } from './ociSource.ts'
import { mapOciError } from './ociErrors.ts'

const PROVIDER = 'oracle'
/** Concurrent requests when objects are deleted one by one. */
const DELETE_CONCURRENCY = 6

/** `prefix` is '' or ends with a slash. */
export function ociSink(store: OciStore, prefix: string, caching: CacheControlByKind | null = null): Sink {
  const name = ociBucketName(store.bucketAddress)
  const keyOf = (path: string, operation: string): string => keyBelow(prefix, path, PROVIDER, operation)

  function tagOf(operation: string, response: Response): string {
    const etag = response.headers.get('etag')
    if (etag) return quoteEtag(etag)
    throw new StoreError('invalid', PROVIDER, operation, `${name} answered without an ETag.`)
  }

  async function send(
    operation: string,
    path: readonly [string, ...string[]],
    query: Record<string, string>,
    body: ReadableStream<Uint8Array> | Uint8Array,
    size: number,
    contentType: string,
    headers: Record<string, string> = {},
  ): Promise<string> {
    if (body instanceof Uint8Array && body.byteLength !== size) throw bodyLengthError(PROVIDER, operation, size)
    const put = { body, size, contentType }
    const response = await sendOciRequest(store, { operation, method: 'PUT', path, query, headers, put })
    await response.body?.cancel()
    return tagOf(operation, response)
  }

  async function begin(key: string, contentType: string): Promise<string> {
    const operation = 'beginUpload'
    const json = { object: key, contentType, ...(caching === null ? {} : { cacheControl: caching.file }) }
    const response = await sendOciRequest(store, { operation, method: 'POST', path: ['u'], json })
    const { uploadId } = await readOciJson(response)
    if (typeof uploadId === 'string' && uploadId !== '') return uploadId
    // The answer was cut off, or a proxy sent a page. The request can be repeated.
    throw new StoreError('unreachable', PROVIDER, operation, `${name} answered without an upload id.`, response.status)
  }

  async function abort(key: string, uploadId: string): Promise<void> {
    const request = { operation: 'abortUpload', method: 'DELETE', path: ['u', key], query: { uploadId } } as const
    const response = await sendOciRequest(store, { ...request, accept: [404] })
    await response.body?.cancel()
  }

  const sink: Sink = {
    async put(path, body, size, contentType, kind = 'file') {
      const headers = caching === null ? {} : { 'cache-control': caching[kind] }
      return { etag: await send('put', ['o', keyOf(path, 'put')], {}, body, size, contentType, headers) }
    },

    async stat(path) {
      const operation = 'stat'
      const response = await sendOciRequest(store, {
        operation,
        method: 'HEAD',
        path: ['o', keyOf(path, operation)],
        accept: [404],
      })
      if (response.status === 404) return null
      return { size: Number(response.headers.get('content-length')), etag: tagOf(operation, response) }
    },

    async delete(path) {
      const operation = 'delete'
      const response = await sendOciRequest(store, {
        operation,
        method: 'DELETE',
        path: ['o', keyOf(path, operation)],
        accept: [404],
      })
      await response.body?.cancel()
    },

    async deleteMany(paths) {
      const operation = 'deleteMany'
      const keys = paths.map((path) => keyOf(path, operation))
      if (keys.length === 0) return
      const response = await sendOciRequest(store, {
        operation,
        method: 'POST',
        path: ['actions', 'batchDeleteObjects'],
        json: { objects: keys.map((objectName) => ({ objectName })), isSkipDeletedResult: true },
        // Oracle has this operation since November 2025; not all regions got it at once.
        accept: [404, 405, 501],
      })
      if (response.status >= 300) {
        await response.body?.cancel()
        return void (await mapConcurrent(paths, DELETE_CONCURRENCY, (path) => sink.delete(path)))
      }
      const { failed } = await readOciJson(response, MAX_ANSWER_BYTES + refusalBytes(keys))
      const statuses = (Array.isArray(failed) ? failed : []).map((one: { statusCode?: unknown }) =>
        Number(one.statusCode),
      )
      const status = statuses.find((each) => each !== 404)
      if (status !== undefined) {
        throw mapOciError(name, { operation, status, code: null, clockAheadMs: null, retryAfterMs: null })
      }
    },

    beginUpload: async (path, contentType) => begin(keyOf(path, 'beginUpload'), contentType),

    async uploadPart(path, uploadId, n, body, size) {
      const query = { uploadId, uploadPartNum: String(n) }
      return send('uploadPart', ['u', keyOf(path, 'uploadPart')], query, body, size, 'application/octet-stream')
    },

    async completeUpload(path, uploadId, parts) {
      const operation = 'completeUpload'
      const partsToCommit = parts
        .toSorted((a, b) => a.n - b.n)
        .map(({ n, etag }) => ({ partNum: n, etag: unquoteEtag(etag) }))
      const response = await sendOciRequest(store, {
        operation,
        method: 'POST',
        path: ['u', keyOf(path, operation)],
        query: { uploadId },
        json: { partsToCommit },
      })
      await response.body?.cancel()
      return { etag: tagOf(operation, response) }
    },

    abortUpload: async (path, uploadId) => abort(keyOf(path, 'abortUpload'), uploadId),

    async probeWrite(directory, keep) {
      const path = `${directory === '' ? '' : `${directory}/`}.splicepoint`
      const key = keyOf(path, 'beginUpload')
      // An upload that is never committed creates no object, no object version and no event.
      const uploadId = await begin(key, 'application/octet-stream')
      await keep(uploadId, path)
      await abort(key, uploadId)
    },

    location: (path) => `${name}/${prefix}${path}`,
  }
  return sink
}
