// In charge of: the http source against the conformance suite, on several kinds of servers that follow RFC 9110
// strictly; and its behaviour with servers that do not.
import { describe, expect, test } from 'vitest'
import { contentRange, parseRange } from '../../../../worker/util/byteRange.ts'
import { httpSource } from '../../../../worker/storage/http/httpSource.ts'
import type { StoreError } from '../../../../worker/storage/objectStore.ts'
import { describeSourceConformance, SAMPLE_BYTES } from '../conformance.ts'

const URL_ = 'https://files.example.com/a.mp4'

interface ServerOptions {
  /** Which validators the server sends. */
  tags: 'strong' | 'weak' | 'dates'
  head?: number
  silent?: boolean
  broken?: (bytes: Uint8Array) => Uint8Array
}

class FileServer {
  file: Uint8Array | null = null
  version = 0
  seen: Request[] = []
  readonly options: ServerOptions
  constructor(options: ServerOptions) {
    this.options = options
  }

  readonly fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init)
    this.seen.push(request)
    if (request.headers.get('accept-encoding') !== 'identity') return new Response('gzip', { status: 400 })
    if (request.method === 'HEAD' && this.options.head) return new Response(null, { status: this.options.head })
    if (!this.file) return new Response('no such file', { status: 404 })
    const { file } = this
    const headers = new Headers({ 'content-type': 'video/mp4' })
    if (!this.options.silent) headers.set('accept-ranges', 'bytes')
    if (this.options.tags === 'dates') headers.set('last-modified', new Date(this.version * 1000).toUTCString())
    else headers.set('etag', `${this.options.tags === 'weak' ? 'W/' : ''}"v${this.version}"`)
    const match = request.headers.get('if-match')
    if (match !== null && (this.options.tags !== 'strong' || match !== headers.get('etag'))) {
      return new Response(null, { status: 412 })
    }
    const range = parseRange(request.method === 'GET' ? request.headers.get('range') : null, file.length)
    if (range === 'unsatisfiable') {
      return new Response(null, { status: 416, headers: { 'content-range': contentRange(null, file.length) } })
    }
    const span = range === 'whole' ? { offset: 0, length: file.length } : range
    headers.set('content-length', String(span.length))
    if (range !== 'whole') headers.set('content-range', contentRange(span, file.length))
    const bytes = file.slice(span.offset, span.offset + span.length)
    const body = request.method === 'HEAD' ? null : streamOf(this.options.broken?.(bytes) ?? bytes)
    return new Response(body, { status: range === 'whole' ? 200 : 206, headers })
  }
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      if (bytes.length > 0) controller.enqueue(bytes)
      controller.close()
    },
  })
}

const variants: [string, ServerOptions][] = [
  ['http with strong tags', { tags: 'strong' }],
  ['http with weak tags', { tags: 'weak' }],
  ['http with dates only', { tags: 'dates' }],
  ['http that refuses HEAD', { tags: 'strong', head: 405 }],
  ['http presigned for GET only', { tags: 'strong', head: 403 }],
  ['http that does not say whether it serves ranges', { tags: 'strong', silent: true }],
]
for (const [name, options] of variants) {
  const server = new FileServer(options)
  const open = () => httpSource(URL_, {}, server.fetch)
  const replace = async (bytes: Uint8Array | null) => {
    server.file = bytes
    server.version++
  }
  describeSourceConformance(name, {
    open: async (bytes) => {
      await replace(bytes)
      return open()
    },
    replace,
    missing: async () => {
      await replace(null)
      return open()
    },
  })
}

const answering = (status: number, headers: Record<string, string> = {}, body: string | null = 'x'.repeat(10)) =>
  httpSource(URL_, {}, async () => new Response(body, { status, headers }))

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'no error',
    (error: StoreError) => error.code,
  )

