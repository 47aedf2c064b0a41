// In charge of: writing to an http or https server with PUT. Small objects are sent at once. Large ones are staged in
// the service's own store and sent at the commit, as one PUT with its length. Whether a PUT is atomic depends on the
// server.
// Not in charge of: which addresses may be reached (guardedFetch.ts), the staging store (r2/r2Store.ts).
import { mapConcurrent } from '../../util/mapConcurrent.ts'
import type { CacheControlByKind, ObjectKind } from '../cacheControl.ts'
import { basicAuthorization, type HttpCredentials } from './httpSource.ts'
import { keyBelow } from '../keyBelow.ts'
import { StoreError, type Sink, type Source, type StoreErrorCode } from '../objectStore.ts'
import type { FetchFunction } from '../guardedFetch.ts'
import { fromBase64Url, toBase64Url } from '../../util/encoding.ts'
import { encodeKey } from '../s3/bucketAddress.ts'
import { bodyLengthError, isLengthError, retryAfterMs } from '../storeResponses.ts'

const PROVIDER = 'http'
/** Reads of a staged object: a local R2 GET of a multipart object has no backpressure, so each must fit into memory. */
const STAGED_READ_BYTES = 16 * 1024 * 1024
/** Maximum time without progress of the body, or without an answer after its end. */
const STALL_MS = 120_000
/** Concurrent requests when objects are deleted one by one. */
const DELETE_CONCURRENCY = 6

export interface HttpSinkOptions {
  /** `https://host:port`. */
  root: string
  access: HttpCredentials
  caching?: CacheControlByKind
  /** Must return redirects instead of following them, and wait long for an answer: it comes after the body. */
  transport: FetchFunction
  /** Holds objects that are not sent yet, and receipts of those that were. */
  staging: { sink: Sink; open: (path: string) => Source }
}

/** What a server accepted: the only record when the server does not allow reads. */
interface PutReceipt {
  size: number
  etag: string
}

const statuses: Readonly<Record<number, [StoreErrorCode, string]>> = {
  401: ['forbidden', 'does not accept the credentials'],
  403: ['forbidden', 'does not allow writing there'],
  404: ['not_found', 'has no such directory'],
  405: ['forbidden', 'does not accept files by PUT'],
  407: ['forbidden', 'does not accept the credentials'],
  408: ['unreachable', 'gave up waiting'],
  409: ['not_found', 'has no such directory'],
  413: ['too_large', 'does not accept a file of that size'],
  425: ['unreachable', 'asks to try again later'],
  429: ['unreachable', 'asks to try again later'],
  501: ['forbidden', 'does not accept files by PUT'],
  507: ['quota_exceeded', 'has no space left'],
}

