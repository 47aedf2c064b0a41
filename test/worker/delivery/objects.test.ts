// In charge of: outputs in the service's own store, below their signed path prefix.
import { env } from 'cloudflare:workers'
import { Hono } from 'hono'
import { beforeAll, expect, test } from 'vitest'
import type { AppEnv } from '../../../worker/http/context.ts'
import { handleError } from '../../../worker/http/requestError.ts'
import { contentRange, parseContentRange, parseRange } from '../../../worker/util/byteRange.ts'
import { signedObjectUrl, objectRoutes } from '../../../worker/delivery/objectRoutes.ts'
import { openSink } from '../../../worker/storage/registry.ts'
import { SAMPLE_BYTES } from '../storage/conformance.ts'

const BASE = 'https://service.test'
const app = new Hono<AppEnv>().onError(handleError).route('/o', objectRoutes)
const inAnHour = () => Math.floor(Date.now() / 1000) + 3600
const get = async (address: string, init: RequestInit = {}): Promise<Response> =>
  app.request(new Request(address, init), undefined, env)
const address = (path: string, expiry = inAnHour(), job = 'job-1') =>
  signedObjectUrl(env, BASE, { account: 'alice', jobId: job, path }, { expiresAt: expiry, scope: 'object' })

const PLAYLIST = '#EXTM3U\n'
const LARGE = 40 * 1024 * 1024 + 5

beforeAll(async () => {
  const sink = openSink(env, 'vendor-store', { account: 'alice', jobId: 'job-1', root: null, credentials: {} })
  const text = new TextEncoder().encode(PLAYLIST)
  await sink.put('hls/master.m3u8', text, text.length, 'application/vnd.apple.mpegurl', 'manifest')
  await sink.put('hls/video_0/a b#1%.ts', SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp2t', 'segment')
  await sink.put('page.html', text, text.length, 'text/html')
  const other = openSink(env, 'vendor-store', { account: 'alice', jobId: 'job-2', root: null, credentials: {} })
  await other.put('secret.mp4', SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp4')
  const part = new Uint8Array(20 * 1024 * 1024).map((_, i) => i % 253)
  const upload = await sink.beginUpload('large.mp4', 'video/mp4')
  const parts = []
  for (const [i, bytes] of [part, part, part.subarray(0, 5)].entries()) {
    parts.push({ n: i + 1, etag: await sink.uploadPart('large.mp4', upload, i + 1, bytes, bytes.length) })
  }
  await sink.completeUpload('large.mp4', upload, parts)
})

test('an object is readable by its address, with its type and its exact length', async () => {
  const response = await get(await address('hls/master.m3u8'))
  expect(response.status).toBe(200)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/vnd.apple.mpegurl',
    'content-length': String(PLAYLIST.length),
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'private, max-age=60',
  })
  expect(response.headers.get('access-control-expose-headers')).toContain('Content-Range')
  expect(await response.text()).toBe(PLAYLIST)
})

test.each<[string, string | undefined, 'segment' | 'manifest' | 'file', number, RegExp]>([
  ['a segment', undefined, 'segment', 3600, /^private, max-age=(3600|359\d), immutable$/],
  ['a manifest', undefined, 'manifest', 3600, /^private, max-age=60$/],
  ['a film', undefined, 'file', 3600 * 24, /^private, max-age=3600$/],
  ['a film whose address ends soon', undefined, 'file', 30, /^private, max-age=(30|2\d)$/],
  [
    'what the job chose',
    'public, max-age=90, s-maxage="900000"',
    'file',
    3600,
    /^public, max-age=90, s-maxage=(3600|359\d)$/,
  ],
  ['what the job chose, without an age', 'public', 'segment', 3600, /^public, max-age=300$/],
  ['what must not be kept', 'no-store', 'segment', 3600, /^no-store$/],
])(
  '%s is kept as it was stored, and never longer than its address is valid',
  async (_, chosen, kind, left, expected) => {
    const sink = openSink(env, 'vendor-store', {
      account: 'alice',
      jobId: 'job-3',
      root: null,
      credentials: {},
      cacheControl: chosen,
    })
    await sink.put('kept.bin', SAMPLE_BYTES, SAMPLE_BYTES.length, 'video/mp4', kind)
    const response = await get(await address('kept.bin', Math.floor(Date.now() / 1000) + left, 'job-3'), {
      method: 'HEAD',
    })
    expect(response.headers.get('cache-control')).toMatch(expected)
  },
)

