// In charge of: the tus 1.0.0 protocol at /uploads (https://tus.io/protocols/resumable-upload, quoted where it is
// applied).
// Not in charge of: an upload's bytes and its end (resumableUpload.ts), uploads in one request (uploadRoutes.ts).
import type { Context, Next } from 'hono'
import type { Upload } from '#contract/api/answers.ts'
import { RETENTION_DAYS } from '#contract/limits.ts'
import { publicBaseUrl, type AppEnv } from '../../http/context.ts'
import { deleteUploadByNumber } from '../deleteUpload.ts'
import { deleteUpload, findAnyUpload } from '../../db/uploads.ts'
import { methodNotAllowed, notFound, RequestError } from '../../http/requestError.ts'
import { reserveUpload, requireWithinTokenLimit } from '../uploadQuota.ts'
import {
  tusCapabilities,
  checkVersion,
  TUS_BLOCK_TYPE,
  isBlock,
  uploadChecksum,
  uploadLength,
  uploadMetadata,
  uploadOffset,
  TUS_VERSION,
} from './tusHeaders.ts'
import { resumableUpload, uploadStateHeaders } from './resumableUpload.ts'

const UNFINISHED_MS = RETENTION_DAYS.unfinished_uploads * 86_400_000

/** For all answers below /uploads, including errors. */
export async function tusHeaders(c: Context<AppEnv>, next: Next): Promise<void> {
  await next()
  const isOptions = c.req.method === 'OPTIONS'
  // "The Tus-Resumable header MUST be included in every request and response except for OPTIONS requests."
  if (isTusRequest(c) && !isOptions) c.res.headers.set('tus-resumable', TUS_VERSION)
  // "A successful response indicated by the 204 No Content or 200 OK status MUST contain the Tus-Version header."
  if (isOptions) for (const [name, value] of Object.entries(tusCapabilities)) c.res.headers.set(name, value)
}

/** "The actual method of the request MUST be ignored" if the header is present. */
export function effectiveMethod(c: Context<AppEnv>): string {
  return (c.req.header('x-http-method-override') ?? c.req.method).toUpperCase()
}

/** GET is not part of the protocol: it always reads the file. PATCH always is. */
export function isTusRequest(c: Context<AppEnv>): boolean {
  return effectiveMethod(c) !== 'GET' && (c.req.header('tus-resumable') !== undefined || effectiveMethod(c) === 'PATCH')
}

/** The upload number in the path, as text; '' = the collection. */
export function uploadNumberInPath(c: Context<AppEnv>): string {
  return /\/uploads\/?([^/]*)$/.exec(c.req.path)?.[1] ?? ''
}

/** Handles tus requests and passes on all others. */
export async function tusProtocol(c: Context<AppEnv>, next: Next): Promise<Response | void> {
  if (!isTusRequest(c)) return next()
  checkVersion(c.req.raw.headers)
  const text = uploadNumberInPath(c)
  if (text === '') {
    if (effectiveMethod(c) === 'POST') return createUpload(c)
    throw methodNotAllowed('POST, OPTIONS')
  }
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound()
  switch (effectiveMethod(c)) {
    case 'HEAD':
      return headUpload(c, Number(text))
    case 'PATCH':
      return patchUpload(c, Number(text))
    case 'DELETE':
      return terminateUpload(c, Number(text))
    default:
      throw methodNotAllowed('HEAD, PATCH, DELETE, GET, OPTIONS')
  }
}

async function createUpload(c: Context<AppEnv>): Promise<Response> {
  const { headers, body } = c.req.raw
  const length = uploadLength(headers)
  const { raw: metadata, name, contentType } = uploadMetadata(headers)
  requireWithinTokenLimit(c, length, 'Upload-Length')
  const withUpload = hasBody(c)
  if (withUpload) checkBlock(c)
  const [account, now] = [c.get('account'), Date.now()]
  const key = `uploads/${account}/${crypto.randomUUID()}`
  const expiresAt = now + UNFINISHED_MS
  const row = { key, name, content_type: contentType, created_at: now, expires_at: expiresAt, announcedBytes: length }
  const number = await reserveUpload(c, row)
  try {
    await resumableUpload(c.env, number).create({
      number,
      account,
      key,
      name,
      contentType,
      metadata,
      length,
      expiresAt,
    })
  } catch (error) {
    // The client does not know the number, and the announced bytes would count against its quota for days.
    await deleteUpload(c.env.DB, account, number)
    throw error
  }
  const input = `${publicBaseUrl(c)}/uploads/${number}`
  let standing: Record<string, string> = uploadStateHeaders({ offset: 0, expiresAt })
  if (withUpload && body) {
    const stored = await forwardBlock(c, number, 0)
    if (!stored.ok) {
      // The client does not know the address, so it could not continue.
      await resumableUpload(c.env, number).terminate(account)
      return stored
    }
    standing = Object.fromEntries(stored.headers)
  }
  const expires_at = new Date(standing['upload-expires'] ?? expiresAt).toISOString()
  const answer: Upload = { uploaded_file_number: number, input, name, size: length, expires_at }
  return c.json(answer, 201, {
    location: input,
    'uploaded-file-number': String(number),
    'upload-offset': standing['upload-offset'] ?? '0',
    'upload-expires': standing['upload-expires'] ?? '',
  })
}