export function httpSink({ root, access, caching, transport, staging }: HttpSinkOptions): Sink {
  const host = URL.parse(root)?.host ?? 'The server'

  function addressOf(path: string, operation: string): string {
    return `${root}/${encodeKey(keyBelow('', path, PROVIDER, operation))}`
  }

  async function ask(
    method: string,
    url: string,
    extra: Record<string, string>,
    init: RequestInit = {},
  ): Promise<Response> {
    const headers = new Headers({ accept: '*/*', 'accept-encoding': 'identity', ...extra })
    if (access.username || access.password) {
      headers.set('authorization', basicAuthorization(access.username ?? '', access.password ?? ''))
    }
    return transport(url, { ...init, method, headers })
  }

  async function refuse(operation: string, response: Response): Promise<never> {
    await response.body?.cancel()
    const { status } = response
    const [code, why] =
      status >= 300 && status < 400
        ? // A streamed body cannot be sent twice, and the credentials are for the host that the request names.
          (['forbidden', 'redirects instead of accepting the file; use the final address'] as const)
        : (statuses[status] ??
          (status >= 500
            ? (['unreachable', 'cannot accept the file at the moment'] as const)
            : (['forbidden', 'refuses the file'] as const)))
    const more = { retryAfterMs: retryAfterMs(response) }
    throw new StoreError(code, PROVIDER, operation, `${host} ${why} (${status}).`, status, more)
  }

  /** One PUT of exactly `size` bytes. @returns the server's ETag, or one made here */
  async function send(
    operation: string,
    path: string,
    body: ReadableStream<Uint8Array> | Uint8Array,
    size: number,
    contentType: string,
    kind: ObjectKind | null,
  ): Promise<string> {
    const url = addressOf(path, operation)
    const cacheControl = kind === null ? undefined : caching?.[kind]
    const headers = {
      'content-type': contentType,
      ...(cacheControl === undefined ? {} : { 'cache-control': cacheControl }),
    }
    const response =
      body instanceof Uint8Array
        ? await sendBytes(operation, url, headers, body, size)
        : await sendStream(operation, url, headers, body, size)
    if (response.status < 200 || response.status >= 300) return refuse(operation, response)
    await response.body?.cancel()
    return response.headers.get('etag') ?? `"sent-${size}"`
  }

  async function sendBytes(
    operation: string,
    url: string,
    headers: Record<string, string>,
    body: Uint8Array,
    size: number,
  ): Promise<Response> {
    if (body.byteLength !== size) throw bodyLengthError(PROVIDER, operation, size)
    return ask('PUT', url, headers, { body })
  }

  async function sendStream(
    operation: string,
    url: string,
    headers: Record<string, string>,
    body: ReadableStream<Uint8Array>,
    size: number,
  ): Promise<Response> {
    const stop = new AbortController()
    let timer: number | null = null
    const kick = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => stop.abort(new Error('stalled')), STALL_MS)
    }
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform(block, controller) {
        kick()
        controller.enqueue(block)
      },
    })
    // The runtime sends Content-Length for such a stream. Servers may refuse a body without it.
    const fixed = new FixedLengthStream(size)
    let wrong = false
    let broken: unknown = null
    const piped = body
      .pipeThrough(watched)
      .pipeTo(fixed.writable, { signal: stop.signal })
      .catch((error: unknown) => {
        if (isLengthError(error)) wrong = true
        else broken ??= error
      })
    kick()
    try {
      return await ask('PUT', url, headers, { body: fixed.readable, signal: stop.signal })
    } catch (error) {
      const stalled = stop.signal.aborted
      stop.abort()
      await piped
      if (wrong || isLengthError(error)) throw bodyLengthError(PROVIDER, operation, size, 'body_broken')
      if (broken instanceof StoreError) throw broken
      if (!stalled) throw error
      const why = `${host} accepted no data for ${STALL_MS / 1000} seconds.`
      throw new StoreError('unreachable', PROVIDER, operation, why)
    } finally {
      clearTimeout(timer)
    }
  }

  async function receipt(path: string): Promise<PutReceipt | null> {
    const name = await receiptKey('sent', path)
    const there = await staging.sink.stat(name)
    if (there === null) return null
    const { body } = await staging.open(name).read(null)
    return new Response(body).json<PutReceipt>()
  }

  async function keepReceipt(path: string, made: PutReceipt): Promise<void> {
    const bytes = new TextEncoder().encode(JSON.stringify(made))
    await staging.sink.put(await receiptKey('sent', path), bytes, bytes.byteLength, 'application/json')
  }

  const sink: Sink = {
    async put(path, body, size, contentType, kind = 'file') {
      return { etag: await send('put', path, body, size, contentType, kind) }
    },

    async stat(path) {
      const response = await ask('HEAD', addressOf(path, 'stat'), {})
      await response.body?.cancel()
      const { status } = response
      if (status === 404 || status === 410) return null
      const length = response.headers.get('content-length')
      const etag = response.headers.get('etag') ?? response.headers.get('last-modified')
      if (status === 200 && length !== null && /^\d+$/.test(length)) {
        return { size: Number(length), etag: etag ?? `"sent-${length}"` }
      }
      if (status === 429 || (status >= 500 && status !== 501)) return refuse('stat', response)
      // The server does not allow reads: its answer to the PUT is all that is known.
      return receipt(path)
    },

    async delete(path) {
      const response = await ask('DELETE', addressOf(path, 'delete'), {})
      await response.body?.cancel()
      await staging.sink.delete(await receiptKey('sent', path))
      // A server that does not delete keeps the object. That is allowed (best effort) and no reason to retry for days.
      if (response.status === 429 || (response.status >= 500 && response.status !== 501))
        await refuse('delete', response)
    },

    async deleteMany(paths) {
      for (const path of paths) keyBelow('', path, PROVIDER, 'deleteMany')
      await mapConcurrent(paths, DELETE_CONCURRENCY, (path) => sink.delete(path))
    },

    // The content type is part of the id, for the PUT at the end.
    async beginUpload(path, contentType) {
      keyBelow('', path, PROVIDER, 'beginUpload')
      const id = await staging.sink.beginUpload(await receiptKey('put', path), contentType)
      return `${id}.${toBase64Url(contentType)}`
    },

    async uploadPart(path, upload, n, body, size) {
      return staging.sink.uploadPart(await receiptKey('put', path), stagedUploadId(upload), n, body, size)
    },

    async completeUpload(path, upload, parts) {
      const staged = await receiptKey('put', path)
      try {
        await staging.sink.completeUpload(staged, stagedUploadId(upload), parts)
      } catch (error) {
        // Assembled by an earlier try that died before it sent the object?
        const isGone = error instanceof StoreError && error.code === 'no_such_upload'
        if (!isGone || (await staging.sink.stat(staged)) === null) throw error
      }
      const there = await staging.sink.stat(staged)
      if (there === null) throw new StoreError('no_such_upload', PROVIDER, 'completeUpload', 'There is no such upload.')
      const body = streamInRanges(staging.open(staged), there.size)
      const etag = await send('completeUpload', path, body, there.size, contentTypeOfUpload(upload), 'file')
      await keepReceipt(path, { size: there.size, etag })
      await staging.sink.delete(staged)
      return { etag }
    },

    async abortUpload(path, upload) {
      keyBelow('', path, PROVIDER, 'abortUpload')
      const staged = await receiptKey('put', path)
      await staging.sink.abortUpload(staged, stagedUploadId(upload))
      await staging.sink.delete(staged)
    },

    async probeWrite(directory) {
      // Only a write can test this: one byte, always under the same name, and deleted if the server allows that.
      const path = `${directory === '' ? '' : `${directory}/`}.splicepoint`
      await send('tryOut', path, new Uint8Array([10]), 1, 'text/plain', null)
      const response = await ask('DELETE', addressOf(path, 'tryOut'), {}).catch(() => null)
      await response?.body?.cancel()
    },

    location: (path) => `${root}/${encodeKey(path)}`,
  }
  return sink
}

/** A digest, because a path of the maximum length would not fit after the prefix. */
async function receiptKey(kind: 'put' | 'sent', path: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(path))
  return `${kind}/${toBase64Url(digest)}`
}

function contentTypeOfUpload(upload: string): string {
  const bytes = fromBase64Url(upload.slice(upload.lastIndexOf('.') + 1))
  return bytes === null || bytes.length === 0 ? 'application/octet-stream' : new TextDecoder().decode(bytes)
}

function stagedUploadId(upload: string): string {
  return upload.slice(0, upload.lastIndexOf('.'))
}

/** A whole staged object, read in ranges; each range is requested when the previous one was consumed. */
function streamInRanges(source: Source, size: number): ReadableStream<Uint8Array> {
  let at = 0
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          if (reader === null) {
            if (at >= size) return controller.close()
            const length = Math.min(STAGED_READ_BYTES, size - at)
            reader = (await source.read({ offset: at, length })).body.getReader()
            at += length
          }
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          reader = null
        }
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
