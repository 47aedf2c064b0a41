// In charge of: uploading a file in one request, reading it back, and that nothing remains of an interrupted upload.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Hono } from 'hono'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { STEP_TIMEOUT_MS } from '../../support/timeouts.ts'
import { insertUpload, listExpiredUploads } from '../../../worker/db/uploads.ts'
import type { AppEnv } from '../../../worker/http/context.ts'
import { handleError } from '../../../worker/http/requestError.ts'
import { uploadRoutes } from '../../../worker/uploads/uploadRoutes.ts'
import { openUpload } from '../support/openUpload.ts'
import { chunked, SAMPLE_BYTES } from '../storage/conformance.ts'

// Only the route, with an account that the test sets; authentication has its own tests.
const app = new Hono<AppEnv>()
  .onError(handleError)
  .use(async (c, next) => {
    c.set('account', c.req.header('x-account') ?? 'alice')
    c.set('keyId', 'of-the-test')
    await next()
  })
  .route('/uploads', uploadRoutes)

const BASE = 'https://service.test'

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const context = createExecutionContext()
  const response = await app.request(new Request(BASE + path, init), undefined, env, context)
  if (!response.body || init.method === 'POST') await waitOnExecutionContext(context)
  return response
}

function send(body: Uint8Array, headers: Record<string, string> = {}, path = '/uploads'): Promise<Response> {
  const length = { 'content-length': String(body.length) }
  return call(path, { method: 'POST', body: chunked(body, 65_521), headers: { ...length, ...headers } })
}

interface Answer {
  uploaded_file_number: number
  input: string
  name: string
  size: number
  expires_at: string
}
const answerOf = (response: Response): Promise<Answer> => response.json()
const errorOf = async (response: Response): Promise<{ status: number; code: string; message: string }> => ({
  status: response.status,
  ...(await response.json<{ error: { code: string; message: string } }>()).error,
})

async function leftovers(): Promise<{ rows: number; objects: number }> {
  const rows = await env.DB.prepare('SELECT count(*) AS n FROM uploads').first<{ n: number }>()
  const { objects } = await env.BUCKET.list({ prefix: 'uploads/' })
  return { rows: rows?.n ?? -1, objects: objects.length }
}

beforeEach(async () => {
  await env.DB.prepare('DELETE FROM uploads').run()
  const { objects } = await env.BUCKET.list({ prefix: 'uploads/' })
  await env.BUCKET.delete(objects.map(({ key }) => key))
})

const BOUNDARY = '----splicepoint'
const FORM = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

