// In charge of: writing to an S3-shaped store: put, parts, complete, abort, delete.
// Not in charge of: which provider it is (XmlStore says that), trying again.
import type { Caching, ObjectKind } from '../cacheControl.ts'
import { keyBelow } from '../keyBelow.ts'
import type { Sink, StoredPart } from '../objectStore.ts'
import { StoreError } from '../objectStore.ts'
import { inParallel } from '../../util/mapConcurrent.ts'
import type { XmlStore } from './s3Client.ts'
import { ask, readXml, refusedEntry, wrongLength } from './s3Client.ts'
import { addressOf } from './bucketAddress.ts'
import { childrenOf, escapeXml, textAt } from './s3Xml.ts'

/** Requests at a time where objects are deleted one by one. */
const DELETIONS = 6
/** Amazon, AbortMultipartUpload: "it might be necessary to abort a given multipart upload multiple times". */
const ABORTS = 3

/** `prefix` is '' or ends with a slash. */
export function xmlSink(store: XmlStore, prefix: string, caching: Caching | null = null): Sink {
  const { provider, presign } = store
  const keyOf = (path: string, operation: string): string => keyBelow(prefix, path, provider, operation)

  const described = (contentType: string, kind: ObjectKind): Record<string, string> => ({
    'content-type': contentType,
    ...(caching === null ? {} : { 'cache-control': caching[kind] }),
  })

  /** A put of a whole body or of a part. @returns its tag */
  async function send(
    operation: string,
    key: string,
    query: Record<string, string>,
    headers: Record<string, string>,
    body: ReadableStream<Uint8Array> | Uint8Array,
    size: number,
  ): Promise<string> {
    const inMemory = body instanceof Uint8Array
    if (inMemory && body.byteLength !== size) throw wrongLength(store, operation, size)
    const response = await ask(store, {
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
    throw new StoreError('invalid', provider, operation, `${store.place.name} answered without an ETag.`)
  }

  async function abort(key: string, uploadId: string): Promise<void> {
    const response = await ask(store, {
      operation: 'abortUpload',
      method: 'DELETE',
      key,
      query: { uploadId },
      accept: [404],
    })
    await response.body?.cancel()
  }

  /** Whether the store still has parts of it. */
  async function isThere(key: string, uploadId: string): Promise<boolean> {
    const query = { uploadId, 'max-parts': '1' }
    // A store that cannot tell has done what it was asked for all the same.
    const response = await ask(store, { operation: 'abortUpload', method: 'GET', key, query }).catch(() => null)
    await response?.body?.cancel()
    return response !== null
  }

  async function begin(key: string, contentType: string): Promise<string> {
    const operation = 'beginUpload'
    const headers = described(contentType, 'file')
    const request = { method: 'POST', key, query: { uploads: '' }, headers } as const
    const id = textAt(await readXml(store, operation, await ask(store, { operation, ...request })), 'UploadId')
    if (id) return id
    throw new StoreError('invalid', provider, operation, `${store.place.name} answered without an upload id.`)
  }

  const sink: Sink = {
    async put(path, body, size, contentType, kind = 'file') {
      const headers = described(contentType, kind)
      return { etag: await send('put', keyOf(path, 'put'), {}, headers, body, size) }
    },

    async stat(path) {
      const key = keyOf(path, 'stat')
      // Without the permission to list, S3 answers 403 for what is not there; who may not read at all was told by a write.
      const response = await ask(store, { operation: 'stat', method: 'HEAD', key, accept: [403, 404] })
      if (!response.ok) return null
      return { size: Number(response.headers.get('content-length')), etag: tagOf('stat', response.headers.get('etag')) }
    },

    async delete(path) {
      const key = keyOf(path, 'delete')
      const response = await ask(store, { operation: 'delete', method: 'DELETE', key, accept: [404] })
      await response.body?.cancel()
    },

    async deleteMany(paths) {
      const operation = 'deleteMany'
      const keys = paths.map((path) => keyOf(path, operation))
      if (keys.length === 0) return
      if (!store.deletesMany) return void (await inParallel(paths, DELETIONS, (path) => sink.delete(path)))
      const entries = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('')
      const body = new TextEncoder().encode(`<Delete><Quiet>true</Quiet>${entries}</Delete>`)
      const response = await ask(store, {
        operation,
        method: 'POST',
        key: '',
        query: { delete: '' },
        headers: { 'content-type': 'application/xml' },
        signed: { 'content-md5': base64(await crypto.subtle.digest('MD5', body)) },
        body,
      })
      for (const error of childrenOf(await readXml(store, operation, response), 'Error')) {
        const code = textAt(error, 'Code')
        if (code !== 'NoSuchKey') throw refusedEntry(store, operation, code)
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
      const response = await ask(store, {
        operation,
        method: 'POST',
        key: keyOf(path, operation),
        query: { uploadId },
        headers: { 'content-type': 'application/xml' },
        body,
      })
      const etag = textAt(await readXml(store, operation, response), 'ETag')
      if (etag) return { etag: tagOf(operation, etag) }
      // Ceph's gateway completes the object and leaves its tag out of the answer: the object itself has it.
      const made = await sink.stat(path)
      return { etag: tagOf(operation, made?.etag ?? null) }
    },

    async abortUpload(path, uploadId) {
      const key = keyOf(path, 'abortUpload')
      for (let n = 0; n < ABORTS; n++) {
        await abort(key, uploadId)
        // A part that was under way may have arrived after the abort.
        if (!(await isThere(key, uploadId))) return
      }
    },

    async tryOut(directory, keep) {
      const path = `${directory === '' ? '' : `${directory}/`}.splicepoint`
      const key = keyOf(path, 'beginUpload')
      // An upload that is never completed: no object, no version of one and no event for it.
      const uploadId = await begin(key, 'application/octet-stream')
      await keep(uploadId, path)
      await abort(key, uploadId)
    },

    ...(presign === undefined ? {} : { address: (path) => presign(addressOf(store.place, keyOf(path, 'address'))) }),

    location: (path) => `${store.place.name}/${prefix}${path}`,
  }
  return sink
}

function base64(digest: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(digest)))
}
