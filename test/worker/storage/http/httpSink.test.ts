// In charge of: an http server as a destination, against the conformance suite; staging, the mapping of its errors, and
// servers that support only PUT.
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { httpSink } from '../../../../worker/storage/http/httpSink.ts'
import type { FetchFunction } from '../../../../worker/storage/guardedFetch.ts'
import { r2Sink, r2Source } from '../../../../worker/storage/r2/r2Store.ts'
import { caching, describeSinkConformance, chunked, SAMPLE_BYTES } from '../conformance.ts'

interface ServerOptions {
  /** Methods that are answered with 405. */
  without?: readonly string[]
  /** Answer to a PUT instead of storing it. */
  refuse?: { status: number; headers?: Record<string, string> }
}

/** A server with PUT, HEAD and DELETE as a transport. */
class PutServer {
  readonly files = new Map<string, { bytes: Uint8Array; type: string; cache: string | null }>()
  readonly seen: { method: string; url: string; length: string | null; authorization: string | null }[] = []
  readonly options: ServerOptions
  constructor(options: ServerOptions = {}) {
    this.options = options
  }

  readonly fetch: FetchFunction = async (url, init) => {
    const request = new Request(url, init)
    const { method, headers } = request
    // What the runtime would send as Content-Length: the length of a body whose length is known.
    const bytes = method === 'PUT' ? new Uint8Array(await request.arrayBuffer()) : null
    this.seen.push({
      method,
      url: request.url,
      length: bytes === null ? null : String(bytes.length),
      authorization: headers.get('authorization'),
    })
    if (this.options.without?.includes(method)) return new Response(null, { status: 405 })
    if (bytes !== null) {
      const { refuse } = this.options
      if (refuse) return new Response('no', refuse)
      this.files.set(request.url, {
        bytes,
        type: headers.get('content-type') ?? '',
        cache: headers.get('cache-control'),
      })
      return new Response(null, { status: 201, headers: { etag: `"${bytes.length}"` } })
    }
    const file = this.files.get(request.url)
    if (!file) return new Response(null, { status: 404 })
    if (method === 'DELETE') {
      this.files.delete(request.url)
      return new Response(null, { status: 204 })
    }
    const { length } = file.bytes
    return new Response(null, { headers: { 'content-length': String(length), etag: `"${length}"` } })
  }
}

const ROOT = 'https://files.example.com'
let prefix = ''
function sinkOf(server: PutServer, access = {}) {
  prefix = `work/${crypto.randomUUID()}/`
  const staged = prefix
  return httpSink({
    root: ROOT,
    access,
    caching,
    transport: server.fetch,
    staging: { sink: r2Sink(env.BUCKET, staged), open: (path) => r2Source(env.BUCKET, staged + path) },
  })
}
const staged = async () => (await env.BUCKET.list({ prefix: `${prefix}put/` })).objects.map(({ key }) => key)

const MIN_PART = 5 * 1024 * 1024
const server = new PutServer()
describeSinkConformance('http', {
  sink: async () => {
    server.files.clear()
    return sinkOf(server)
  },
  stored: async (path) => server.files.get(addressOf(path))?.bytes ?? null,
  contentType: async (path) => server.files.get(addressOf(path))?.type ?? null,
  cacheControl: async (path) => server.files.get(addressOf(path))?.cache ?? null,
  minPartBytes: MIN_PART,
})

