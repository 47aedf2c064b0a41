// In charge of: what the strict servers in memory have in common: requests, answers, refusals, stored objects and
// reading them by condition and range.
// Not in charge of: the API of a vendor (s3.ts, oracleStorage.ts), HTTP (fetchTransport.ts, httpServer.ts).

export interface FakeRequest {
  method: string
  /** Path and query as they were sent. */
  target: string
  headers: ReadonlyMap<string, string>
  body: Uint8Array
}

export interface FakeAnswer {
  status: number
  headers: Record<string, string>
  body: Uint8Array | string | FileRange
}

/** Bytes `first` to `last` of a file, streamed by the HTTP server. */
export interface FileRange {
  file: string
  first: number
  last: number
}

export interface StoredObject {
  bytes: Uint8Array
  /** If only the size is kept, and for a file on disk. */
  size?: number
  file?: string
  etag: string
  type: string
  /** Cache-Control as it was sent; returned with the object. */
  cache?: string | undefined
}

/** A request that the vendor answers with this error. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly more: string
  constructor(status: number, code: string, more = '') {
    super(code)
    this.status = status
    this.code = code
    this.more = more
  }
}

/** The bytes of an answer, for callers without a socket to stream a file to. */
export function bytesOf(body: FakeAnswer['body']): Uint8Array {
  if (typeof body === 'object' && 'file' in body) throw new Error('a file needs a socket')
  return typeof body === 'string' ? new TextEncoder().encode(body) : body
}

/**
 * Answers a GET or HEAD of the object, with its condition and its range. `codes`: the vendor's names of the errors.
 * `missingBytes`: how many of the announced bytes the body lacks.
 */
export function readObject(
  found: StoredObject | undefined,
  { method, headers }: FakeRequest,
  codes: { missing: string; condition: string },
  missingBytes = 0,
): FakeAnswer {
  if (!found) throw new Refused(404, codes.missing)
  const match = headers.get('if-match')
  if (match !== undefined && match !== found.etag) throw new Refused(412, codes.condition)
  const size = found.size ?? found.bytes.length
  const { file } = found
  const span = (first: number, last: number): Uint8Array | FileRange =>
    file === undefined ? found.bytes.subarray(first, last + 1 - missingBytes) : { file, first, last }
  const caching = found.cache === undefined ? {} : { 'cache-control': found.cache }
  const objectHeaders = { etag: found.etag, 'content-type': found.type, 'accept-ranges': 'bytes', ...caching }
  const range = /^bytes=(\d+)-(\d*)$/.exec(headers.get('range') ?? '')
  if (!range || method === 'HEAD') {
    const body = method === 'HEAD' ? '' : span(0, size - 1)
    return { status: 200, headers: { ...objectHeaders, 'content-length': String(size) }, body }
  }
  const first = Number(range[1])
  const last = Math.min(range[2] ? Number(range[2]) : size - 1, size - 1)
  if (first >= size) throw new Refused(416, 'InvalidRange', `<ActualObjectSize>${size}</ActualObjectSize>`)
  const length = { 'content-range': `bytes ${first}-${last}/${size}`, 'content-length': String(last + 1 - first) }
  return { status: 206, headers: { ...objectHeaders, ...length }, body: span(first, last) }
}