test('an object without Cache-Control is cached briefly, and a missing one not at all', async () => {
  await env.BUCKET.put('out/alice/job-4/old.bin', SAMPLE_BYTES)
  const of = async (path: string) => (await get(await address(path, inAnHour(), 'job-4'))).headers.get('cache-control')
  expect([await of('old.bin'), await of('none.bin')]).toEqual(['private, max-age=300', 'no-store'])
})

test('an address relative to a playlist keeps the signature', async () => {
  const segment = new URL(`video_0/${encodeURIComponent('a b#1%.ts')}`, await address('hls/master.m3u8'))
  expect(segment.href).toBe(await address('hls/video_0/a b#1%.ts', Number(/o\/(\d+)/.exec(segment.href)?.[1])))
  const response = await get(segment.href)
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(SAMPLE_BYTES)
})

test('a customer’s page is never a page of ours', async () => {
  const response = await get(await address('page.html'))
  expect(response.headers.get('content-security-policy')).toMatch(/^sandbox;/)
  await response.body?.cancel()
})

test('a large object, and a range across the windows it is read in', async () => {
  const whole = await get(await address('large.mp4'))
  expect(whole.headers.get('content-length')).toBe(String(LARGE))
  const bytes = new Uint8Array(await whole.arrayBuffer())
  const wrong = bytes.findIndex((byte, i) => byte !== (i % (20 * 1024 * 1024)) % 253)
  expect([bytes.length, wrong]).toEqual([LARGE, -1])
  const range = await get(await address('large.mp4'), { headers: { range: 'bytes=5-41000000' } })
  expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes 5-41000000/${LARGE}`])
  expect((await range.arrayBuffer()).byteLength).toBe(40_999_996)
})

test('HEAD, If-None-Match, and a range that cannot be satisfied, which a player may read too', async () => {
  const url = await address('hls/master.m3u8')
  const head = await get(url, { method: 'HEAD' })
  expect([head.headers.get('content-length'), await head.text()]).toEqual([String(PLAYLIST.length), ''])
  const same = await get(url, { headers: { 'if-none-match': head.headers.get('etag') ?? '' } })
  expect(same.status).toBe(304)
  const beyond = await get(url, { headers: { range: 'bytes=100-' } })
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${PLAYLIST.length}`])
  expect(beyond.headers.get('access-control-allow-origin')).toBe('*')
})

test('a preflight is answered without a signature', async () => {
  const response = await get(`${BASE}/o/x/y`, { method: 'OPTIONS', headers: { origin: 'https://player.example.com' } })
  expect(response.status).toBe(204)
  expect(response.headers.get('access-control-allow-headers')).toContain('Range')
})

