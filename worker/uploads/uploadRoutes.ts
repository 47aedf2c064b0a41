// In charge of: files that a client uploads as the input of a job (specification 2.1 input, file-upload): sending one
// in a single request, as its body or in a form; listing, reading and deleting files.
// Not in charge of: parsing the body (receiveUpload.ts), resumable uploads at the same address (tus/tusRoutes.ts),
// jobs.
import { settings } from '../env.ts'
import { zValidator } from '@hono/zod-validator'
import { Hono, type Context } from 'hono'
import * as z from 'zod/mini'
import type { ListedUpload, Upload } from '#contract/api/answers.ts'
import { MAX_UPLOAD_BYTES } from '#contract/limits.ts'
import { deleteUploadByNumber } from './deleteUpload.ts'
import { publicBaseUrl, type AppEnv } from '../http/context.ts'
import { decodePoster } from '../db/jobs.ts'
import { deleteUpload, findUpload, listUploads, markUploadReady, type ListedUploadRow } from '../db/uploads.ts'
import { notFound, RequestError } from '../http/requestError.ts'
import { onInvalidQuery } from '../http/validationErrors.ts'
import { reserveUpload, requireWithinTokenLimit } from './uploadQuota.ts'
import { resumableUpload } from './tus/resumableUpload.ts'
import { TOKEN_ID } from './authenticateUpload.ts'
import { attachmentDisposition, sanitizeFileName, fileNameFromDisposition, safeContentType } from '../http/fileNames.ts'
import { pageCursor, pageLimit, pageQuery, searchText } from '../http/pageQuery.ts'
import { deleteObject, receiveForm, receiveRaw } from './receiveUpload.ts'
import { outputsExpireAt, signedPosterUrl } from '../delivery/posterRoutes.ts'
import { serveStoredObject } from '../delivery/serveObject.ts'
import { tusProtocol } from './tus/tusRoutes.ts'

/** A row whose bytes never arrived is deleted after this time, which is longer than any request of 100 MB may take. */
const DAY_MS = 86_400_000
const RECEIVE_TIMEOUT_MS = 6 * 3600 * 1000

/** Allowance for the form's other content: the size of the file itself is not known in advance. */
const FORM_BYTES = 64 * 1024

interface UploadRequest {
  account: string
  name: string | null
  contentType: string
  length: number
  body: ReadableStream<Uint8Array>
}

/** @throws RequestError for everything that can be checked before the first byte */
function parseUploadRequest(c: Context<AppEnv>): UploadRequest {
  const header = (name: string): string | null => c.req.raw.headers.get(name)
  const coding = header('content-encoding')?.trim().toLowerCase()
  if (coding && coding !== 'identity') {
    throw new RequestError('unsupported_media_type', 'Send the file as it is, without Content-Encoding.')
  }
  const text = header('content-length')
  if (text === null || !/^\d+$/.test(text)) {
    throw new RequestError(
      'length_required',
      'An upload needs a Content-Length header. Send a file of known size instead of a chunked body (curl: --data-binary @file or -F file=@file).',
    )
  }
  const length = Number(text)
  if (length > MAX_UPLOAD_BYTES) {
    throw new RequestError(
      'too_large',
      `A request may have at most ${MAX_UPLOAD_BYTES} bytes; this one has ${length}. Send larger files with tus (docs/uploads.md).`,
      {
        details: { maximum: MAX_UPLOAD_BYTES },
      },
    )
  }
  const body = c.req.raw.body
  if (length === 0 || !body) throw new RequestError('invalid_request', 'The body is empty: there is no file in it.')
  return {
    account: c.get('account'),
    name: sanitizeFileName(c.req.query('name') ?? fileNameFromDisposition(header('content-disposition'))),
    contentType: header('content-type') ?? '',
    length,
    body,
  }
}

async function storeUpload(c: Context<AppEnv>, request: UploadRequest, now: number) {
  const { env } = c
  const key = `uploads/${request.account}/${crypto.randomUUID()}`
  const isForm = /^multipart\/form-data\b/i.test(request.contentType)
  requireWithinTokenLimit(c, isForm ? request.length - FORM_BYTES : request.length)
  const number = await reserveUpload(c, {
    key,
    // For a form slightly more than its file; corrected when the file is complete.
    announcedBytes: request.length,
    name: request.name ?? 'upload',
    content_type: safeContentType(request.contentType),
    created_at: now,
    expires_at: now + RECEIVE_TIMEOUT_MS,
  })
  try {
    const received = isForm
      ? await receiveForm(env.BUCKET, key, request.body, request.contentType)
      : await receiveRaw(env.BUCKET, key, request.body, request.length, safeContentType(request.contentType))
    requireWithinTokenLimit(c, received.size)
    const name = request.name ?? sanitizeFileName(received.name) ?? 'upload'
    const expires_at = now + settings(env).retentionDays.uploads * DAY_MS
    const { size, etag, contentType: content_type } = received
    if (!(await markUploadReady(env.DB, number, { name, content_type, size, etag, expires_at }))) {
      // Deleted by the reconciler if it expired, else by the account.
      throw Date.now() < now + RECEIVE_TIMEOUT_MS
        ? new RequestError('gone', 'The upload was deleted while it was being received.')
        : new RequestError('unavailable', 'The upload took too long. Send it again.')
    }
    return { number, name, size, expires_at }
  } catch (error) {
    // The object first: as long as the row exists, the reconciler finds what could not be deleted now.
    await deleteObject(env.BUCKET, key)
    await deleteUpload(env.DB, request.account, number)
    throw error
  }
}

