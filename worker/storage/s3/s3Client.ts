// In charge of: one request to an S3-compatible store: address, signature, body with its length, and errors as
// StoreError.
// Not in charge of: which requests make up a read or an upload (s3Source.ts, s3Sink.ts), retries (the caller).
import { StoreError } from '../objectStore.ts'
import { readBoundedText } from '../boundedBody.ts'
import { bodyLengthError, isLengthError, MAX_ANSWER_BYTES, retryAfterMs } from '../storeResponses.ts'
import type { FetchFunction } from '../guardedFetch.ts'
import { objectUrl, type BucketAddress } from './bucketAddress.ts'
import type { UrlPresigner, RequestSigner } from './sigV4.ts'
import { mapS3Error } from './s3Errors.ts'
import { parseXml, elementText, type XmlElement } from './s3Xml.ts'
import { sha256Hex } from '../../util/encoding.ts'

/** One store, one bucket, one key: all that differs between providers. */
export interface S3Store {
  /** Used in errors: `aws`. */
  provider: string
  bucketAddress: BucketAddress
  sign: RequestSigner
  /** Missing if every URL would contain a secret. */
  presign?: UrlPresigner | undefined
  /** Must return redirects instead of following them: a signature covers the host. */
  transport: FetchFunction
  /** False if the store has no `POST ?delete`: objects are deleted one by one. */
  supportsDeleteObjects: boolean
  /** Fields of the credential that contain the key; for messages. */
  credentialNames?: string
}

export interface S3Request {
  operation: string
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** '' = the bucket. */
  key: string
  query?: Record<string, string>
  /** Sent, but not covered by the signature: headers that proxies may change. */
  headers?: Record<string, string>
  /** Headers that the signature covers. */
  signed?: Record<string, string>
  body?: Uint8Array | null
  /** Instead of `body`: exactly `size` bytes, streamed. */
  stream?: { body: ReadableStream<Uint8Array>; size: number }
  /** Statuses that are no error for this request. */
  accept?: readonly number[]
}

/** Larger bodies are not hashed: the signature does not cover them, as for a stream. */
const MAX_HASHED_BYTES = 1024 * 1024

/** @throws StoreError for every status from 300 on that is not in `accept` */
export async function sendS3Request(store: S3Store, request: S3Request): Promise<Response> {
  const { operation, method, key } = request
  const url = objectUrl(store.bucketAddress, key, request.query)
  const body = request.body ?? null
  const streams = request.stream !== undefined || (body !== null && body.byteLength > MAX_HASHED_BYTES)
  const headers = await store.sign({
    method,
    url,
    headers: new Headers(request.signed),
    bodyHash: streams ? null : await sha256Hex(body ?? ''),
  })
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value)
  headers.set('accept-encoding', 'identity')
  const response = request.stream
    ? await putStream(store, operation, url, { method, headers }, request.stream)
    : await store.transport(url, { method, headers, ...(body === null ? {} : { body }) })
  if (response.status < 300 || request.accept?.includes(response.status)) return response
  throw await responseError(store, operation, response)
}

/** Reads an XML answer of at most `limit` bytes. A 200 may contain an error too. @throws StoreError */
export async function readXmlResponse(
  store: S3Store,
  operation: string,
  response: Response,
  limit = MAX_ANSWER_BYTES,
): Promise<XmlElement> {
  const text = await readBoundedText(response, limit)
  const root = text === null ? null : parseXml(text)
  // Amazon, CompleteMultipartUpload: "a 200 OK response can contain either a success or an error".
  if (root?.name === 'Error') throw errorFromResponse(store, operation, response, root)
  if (root) return root
  // The answer was cut off, or a proxy sent a page. The operation may have succeeded, and can be repeated.
  throw new StoreError(
    'unreachable',
    store.provider,
    operation,
    `${store.bucketAddress.name} answered without XML.`,
    response.status,
  )
}

/** Reads the body of an error answer, if it has one. */
export async function responseError(store: S3Store, operation: string, response: Response): Promise<StoreError> {
  const text = await readBoundedText(response, MAX_ANSWER_BYTES).catch(() => null)
  const root = text === null ? null : parseXml(text)
  return errorFromResponse(store, operation, response, root?.name === 'Error' ? root : null)
}

function errorFromResponse(
  store: S3Store,
  operation: string,
  response: Response,
  error: XmlElement | null,
): StoreError {
  return mapS3Error(store.provider, store.bucketAddress.name, operation, {
    status: response.status,
    code: elementText(error, 'Code'),
    region: elementText(error, 'Region') ?? response.headers.get('x-amz-bucket-region'),
    retryAfterMs: retryAfterMs(response),
    credentialNames: store.credentialNames,
  })
}

/** The error of one entry in an answer about several objects. */
export function entryError(store: S3Store, operation: string, code: string | null): StoreError {
  return mapS3Error(store.provider, store.bucketAddress.name, operation, {
    status: 200,
    code,
    region: null,
    retryAfterMs: null,
  })
}

/** Sends a body of exactly `size` bytes, with its length. */
export async function putStream(
  store: Pick<S3Store, 'provider' | 'transport'>,
  operation: string,
  url: string,
  init: { method: string; headers: Headers },
  { body, size }: { body: ReadableStream<Uint8Array>; size: number },
): Promise<Response> {
  // The runtime sends Content-Length for such a stream, and S3 requires it.
  const fixed = new FixedLengthStream(size)
  const stop = new AbortController()
  let wrong = false
  const piped = body.pipeTo(fixed.writable, { signal: stop.signal }).catch((error: unknown) => {
    wrong = isLengthError(error)
  })
  try {
    return await store.transport(url, { ...init, body: fixed.readable })
  } catch (error) {
    // A store that refuses early does not read the rest of the body, so the pipe must be ended here.
    stop.abort()
    await piped
    throw wrong || isLengthError(error) ? bodyLengthError(store.provider, operation, size, 'body_broken') : error
  }
}