test('whatever is not a signature in force gets one and the same answer', async () => {
  const good = await address('secret.mp4')
  const refusals = [
    await address('hls/master.m3u8', Math.floor(Date.now() / 1000)),
    await address('hls/master.m3u8', 1),
    // The signature of one job does not open another job of the same account.
    good.replace('/job-1/', '/job-2/'),
    good.replace('/alice/', '/bob/'),
    good.replace(/\/o\/(\d)(\d+)/, (_, first: string, rest: string) => `/o/${Number(first) + 1}${rest}`),
    good.replace(/(\/o\/\d+)\.[\w-]{4}/, '$1.AAAA'),
    good.replace(/(\/o\/\d+)\.[\w-]+\//, '$1./'),
    good.replace(/\/o\/\d+\./, '/o/'),
    good.replace('/job-1/secret.mp4', '/job-1/%2e%2e/job-2/secret.mp4'),
    good.replace('/job-1/secret.mp4', '/job-1%2F..%2Fjob-2/secret.mp4'),
    good.replace('/job-1/secret.mp4', '/job-1/..%2Fjob-2%2Fsecret.mp4'),
    good.replace('secret.mp4', '%E0%A4%A'),
    good.replace('secret.mp4', ''),
    `${BASE}/o/`,
    `${BASE}/o/x`,
  ]
  const bodies = new Set<string>()
  for (const refusal of refusals) {
    const response = await get(refusal)
    expect([refusal, response.status]).toEqual([refusal, 403])
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    bodies.add(await response.text())
  }
  expect(bodies.size).toBe(1)
})

test('a signature has one spelling: what its last character has beyond the bytes is nothing that may differ', async () => {
  const good = await address('hls/master.m3u8')
  const [, before = '', last = '', after = ''] = /^(.*\/o\/\d+\.[\w-]{42})([\w-])(\/.*)$/.exec(good) ?? []
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const taken: string[] = []
  for (const other of alphabet) {
    const response = await get(before + other + after)
    if (response.status === 200) taken.push(other)
    await response.body?.cancel()
  }
  expect(taken).toEqual([last])
})

test.each(['%00', 'a%00.mp4', '..%5cx', 'a%0ab', `${'x'.repeat(1000)}.mp4`])(
  'a good signature on a name that no object can have, %s, is 404',
  async (name) => {
    const response = await get((await address('secret.mp4')).replace('secret.mp4', name))
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([404, '*'])
    expect((await response.json<any>()).error.code).toBe('not_found')
  },
)

test('a good signature on an object that is not there is 404', async () => {
  const response = await get(await address('hls/gone.ts'))
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([404, '*'])
})

test.each<[string | null, number, unknown]>([
  [null, 10, 'whole'],
  ['', 10, 'whole'],
  ['bytes=0-0', 10, { offset: 0, length: 1 }],
  ['bytes=0-9', 10, { offset: 0, length: 10 }],
  ['bytes=0-99999999999999999999999', 10, { offset: 0, length: 10 }],
  ['bytes=9-', 10, { offset: 9, length: 1 }],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=99999999999999999999999-', 10, 'unsatisfiable'],
  ['bytes=-1', 10, { offset: 9, length: 1 }],
  ['bytes=-100', 10, { offset: 0, length: 10 }],
  ['bytes=-0', 10, 'unsatisfiable'],
  ['bytes=-5', 0, 'whole'],
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=5-4', 10, 'whole'],
  ['bytes=-', 10, 'whole'],
  ['bytes=a-b', 10, 'whole'],
  ['bytes=1-2,4-5', 10, 'whole'],
  ['lines=1-2', 10, 'whole'],
  ['BYTES=1-2', 10, { offset: 1, length: 2 }],
  ['bytes=+1-2', 10, 'whole'],
  ['bytes=1.0-2', 10, 'whole'],
])('Range %j of %d bytes', (header, size, verdict) => {
  expect(parseRange(header, size)).toEqual(verdict)
})

test('a Content-Range is read back as it is written', () => {
  expect(parseContentRange(contentRange({ offset: 3, length: 4 }, 9))).toEqual({ offset: 3, length: 4, total: 9 })
  expect(parseContentRange('bytes 3-6/*')).toEqual({ offset: 3, length: 4, total: null })
  for (const bad of [null, '', 'bytes */9', 'bytes 6-3/9', 'bytes 3-9/9', 'lines 3-6/9', 'bytes 3-6']) {
    expect(parseContentRange(bad)).toBe(null)
  }
})