export const uploadRoutes = new Hono<AppEnv>().use(tusProtocol)

uploadRoutes.post('/', async (c) => {
  const work = storeUpload(c, parseUploadRequest(c), Date.now())
  // If the client disconnects, the handler ends, but what was received must still be removed.
  c.executionCtx.waitUntil(work.catch(() => undefined))
  const { number, name, size, expires_at } = await work
  const input = `${publicBaseUrl(c)}/uploads/${number}`
  const answer = {
    uploaded_file_number: number,
    input,
    name,
    size,
    expires_at: new Date(expires_at).toISOString(),
  } satisfies Upload
  return c.json(answer, 201, { location: input })
})

const listQuery = z.strictObject({
  limit: pageLimit,
  cursor: pageCursor,
  state: z.optional(z.enum(['receiving', 'ready'])),
  token: z.optional(z.string().check(z.regex(new RegExp(`^${TOKEN_ID}$`)))),
  search: searchText,
})

const refuseListQuery = onInvalidQuery({
  ...pageQuery,
  state: { expects: 'receiving or ready', allowed: ['receiving', 'ready'] },
  token: { expects: 'the token_id of an upload token' },
})

// Newest first. For a resumable upload, only its Durable Object knows how many bytes are stored.
uploadRoutes.get('/', zValidator('query', listQuery, refuseListQuery), async (c) => {
  const { limit: count, cursor: before, state, token, search } = c.req.valid('query')
  const account = c.get('account')
  const rows = await listUploads(
    c.env.DB,
    account,
    {
      state: state ?? null,
      token: token ?? null,
      search: search ?? null,
      before: before === undefined ? null : Number(before),
      limit: count + 1,
    },
    Date.now(),
  )
  const page = rows.slice(0, count)
  const base = publicBaseUrl(c)
  return c.json({
    uploads: await Promise.all(page.map((row) => publicUpload(c.env, row, base))),
    next_cursor: rows.length > count ? String(page.at(-1)?.number) : null,
  })
})

async function publicUpload(env: Env, row: ListedUploadRow, base: string) {
  const standing = row.state === 'ready' ? null : await resumableUpload(env, row.number).state(row.account)
  return {
    uploaded_file_number: row.number,
    input: `${base}/uploads/${row.number}`,
    name: row.name,
    content_type: row.content_type,
    size: standing?.length ?? row.size,
    received: standing?.offset ?? row.size,
    // Reading the state of an interrupted upload may have completed it.
    state: standing?.state === 'ready' ? 'ready' : row.state,
    token: row.token === null ? null : { token_id: row.token, name: row.token_name ?? '' },
    last_job: await lastJob(env, row, base),
    created_at: new Date(row.created_at).toISOString(),
    expires_at: new Date(standing?.expiresAt ?? row.expires_at).toISOString(),
  } satisfies ListedUpload
}

async function lastJob(env: Env, row: ListedUploadRow, base: string): Promise<ListedUpload['last_job']> {
  const { job: id, job_id: jobId, job_state: state } = row
  if (id === null || jobId === null || state === null) return null
  const poster = decodePoster(row.poster)
  const until = outputsExpireAt(env, row)
  return {
    id,
    state: state === 'committing' ? 'running' : state,
    poster_url: poster && (await signedPosterUrl(env, base, { jobId, attempt: poster.attempt }, until)),
  }
}

function numberOf(c: Context<AppEnv, '/:number'>): number {
  const text = c.req.param('number')
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound()
  return Number(text)
}

// Hono answers HEAD with the same handler.
uploadRoutes.get('/:number', async (c) => {
  const upload = await findUpload(c.env.DB, c.get('account'), numberOf(c), Date.now())
  if (!upload) throw notFound()
  return serveStoredObject(c, upload.key, () => ({
    'content-type': upload.content_type,
    'content-disposition': attachmentDisposition(upload.name),
    'cache-control': 'private, no-cache',
  }))
})

uploadRoutes.delete('/:number', async (c) => {
  if (!(await deleteUploadByNumber(c.env, c.get('account'), numberOf(c)))) throw notFound()
  return c.body(null, 204)
})
