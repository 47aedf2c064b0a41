// In charge of: answering GET and HEAD with an object of the service's bucket: conditional requests, Range, exact
// lengths (RFC 9110 §13, §14).
// Not in charge of: access control, headers of single routes.
import type { Context } from 'hono'
import type { AppEnv } from '../http/context.ts'
import { contentRange, parseRange, type ByteSpan } from '../util/byteRange.ts'
import { notFound, RequestError } from '../http/requestError.ts'
import { r2Source } from '../storage/r2/r2Store.ts'

/** Bytes per read: a local R2 GET of a multipart object has no backpressure. */
const WINDOW_BYTES = 32 * 1024 * 1024

/** A stored file comes from a customer and must never run as a page of the service. */
const safetyHeaders = {
  'accept-ranges': 'bytes',
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
}

/** These describe the object, so answers without it do not have them. */
const OBJECT_HEADERS = new Set(['content-type', 'content-disposition'])

/**
 * The headers from the callback replace the defaults. They are part of every answer, including errors, except those
 * that describe the object. The callback gets null if the object does not exist.
 * @throws RequestError not_found, range_not_satisfiable
 */
export async function serveStoredObject(
  c: Context<AppEnv>,
  key: string,
  told: (object: R2Object | null) => Readonly<Record<string, string>>,
): Promise<Response> {
  const object = await c.env.BUCKET.head(key)
  const extra = told(object)
  const onErrors = Object.fromEntries(Object.entries(extra).filter(([name]) => !OBJECT_HEADERS.has(name)))
  if (!object) throw new RequestError('not_found', notFound().message, { headers: onErrors })
  const headers = new Headers({
    ...safetyHeaders,
    // Without a type, a 200 is compressed in transit and loses its length.
    'content-type': object.httpMetadata?.contentType ?? 'application/octet-stream',
    etag: object.httpEtag,
    'last-modified': object.uploaded.toUTCString(),
    ...extra,
  })
  const request = c.req.raw.headers
  const failed = failedCondition(request, object)
  if (failed) return new Response(null, { status: failed, headers })

  // RFC 9110 §14.2: Range is defined for GET only.
  const ranged = c.req.method === 'GET' && ifRangeMatches(request.get('if-range'), object)
  const range = ranged ? parseRange(request.get('range'), object.size) : 'whole'
  if (range === 'unsatisfiable') {
    throw new RequestError('range_not_satisfiable', `The object has ${object.size} bytes.`, {
      headers: { ...onErrors, 'content-range': contentRange(null, object.size) },
    })
  }
  const span = range === 'whole' ? { offset: 0, length: object.size } : range
  headers.set('content-length', String(span.length))
  if (range !== 'whole') headers.set('content-range', contentRange(span, object.size))
  const body = c.req.method === 'HEAD' ? null : await streamRange(c.env.BUCKET, key, object.httpEtag, span)
  return new Response(body, { status: range === 'whole' ? 200 : 206, headers })
}

/** Status of the answer if a precondition fails, in the order of RFC 9110 §13.2.2. */
function failedCondition(request: Headers, object: R2Object): 304 | 412 | null {
  const second = Math.floor(object.uploaded.getTime() / 1000) * 1000
  const match = request.get('if-match')
  const unmodified = Date.parse(request.get('if-unmodified-since') ?? '')
  if (match !== null ? !listsEtag(match, object.httpEtag) : second > unmodified) return 412
  const none = request.get('if-none-match')
  const modified = Date.parse(request.get('if-modified-since') ?? '')
  if (none !== null ? listsEtag(none, object.httpEtag) : second <= modified) return 304
  return null
}

function listsEtag(field: string, etag: string): boolean {
  const tags = field.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return field.trim() === '*' || tags.includes(etag)
}

/** RFC 9110 §13.1.5: the same strong ETag or exactly the same date; else Range is ignored. */
function ifRangeMatches(ifRange: string | null, object: R2Object): boolean {
  return ifRange === null || ifRange.trim() === object.httpEtag || ifRange.trim() === object.uploaded.toUTCString()
}

/** The first window is opened before the headers are sent, so that an error becomes an error answer. */
async function streamRange(bucket: R2Bucket, key: string, etag: string, span: ByteSpan): Promise<ReadableStream> {
  const fixed = new FixedLengthStream(span.length)
  const source = r2Source(bucket, key)
  const end = span.offset + span.length
  const open = (offset: number) => source.read({ offset, length: Math.min(WINDOW_BYTES, end - offset) }, etag)
  const first = span.length > 0 ? await open(span.offset) : null
  const pump = async (): Promise<void> => {
    let window = first
    for (let offset = span.offset; window; offset += WINDOW_BYTES) {
      await window.body.pipeTo(fixed.writable, { preventClose: true })
      window = offset + WINDOW_BYTES < end ? await open(offset + WINDOW_BYTES) : null
    }
    await fixed.writable.close()
  }
  // Ends if the client disconnects. If the store fails, the body is cut off, which its length reveals.
  void pump().catch((error: unknown) => fixed.writable.abort(error).catch(() => undefined))
  return fixed.readable
}