function addressOf(path: string): string {
  const encoded = encodeURIComponent(path)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${ROOT}/${encoded}`
}

describe('a large object', () => {
  async function upload(to: PutServer, path = 'a/film.mp4') {
    const sink = sinkOf(to, { username: 'me', password: 'pä' })
    const id = await sink.beginUpload(path, 'video/mp4')
    const part = new Uint8Array(MIN_PART).fill(3)
    const parts = [{ n: 1, etag: await sink.uploadPart(path, id, 1, part, part.length) }]
    for (const n of [2, 3, 4]) parts.push({ n, etag: await sink.uploadPart(path, id, n, part, part.length) })
    parts.push({ n: 5, etag: await sink.uploadPart(path, id, 5, chunked(SAMPLE_BYTES), SAMPLE_BYTES.length) })
    return { sink, id, parts, size: 4 * MIN_PART + SAMPLE_BYTES.length }
  }

  test('is sent as one PUT with its type and length at the commit, not before, and is then no longer staged', async () => {
    const to = new PutServer()
    const { sink, id, parts, size } = await upload(to)
    expect(to.seen).toEqual([])
    await sink.completeUpload('a/film.mp4', id, parts)
    const authorization = `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode('me:pä')))}`
    expect(to.seen).toEqual([{ method: 'PUT', url: `${ROOT}/a/film.mp4`, length: String(size), authorization }])
    const file = to.files.get(`${ROOT}/a/film.mp4`)!
    expect([file.type, file.bytes.length, file.bytes[MIN_PART * 4 - 1], file.bytes.at(-1)]).toEqual([
      'video/mp4',
      size,
      3,
      SAMPLE_BYTES.at(-1),
    ])
    expect(await staged()).toEqual([])
    expect(await sink.stat('a/film.mp4')).toMatchObject({ size })
  })

  test('that was put together but not sent is sent by the next try', async () => {
    const to = new PutServer({ refuse: { status: 503, headers: { 'retry-after': '7' } } })
    const { sink, id, parts, size } = await upload(to)
    const failed = await sink.completeUpload('a/film.mp4', id, parts).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 'unreachable', retryAfterMs: 7000, status: 503 })
    delete to.options.refuse
    await sink.completeUpload('a/film.mp4', id, parts)
    expect(to.files.get(`${ROOT}/a/film.mp4`)?.bytes.length).toBe(size)
    expect(await staged()).toEqual([])
  })

  test('that is given up leaves nothing staged, whether it was put together or not', async () => {
    for (const complete of [false, true]) {
      const to = new PutServer({ refuse: { status: 503 } })
      const { sink, id, parts } = await upload(to)
      if (complete) await sink.completeUpload('a/film.mp4', id, parts).catch(() => undefined)
      await sink.abortUpload('a/film.mp4', id)
      expect(await staged()).toEqual([])
      await expect(sink.completeUpload('a/film.mp4', id, parts)).rejects.toMatchObject({ code: 'no_such_upload' })
    }
  })

  test('is assumed to be stored on a server that does not allow HEAD', async () => {
    const to = new PutServer({ without: ['HEAD', 'DELETE', 'GET'] })
    const { sink, id, parts, size } = await upload(to)
    expect(await sink.stat('a/film.mp4')).toBeNull()
    await sink.completeUpload('a/film.mp4', id, parts)
    expect(await sink.stat('a/film.mp4')).toMatchObject({ size })
    await sink.delete('a/film.mp4')
    expect(await sink.stat('a/film.mp4')).toBeNull()
  })
})

const refusals: [number, string, RegExp, Record<string, string>?][] = [
  [401, 'forbidden', /credentials/],
  [403, 'forbidden', /allow/],
  [404, 'not_found', /directory/],
  [405, 'forbidden', /PUT/],
  [409, 'not_found', /directory/],
  [413, 'too_large', /size/],
  [429, 'unreachable', /again/],
  [500, 'unreachable', /at the moment/],
  [507, 'quota_exceeded', /space/],
  [301, 'forbidden', /redirects/, { location: 'https://elsewhere.example.com/' }],
  [307, 'forbidden', /redirects/, { location: 'https://elsewhere.example.com/' }],
  [418, 'forbidden', /refuses/],
]
test.each(refusals)(
  'a PUT answered with %d is %s, and a try before the encode says the same',
  async (status, code, words, headers = {}) => {
    const to = new PutServer({ refuse: { status, headers } })
    const sink = sinkOf(to)
    for (const call of [
      sink.put('a.mp4', SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp4'),
      sink.probeWrite!('films', async () => undefined),
    ]) {
      const error = (await call.catch((each: unknown) => each)) as Error
      expect(error).toMatchObject({ code, provider: 'http', status })
      expect(error.message).toMatch(words)
      expect(error.message).toMatch(/^files\.example\.com /)
    }
    expect(to.seen.every(({ url }) => url.startsWith(ROOT))).toBe(true)
  },
)

test('a try before the encode writes one byte and deletes it, where the server deletes', async () => {
  const to = new PutServer()
  await sinkOf(to).probeWrite!('films/june', async () => undefined)
  expect(to.seen.map(({ method, url }) => [method, url])).toEqual([
    ['PUT', `${ROOT}/films/june/.splicepoint`],
    ['DELETE', `${ROOT}/films/june/.splicepoint`],
  ])
  expect(to.files.size).toBe(0)
  await expect(
    sinkOf(new PutServer({ without: ['DELETE'] })).probeWrite!('', async () => undefined),
  ).resolves.toBeUndefined()
})