function form(file: Uint8Array, filename = 'filename="trailer.mp4"', tail = `\r\n--${BOUNDARY}--\r\n`): Uint8Array {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; ${filename}\r\nContent-Type: video/mp4\r\n\r\n`
  const [before, after] = [new TextEncoder().encode(head), new TextEncoder().encode(tail)]
  const joined = new Uint8Array(before.length + file.length + after.length)
  joined.set(before)
  joined.set(file, before.length)
  joined.set(after, before.length + file.length)
  return joined
}

describe('a raw body', () => {
  test('is stored, and its number is ready to be a job’s input', async () => {
    const response = await send(SAMPLE_BYTES, { 'content-type': 'video/mp4' }, '/uploads?name=My%20film.mp4')
    expect(response.status).toBe(201)
    const answer = await answerOf(response)
    expect(answer).toMatchObject({ size: SAMPLE_BYTES.length, name: 'My film.mp4' })
    expect(answer.input).toBe(`${BASE}/uploads/${answer.uploaded_file_number}`)
    expect(response.headers.get('location')).toBe(answer.input)
    const days = (Date.parse(answer.expires_at) - Date.now()) / (24 * 3600 * 1000)
    expect(Math.round(days)).toBe(7)
    const read = await call(`/uploads/${answer.uploaded_file_number}`)
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(SAMPLE_BYTES)
    const source = await openUpload('alice', answer.uploaded_file_number)
    expect((await source.stat()).size).toBe(SAMPLE_BYTES.length)
  })

  test.each([
    [`attachment; filename="a \\"b\\".mp4"`, 'a "b".mp4'],
    [`attachment; filename=x.mp4; filename*=UTF-8''%D1%84.mp4`, 'ф.mp4'],
    ['attachment; filename="C:\\\\films\\\\..\\\\x.mp4"', 'x.mp4'],
    ['attachment; filename="../../etc/passwd"', 'passwd'],
    ['attachment; filename=".."', 'upload'],
    ['attachment', 'upload'],
  ])('reads its name from Content-Disposition: %s', async (disposition, name) => {
    expect((await answerOf(await send(SAMPLE_BYTES, { 'content-disposition': disposition }))).name).toBe(name)
  })
})

describe('a form', () => {
  test.each([
    ['small', 1000],
    ['of exactly one part', 8 * 1024 * 1024],
    ['of several parts', 20_000_001],
  ])('with a file %s', async (_, size) => {
    const file = new Uint8Array(size).map((_byte, i) => i % 249)
    const answer = await answerOf(await send(form(file), FORM))
    expect(answer).toMatchObject({ size, name: 'trailer.mp4' })
    const read = await call(`/uploads/${answer.uploaded_file_number}`)
    const back = new Uint8Array(await read.arrayBuffer())
    expect([back.length, back.findIndex((byte, i) => byte !== i % 249)]).toEqual([size, -1])
    expect(read.headers.get('content-type')).toBe('video/mp4')
  })

  test.each([1, 2, 3, 7, 64])('is parsed in chunks of %d bytes', async (chunkSize) => {
    const file = new TextEncoder().encode(`--\r\n-\r\n--${BOUNDARY.slice(0, -1)}\r\n--\r\n`.repeat(5))
    const body = form(file)
    const answer = await answerOf(
      await call('/uploads', {
        method: 'POST',
        body: chunked(body, chunkSize),
        headers: { ...FORM, 'content-length': String(body.length) },
      }),
    )
    const read = await call(`/uploads/${answer.uploaded_file_number}`)
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(file)
  })

  test.each([
    ["filename*=UTF-8''%E0%A4%A", 'upload'],
    ["filename*=UTF-8''%E0%A4%A; filename=plain.mp4", 'plain.mp4'],
    ['filename=""', 'upload'],
  ])('with the name %s', async (disposition, name) => {
    expect((await answerOf(await send(form(SAMPLE_BYTES, disposition), FORM))).name).toBe(name)
  })

  const bad: [string, Uint8Array, Record<string, string>][] = [
    ['no boundary', form(SAMPLE_BYTES), { 'content-type': 'multipart/form-data' }],
    [
      'no file',
      new TextEncoder().encode(
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--${BOUNDARY}--\r\n`,
      ),
      FORM,
    ],
    ['an empty file', form(new Uint8Array(0)), FORM],
    ['no closing boundary', form(SAMPLE_BYTES, undefined, ''), FORM],
    ['half a closing boundary', form(SAMPLE_BYTES, undefined, `\r\n--${BOUNDARY}-`), FORM],
    [
      'two files',
      form(
        SAMPLE_BYTES,
        undefined,
        `\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="b"; filename="b"\r\n\r\nx\r\n--${BOUNDARY}--\r\n`,
      ),
      FORM,
    ],
  ]
  test.each(bad)('with %s is refused and leaves nothing', async (_, body, headers) => {
    expect(await errorOf(await send(body, headers))).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(await leftovers()).toEqual({ rows: 0, objects: 0 })
  })
})

describe('a truncated body', () => {
  function breaking(bytes: Uint8Array): ReadableStream<Uint8Array> {
    let sent = false
    return new ReadableStream({
      pull(controller) {
        if (sent) return controller.error(new Error('connection lost'))
        sent = true
        controller.enqueue(bytes)
      },
    })
  }

  test.each<[string, Uint8Array, Record<string, string>]>([
    ['raw', SAMPLE_BYTES, { 'content-type': 'video/mp4' }],
    ['in a form', form(SAMPLE_BYTES).subarray(0, 50_000), FORM],
    ['in a form after two parts', form(new Uint8Array(18_000_000)).subarray(0, 17_500_000), FORM],
  ])('%s leaves no row, no object and no upload', async (_, bytes, headers) => {
    const begun: R2MultipartUpload[] = []
    const bucket = new Proxy(env.BUCKET, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (name === 'createMultipartUpload') {
          return async (...args: Parameters<R2Bucket['createMultipartUpload']>) => {
            const made = await target.createMultipartUpload(...args)
            begun.push(made)
            return made
          }
        }
        return typeof value === 'function' ? (value as () => unknown).bind(target) : value
      },
    })
    const context = createExecutionContext()
    const request = new Request(`${BASE}/uploads`, {
      method: 'POST',
      body: breaking(bytes),
      headers: { ...headers, 'content-length': '90000000' },
    })
    const response = await app.request(request, undefined, { ...env, BUCKET: bucket }, context)
    await waitOnExecutionContext(context)
    expect(await errorOf(response)).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(await leftovers()).toEqual({ rows: 0, objects: 0 })
    expect(begun.length).toBe(bytes.length > 16_000_000 ? 1 : 0)
    for (const { key, uploadId } of begun) {
      const upload = env.BUCKET.resumeMultipartUpload(key, uploadId)
      await expect(upload.uploadPart(1, new Uint8Array(1))).rejects.toThrow(/10024/)
    }
  })

  test('a raw body of another length than announced leaves nothing', async () => {
    for (const length of [SAMPLE_BYTES.length - 1, SAMPLE_BYTES.length + 1]) {
      const response = await send(SAMPLE_BYTES, { 'content-length': String(length) })
      expect(await errorOf(response)).toMatchObject({ status: 400, code: 'invalid_request' })
    }
    expect(await leftovers()).toEqual({ rows: 0, objects: 0 })
  })
})