function hasBody(c: Context<AppEnv>): boolean {
  const length = c.req.header('content-length')
  return c.req.raw.body !== null && length !== '0' && (length !== undefined || isBlock(c.req.raw.headers))
}

/** Checks that are possible before the first byte of a block. */
function checkBlock(c: Context<AppEnv>): void {
  const { headers } = c.req.raw
  // "All PATCH requests MUST use Content-Type: application/offset+octet-stream, otherwise the server SHOULD return a
  // 415".
  if (!isBlock(headers)) {
    throw new RequestError('unsupported_media_type', `A chunk must have the header Content-Type: ${TUS_BLOCK_TYPE}.`)
  }
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity') {
    throw new RequestError('unsupported_media_type', 'Send the chunk as it is, without Content-Encoding.')
  }
  uploadChecksum(headers)
}

async function patchUpload(c: Context<AppEnv>, number: number): Promise<Response> {
  checkBlock(c)
  const offset = uploadOffset(c.req.raw.headers)
  await findUploadState(c, number)
  return forwardBlock(c, number, offset)
}

async function forwardBlock(c: Context<AppEnv>, number: number, offset: number): Promise<Response> {
  const headers = new Headers({ 'x-account': c.get('account'), 'upload-offset': String(offset) })
  const [length, checksum] = [c.req.header('content-length'), c.req.header('upload-checksum')]
  if (length !== undefined) headers.set('x-length', length)
  if (checksum !== undefined) headers.set('upload-checksum', checksum)
  const request = new Request('https://upload/', { method: 'PATCH', headers, body: c.req.raw.body })
  const stored = resumableUpload(c.env, number).fetch(request)
  // If the client disconnects, this handler ends, but what was sent must still be stored.
  c.executionCtx.waitUntil(stored.catch(() => undefined))
  const response = await stored
  return new Response(response.body, response)
}

/** @throws RequestError 404 for an upload that this account never had, 410 for one that is gone */
async function findUploadState(c: Context<AppEnv>, number: number) {
  const account = c.get('account')
  const row = await findAnyUpload(c.env.DB, account, number)
  const standing = await resumableUpload(c.env, number).state(account)
  const over = !row || row.expires_at <= Date.now() || standing?.state === 'gone'
  if (standing && over) throw new RequestError('gone', 'This upload has expired or was deleted. Start a new one.')
  if (standing?.needsCompletion) {
    throw new RequestError('unavailable', 'All bytes are stored and the file is being assembled. Try again shortly.', {
      headers: { 'retry-after': '2' },
    })
  }
  if (standing) return standing
  // A file that was sent in one request is a complete upload.
  if (row?.state !== 'ready' || over) throw notFound()
  return { offset: row.size ?? 0, length: row.size ?? 0, metadata: null, expiresAt: row.expires_at, state: row.state }
}

async function headUpload(c: Context<AppEnv>, number: number): Promise<Response> {
  const standing = await findUploadState(c, number)
  const headers = new Headers({
    // "The Server MUST always include the Upload-Offset header in the response for a HEAD request".
    ...uploadStateHeaders(standing),
    'upload-length': String(standing.length),
    // "The Server MUST prevent the client and/or proxies from caching the response by adding the Cache-Control:
    // no-store header".
    'cache-control': 'no-store',
  })
  if (standing.metadata !== null) headers.set('upload-metadata', standing.metadata)
  return new Response(null, { status: 200, headers })
}

/**
 * "the Server SHOULD free associated resources and MUST respond with the 204 No Content status confirming that the
 * upload was terminated"
 */
async function terminateUpload(c: Context<AppEnv>, number: number): Promise<Response> {
  if (await deleteUploadByNumber(c.env, c.get('account'), number)) return c.body(null, 204)
  // Answers 410 for an upload that existed.
  await findUploadState(c, number)
  throw notFound()
}