describe('an http server that', () => {
  const statuses: [number, string][] = [
    [400, 'invalid'],
    [401, 'forbidden'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [410, 'not_found'],
    [412, 'source_changed'],
    [416, 'range_not_satisfiable'],
    [429, 'unreachable'],
    [451, 'invalid'],
    [500, 'unreachable'],
    [503, 'unreachable'],
    [204, 'invalid'],
    [302, 'invalid'],
  ]
  test.each(statuses)('answers %d: %s', async (status, code) => {
    const source = answering(status, {}, status === 204 ? null : 'no')
    expect(await codeOf(source.read({ offset: 0, length: 5 }))).toBe(code)
    expect(await codeOf(source.stat())).toBe(code)
  })

  test('ignores Range is reported with the whole file', async () => {
    const source = answering(200, { 'content-length': '10' })
    expect(await source.stat()).toMatchObject({ ranges: false, size: 10 })
    const read = await source.read({ offset: 4, length: 2 })
    expect(read).toMatchObject({ ranges: false, isPartial: false, offset: 0, length: 10 })
    expect(await new Response(read.body).text()).toBe('x'.repeat(10))
  })

  test.each([
    ['another range than asked for', 'bytes 0-9/20'],
    ['a range of the right length elsewhere', 'bytes 0-4/20'],
    ['more than asked for', 'bytes 5-14/20'],
    ['no Content-Range', ''],
    ['a range that contradicts itself', 'bytes 5-9/7'],
    ['a range in another unit', 'lines 5-9/20'],
  ])('sends %s is not believed', async (_, range) => {
    const source = answering(206, range === '' ? {} : { 'content-range': range })
    expect(await codeOf(source.read({ offset: 5, length: 5 }))).toBe('invalid')
  })

  test('sends a part where all was asked for is not believed', async () => {
    expect(await codeOf(answering(206, { 'content-range': 'bytes 0-9/20' }).read(null))).toBe('invalid')
  })

  test('compresses although asked not to is not believed', async () => {
    const source = httpSource(URL_, {}, async () => {
      return new Response('x', { headers: { 'content-encoding': 'gzip' }, encodeBody: 'manual' })
    })
    expect(await codeOf(source.read(null))).toBe('invalid')
  })

  test('sends neither a version nor a size can be read, but not pinned to a version', async () => {
    const read = await httpSource(URL_, {}, async () => new Response(streamOf(SAMPLE_BYTES))).read(null)
    expect(read).toMatchObject({ etag: null, size: null, length: null })
    expect((await new Response(read.body).arrayBuffer()).byteLength).toBe(SAMPLE_BYTES.length)
  })

  test('ends a body early: reading fails', async () => {
    const server = new FileServer({ tags: 'strong', broken: (bytes) => bytes.subarray(0, bytes.length - 1) })
    server.file = SAMPLE_BYTES
    const read = await httpSource(URL_, {}, server.fetch).read({ offset: 100, length: 1000 })
    await expect(new Response(read.body).arrayBuffer()).rejects.toThrow(/FixedLengthStream/)
  })

  test('keeps its tag but ignores If-Match is caught by the tag of the answer', async () => {
    const source = answering(206, { 'content-range': 'bytes 0-4/10', etag: '"b"' }, 'x'.repeat(5))
    expect(await codeOf(source.read({ offset: 0, length: 5 }, '"a"'))).toBe('source_changed')
  })
})

test('access_key and secret_key go as Basic, in UTF-8', async () => {
  const server = new FileServer({ tags: 'strong' })
  server.file = SAMPLE_BYTES
  await httpSource(URL_, { username: 'ключ', password: 'p:w' }, server.fetch).stat()
  const [scheme, value] = server.seen[0]?.headers.get('authorization')?.split(' ') ?? []
  const bytes = Uint8Array.from(atob(value ?? ''), (char) => char.charCodeAt(0))
  expect([scheme, new TextDecoder().decode(bytes)]).toEqual(['Basic', 'ключ:p:w'])
})

test('errors name the host and never the query', async () => {
  const source = httpSource(`${URL_}?X-Amz-Signature=secret`, {}, async () => new Response(null, { status: 404 }))
  const error = await source.read(null).catch((thrown: StoreError) => thrown)
  expect(error).toMatchObject({ status: 404, provider: 'http', operation: 'read' })
  expect((error as StoreError).message).toBe('files.example.com has no such file (404).')
})