describe('what is refused before the first byte', () => {
  test.each<[string, Record<string, string>, number, string]>([
    ['more than 100 MB', { 'content-length': '100000001' }, 413, 'too_large'],
    ['an empty body', { 'content-length': '0' }, 400, 'invalid_request'],
    ['a resumable upload of another version', { 'tus-resumable': '0.2.2' }, 412, 'unsupported_version'],
    ['a compressed body', { 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['a length that is no number', { 'content-length': '1e3' }, 411, 'length_required'],
  ])('%s', async (_, headers, status, code) => {
    expect(await errorOf(await send(SAMPLE_BYTES, headers))).toMatchObject({ status, code })
    expect(await leftovers()).toEqual({ rows: 0, objects: 0 })
  })

  test('a chunked body, with a sentence that helps', async () => {
    const error = await errorOf(await call('/uploads', { method: 'POST', body: chunked(SAMPLE_BYTES) }))
    expect(error).toMatchObject({ status: 411, code: 'length_required' })
    expect(error.message).toMatch(/--data-binary @file/)
  })
})

describe('reading back', () => {
  async function stored(type = 'video/mp4'): Promise<string> {
    const response = await send(SAMPLE_BYTES, { 'content-type': type }, '/uploads?name=caf%C3%A9%20%22x%22.mp4')
    return `/uploads/${(await answerOf(response)).uploaded_file_number}`
  }

  test('the headers keep a file from being a page', async () => {
    const response = await call(await stored('text/html'))
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html',
      'content-length': String(SAMPLE_BYTES.length),
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'content-disposition': `attachment; filename="caf_ _x_.mp4"; filename*=UTF-8''caf%C3%A9%20%22x%22.mp4`,
    })
    await response.body?.cancel()
  })

  test('HEAD is GET without its body', async () => {
    const path = await stored()
    const head = await call(path, { method: 'HEAD', headers: { range: 'bytes=0-1' } })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      String(SAMPLE_BYTES.length),
      '',
    ])
  })

  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=100-199', 100, 100],
    ['bytes=70000-', 70_000, 1],
    ['bytes=-10', SAMPLE_BYTES.length - 10, 10],
    ['bytes=69990-99999999', 69_990, 11],
  ])('Range: %s', async (range, offset, length) => {
    const response = await call(await stored(), { headers: { range } })
    expect([response.status, response.headers.get('content-range'), response.headers.get('content-length')]).toEqual([
      206,
      `bytes ${offset}-${offset + length - 1}/${SAMPLE_BYTES.length}`,
      String(length),
    ])
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(SAMPLE_BYTES.subarray(offset, offset + length))
  })

  test('a range that cannot be satisfied', async () => {
    const response = await call(await stored(), { headers: { range: 'bytes=70001-' } })
    // An answer of the service, not the file: it has its own type and must not be cached.
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-range': 'bytes */70001',
      'content-type': 'application/json',
      'cache-control': 'private, no-cache',
    })
    expect(response.headers.get('content-disposition')).toBeNull()
    expect(await errorOf(response)).toMatchObject({ status: 416, code: 'range_not_satisfiable' })
  })

  test('conditions', async () => {
    const path = await stored()
    const etag = (await call(path, { method: 'HEAD' })).headers.get('etag') ?? ''
    const status = async (headers: Record<string, string>) => {
      const response = await call(path, { headers })
      await response.body?.cancel()
      return response.status
    }
    expect(await status({ 'if-none-match': etag })).toBe(304)
    expect(await status({ 'if-none-match': `"x", W/${etag}` })).toBe(304)
    expect(await status({ 'if-none-match': '"x"' })).toBe(200)
    expect(await status({ 'if-match': '"x"' })).toBe(412)
    expect(await status({ 'if-match': etag, range: 'bytes=0-1' })).toBe(206)
    expect(await status({ 'if-range': etag, range: 'bytes=0-1' })).toBe(206)
    expect(await status({ 'if-range': '"x"', range: 'bytes=0-1' })).toBe(200)
  })

  test('another account’s, a deleted, an expired and an unfinished file get the same 404 as a missing one', async () => {
    const path = await stored()
    const missing = await call('/uploads/999999')
    const body = await missing.text()
    expect(missing.status).toBe(404)
    const unfinished = await insertUpload(env.DB, {
      account: 'alice',
      key: 'uploads/alice/y',
      name: 'y',
      content_type: 'video/mp4',
      created_at: Date.now(),
      expires_at: Date.now() + 1000,
      keyId: 'k',
      announcedBytes: 1,
      maxStored: null,
      token: null,
    })
    await env.BUCKET.put('uploads/alice/y', SAMPLE_BYTES)
    const others: [string, RequestInit][] = [
      [path, { headers: { 'x-account': 'bob' } }],
      [path, { method: 'DELETE', headers: { 'x-account': 'bob' } }],
      [`/uploads/${unfinished}`, {}],
      ['/uploads/0', {}],
      ['/uploads/1e3', {}],
      ['/uploads/-1', {}],
      ['/uploads/99999999999999999999', {}],
    ]
    for (const [address, init] of others) {
      const response = await call(address, init)
      expect([address, response.status, await response.text()]).toEqual([address, 404, body])
    }
    const number = Number(path.split('/').at(-1))
    await expect(openUpload('bob', number)).rejects.toMatchObject({
      code: 'not_found',
    })
    await env.DB.prepare('UPDATE uploads SET expires_at = ? WHERE number = ?')
      .bind(Date.now() - 1, number)
      .run()
    expect(await (await call(path)).text()).toBe(body)
    expect((await listExpiredUploads(env.DB, Date.now(), 10)).map((row) => row.number)).toEqual([number])
  })

  test('DELETE removes the row and the object', async () => {
    const path = await stored()
    expect((await call(path, { method: 'DELETE' })).status).toBe(204)
    expect((await call(path)).status).toBe(404)
    expect(await leftovers()).toEqual({ rows: 0, objects: 0 })
  })
})

