// In charge of: one request to Oracle's native Object Storage API: address, signature, body with its length, and errors
// as StoreError.
// Not in charge of: which requests make up a read or an upload (ociSource.ts, ociSink.ts), retries (the caller).
import { putStream } from '../s3/s3Client.ts'
import { encodeKey } from '../s3/bucketAddress.ts'
import type { StoreError } from '../objectStore.ts'
import { readBoundedJson } from '../boundedBody.ts'
import { MAX_ANSWER_BYTES, retryAfterMs } from '../storeResponses.ts'
import type { FetchFunction } from '../guardedFetch.ts'
import { ociEndpoint, ociBucketName, type OciBucketAddress } from './ociAddress.ts'
import type { OciSigner } from './ociSignature.ts'
import { mapOciError } from './ociErrors.ts'

export interface OciStore {
  bucketAddress: OciBucketAddress
  sign: OciSigner
  /** Must return redirects instead of following them: a signature covers the host. */
  transport: FetchFunction
}

export interface OciRequest {
  operation: string
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Below the bucket: `o` and an object, `u` and an upload's object, `actions` and a name. */
  path: readonly [string, ...string[]]
  query?: Record<string, string>
  /** Sent, but not covered by the signature. */
  headers?: Record<string, string>
  /** Body of a POST. */
  json?: unknown
  /** Body of a PUT. It is not signed (Oracle, "Request Signatures": PutObject, UploadPart). */
  put?: { body: ReadableStream<Uint8Array> | Uint8Array; size: number; contentType: string }
  /** Statuses that are no error for this request. */
  accept?: readonly number[]
}

const PROVIDER = 'oracle'

/** @throws StoreError for every status from 300 on that is not in `accept` */
export async function sendOciRequest(store: OciStore, request: OciRequest): Promise<Response> {
  const { operation, method, path, query = {}, put } = request
  const pairs = Object.entries(query).map((pair) => pair.map(encodePathSegment).join('='))
  const search = pairs.length > 0 ? `?${pairs.join('&')}` : ''
  const url = `${ociEndpoint(store.bucketAddress)}/${path.map(encodePathSegment).join('/')}${search}`
  const json = request.json === undefined ? undefined : new TextEncoder().encode(JSON.stringify(request.json))
  const headers = await store.sign({
    method,
    url,
    ...(json === undefined ? {} : { body: json, contentType: 'application/json' }),
    ...(put === undefined ? {} : { body: null, contentType: put.contentType }),
  })
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value)
  headers.set('accept-encoding', 'identity')
  const init = { method, headers }
  const response =
    put && !(put.body instanceof Uint8Array)
      ? await putStream({ provider: PROVIDER, transport: store.transport }, operation, url, init, {
          body: put.body,
          size: put.size,
        })
      : await store.transport(url, { ...init, ...bodyOf(json ?? put?.body) })
  if (response.status < 300 || request.accept?.includes(response.status)) return response
  throw await responseError(store, operation, response)
}

function bodyOf(body: ReadableStream<Uint8Array> | Uint8Array | undefined): { body?: Uint8Array } {
  return body instanceof Uint8Array ? { body } : {}
}

/** Encodes slashes too: an object's name is a single segment of the path. */
function encodePathSegment(text: string): string {
  return encodeKey(text).replaceAll('/', '%2F')
}

/** The members of a JSON answer; none if it is not a JSON object, or has more than `limit` bytes. */
export function readOciJson(response: Response, limit = MAX_ANSWER_BYTES): Promise<Record<string, unknown>> {
  return readBoundedJson(response, limit)
}

async function responseError(store: OciStore, operation: string, response: Response): Promise<StoreError> {
  const { code } = await readOciJson(response)
  const date = Date.parse(response.headers.get('date') ?? '')
  return mapOciError(ociBucketName(store.bucketAddress), {
    operation,
    status: response.status,
    code: typeof code === 'string' ? code : null,
    clockAheadMs: Number.isNaN(date) ? null : date - Date.now(),
    retryAfterMs: retryAfterMs(response),
  })
}