describe('one that is not whole', () => {
  /** The state that an isolate leaves when it ends during an upload: a row, and maybe an object. */
  async function abandoned(): Promise<number> {
    const key = `uploads/alice/${crypto.randomUUID()}`
    const row = {
      account: 'alice',
      key,
      name: 'cut',
      content_type: 'video/mp4',
      keyId: 'k',
      announcedBytes: 5,
      maxStored: null,
      token: null,
    }
    await env.BUCKET.put(key, SAMPLE_BYTES)
    const number = await insertUpload(env.DB, { ...row, created_at: Date.now(), expires_at: Date.now() + 60_000 })
    return number ?? 0
  }

  test.each<[string, Record<string, string>]>([
    ['plainly', {}],
    ['by tus', { 'tus-resumable': '1.0.0' }],
  ])('is deleted %s when no request is sending it, by its own account only', async (_, headers) => {
    const number = await abandoned()
    const remove = (who: string) =>
      call(`/uploads/${number}`, { method: 'DELETE', headers: { ...headers, 'x-account': who } })
    expect((await remove('bob')).status).toBe(404)
    expect((await remove('alice')).status).toBe(204)
    expect(await leftovers()).toEqual({ rows: 0, objects: 0 })
    expect((await remove('alice')).status).toBe(404)
  })

  test('is deleted while a request sends it: the request fails and nothing is left', async () => {
    let sender!: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (sender = controller) })
    const answer = call('/uploads', { method: 'POST', body, headers: { 'content-length': '6' } })
    sender.enqueue(new Uint8Array(3))
    const number = await vi.waitUntil(
      () => env.DB.prepare(`SELECT number FROM uploads WHERE state = 'receiving'`).first<number>('number'),
      { timeout: STEP_TIMEOUT_MS },
    )
    expect((await call(`/uploads/${number}`, { method: 'DELETE' })).status).toBe(204)
    sender.enqueue(new Uint8Array(3))
    sender.close()
    expect(await errorOf(await answer)).toMatchObject({ status: 410, code: 'gone' })
    expect(await leftovers()).toEqual({ rows: 0, objects: 0 })
  })
})
