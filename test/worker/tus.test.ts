// In charge of: the rules of tus 1.0.0, each quoted where it is tested, and that nothing is left of an upload that ended.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { MAX_RESUMABLE_BYTES, UPLOAD_CHUNK_BYTES, uploadPartBytes } from '../../worker/contract/limits.ts'
import { openSource } from '../../worker/storage/open.ts'
import { sweep } from '../../worker/sweep.ts'
import { resumable } from '../../worker/tus/upload.ts'
import { BASE, call, post } from './client.ts'

const MIB = 1024 * 1024
const CHUNK = { 'content-type': 'application/offset+octet-stream' }
const bytes = (length: number, seed = 1) => new Uint8Array(length).map((_, i) => (i * 31 + (i >> 9) * seed) % 251)
const large = bytes(12 * MIB + 17)

const tus = (path: string, method: string, headers: Record<string, string> = {}, body?: BodyInit, key?: string) =>
  call(path, {
    method,
    headers: { 'tus-resumable': '1.0.0', ...headers },
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { key }),
  })

async function begin(length: number, headers: Record<string, string> = {}): Promise<string> {
  const response = await tus('/uploads', 'POST', { 'upload-length': String(length), ...headers })
  expect([response.status, await response.clone().text()]).toEqual([201, expect.any(String)])
  return new URL(response.headers.get('location') ?? '').pathname
}
const patch = (path: string, offset: number, body: BodyInit, headers: Record<string, string> = {}) =>
  tus(path, 'PATCH', { ...CHUNK, 'upload-offset': String(offset), ...headers }, body)
const offsetOf = async (path: string) => Number((await tus(path, 'HEAD')).headers.get('upload-offset') ?? Number.NaN)
const numberOf = (path: string) => Number(path.split('/').at(-1))
const stub = (path: string) => resumable(env, numberOf(path))
const codeOf = async (response: Response) => [
  response.status,
  (await response.json<{ error: { code: string } }>()).error.code,
]
async function checksum(algorithm: string, body: Uint8Array): Promise<string> {
  const name = { sha1: 'SHA-1', sha256: 'SHA-256', md5: 'MD5' }[algorithm] ?? ''
  const digest = new Uint8Array(await crypto.subtle.digest(name, body))
  return `${algorithm} ${btoa(String.fromCharCode(...digest))}`
}
async function read(path: string): Promise<Uint8Array> {
  return new Uint8Array(await (await call(path)).arrayBuffer())
}
async function same(path: string, expected: Uint8Array): Promise<boolean> {
  const [a, b] = await Promise.all([await read(path), expected].map((each) => checksum('sha256', each)))
  return a === b
}
/** A body whose sender decides when it goes on, and how it ends. */
function held() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  return { readable, writer: writable.getWriter() }
}
async function left(path: string): Promise<unknown> {
  const row = await env.DB.prepare('SELECT key FROM uploads WHERE number = ?').bind(numberOf(path)).first()
  const { objects } = await env.BUCKET.list({ prefix: 'uploads/' })
  const inside = await runInDurableObject(stub(path), (_, state) => [
    state.storage.sql.exec('SELECT count(*) AS n FROM parts').one()['n'],
    state.storage.sql.exec('SELECT count(*) AS n FROM tail').one()['n'],
  ])
  return { row, objects: objects.length, inside }
}
const NOTHING = { row: null, objects: 0, inside: [0, 0] }

beforeEach(async () => {
  const { objects } = await env.BUCKET.list({ prefix: 'uploads/' })
  await env.BUCKET.delete(objects.map(({ key }) => key))
  return () => void vi.useRealTimers()
})

describe('version and discovery', () => {
  test('"it MUST respond with the 412 Precondition Failed status and MUST include the Tus-Version header"', async () => {
    const path = await begin(3)
    for (const [address, method] of [
      ['/uploads', 'POST'],
      [path, 'PATCH'],
      [path, 'DELETE'],
      [path, 'HEAD'],
    ] as const) {
      const headers = { ...CHUNK, 'tus-resumable': '0.2.2', 'upload-length': '3', 'upload-offset': '0' }
      const response = await tus(address, method, headers)
      expect([method, response.status, response.headers.get('tus-version')]).toEqual([method, 412, '1.0.0'])
      expect(response.headers.get('tus-resumable')).toBe('1.0.0')
    }
    // "the Server MUST NOT process the request"
    expect(await offsetOf(path)).toBe(0)
    expect((await call(path, { method: 'PATCH', headers: CHUNK, body: 'abc' })).status).toBe(412)
  })

  test('"MUST contain the Tus-Version header. It MAY include the Tus-Extension and Tus-Max-Size headers"', async () => {
    for (const address of ['/uploads', '/uploads/7']) {
      const response = await call(address, { method: 'OPTIONS', headers: { 'tus-resumable': '9' } })
      expect(response.status).toBe(204)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'tus-version': '1.0.0',
        'tus-extension': 'creation,creation-with-upload,termination,checksum,expiration',
        'tus-max-size': String(MAX_RESUMABLE_BYTES),
        'tus-checksum-algorithm': 'sha1,sha256,md5',
      })
    }
  })

  test('a page of any origin may send and read the headers, without credentials', async () => {
    const asks = 'authorization,tus-resumable,upload-length,upload-metadata,upload-offset,upload-checksum,content-type'
    const preflight = await call('/uploads/1', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://page.test',
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': asks,
      },
    })
    const allowed = (preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/, ?/)
    expect(asks.split(',').filter((name) => !allowed.includes(name))).toEqual([])
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH')
    const response = await tus('/uploads', 'POST', { 'upload-length': '3', origin: 'https://page.test' })
    const exposed = (response.headers.get('access-control-expose-headers') ?? '').toLowerCase().split(/, ?/)
    const needed = ['location', 'tus-resumable', 'upload-offset', 'upload-length', 'upload-expires', 'upload-metadata']
    expect(needed.filter((name) => !exposed.includes(name))).toEqual([])
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  })

  test('a refusal is tus too', async () => {
    const response = await tus('/uploads', 'POST', { 'upload-length': '3' }, undefined, 'nobody')
    expect([response.status, response.headers.get('tus-resumable')]).toEqual([401, '1.0.0'])
  })
})

describe('creation', () => {
  test('"The Server MUST acknowledge a successful upload creation with the 201 Created status. The Server MUST set the Location header"', async () => {
    const metadata = `filename ${btoa('My film.mp4')},filetype ${btoa('video/mp4')},note`
    const response = await tus('/uploads', 'POST', { 'upload-length': '3', 'upload-metadata': metadata })
    expect(response.status).toBe(201)
    const answer = await response.json<{ uploaded_file_number: number; input: string }>()
    expect(answer).toMatchObject({ uploaded_file_number: expect.any(Number), name: 'My film.mp4', size: 3 })
    expect(response.headers.get('location')).toBe(`${BASE}/uploads/${answer.uploaded_file_number}`)
    expect(response.headers.get('location')).toBe(answer.input)
    expect(response.headers.get('uploaded-file-number')).toBe(String(answer.uploaded_file_number))
    // "If the expiration is known at the creation, the Upload-Expires header MUST be included in the response"
    const days = (Date.parse(response.headers.get('upload-expires') ?? '') - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(3)
    const path = new URL(answer.input).pathname
    const head = await tus(path, 'HEAD')
    // "responses to HEAD requests MUST include the Upload-Metadata header and its value as specified by the Client"
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'upload-metadata': metadata,
      'upload-offset': '0',
      'upload-length': '3',
      'cache-control': 'no-store',
      'tus-resumable': '1.0.0',
    })
    expect((await call(path)).status).toBe(404)
    await patch(path, 0, 'abc')
    const got = await call(path)
    expect(await got.text()).toBe('abc')
    expect(got.headers.get('content-type')).toBe('video/mp4')
    expect(got.headers.get('content-disposition')).toContain('My film.mp4')
  })

  test.each<[string, Record<string, string>, number, string]>([
    ['no length', {}, 400, 'invalid_request'],
    ['a negative length', { 'upload-length': '-1' }, 400, 'invalid_request'],
    ['an empty file', { 'upload-length': '0' }, 400, 'invalid_request'],
    ['"If the length of the upload exceeds the maximum … 413"', { 'upload-length': '100000000001' }, 413, 'too_large'],
    ['a length to come', { 'upload-defer-length': '1' }, 400, 'invalid_request'],
    ['concatenation', { 'upload-length': '3', 'upload-concat': 'partial' }, 400, 'invalid_request'],
    ['"All keys MUST be unique"', { 'upload-length': '3', 'upload-metadata': 'a YQ==,a YQ==' }, 400, 'invalid_request'],
    [
      '"the value MUST be Base64 encoded"',
      { 'upload-length': '3', 'upload-metadata': 'a ???' },
      400,
      'invalid_request',
    ],
    ['"The key … MUST NOT be empty"', { 'upload-length': '3', 'upload-metadata': ' ,a YQ==' }, 400, 'invalid_request'],
    [
      'metadata without bound',
      { 'upload-length': '3', 'upload-metadata': `a ${'YWFh'.repeat(1100)}` },
      400,
      'invalid_request',
    ],
  ])('refuses %s', async (_, headers, status, code) => {
    expect(await codeOf(await tus('/uploads', 'POST', headers))).toEqual([status, code])
  })

  test('with upload: "the Server MUST include the Upload-Offset header in the response"', async () => {
    const first = await tus('/uploads', 'POST', { 'upload-length': '6', ...CHUNK }, 'abc')
    expect([first.status, first.headers.get('upload-offset')]).toEqual([201, '3'])
    const path = new URL(first.headers.get('location') ?? '').pathname
    expect((await patch(path, 3, 'def')).status).toBe(204)
    expect(await (await call(path)).text()).toBe('abcdef')
    const wrong = await tus('/uploads', 'POST', { 'upload-length': '6', 'content-type': 'video/mp4' }, 'abc')
    expect(await codeOf(wrong)).toEqual([415, 'unsupported_media_type'])
  })
})

describe('PATCH', () => {
  test('parts and the bytes between them become one object, ready to be an input at once', async () => {
    const path = await begin(large.length)
    for (let at = 0; at < large.length; at += 3_333_333) {
      const piece = large.subarray(at, at + 3_333_333)
      const response = await patch(path, at, piece)
      // "It MUST include the Upload-Offset header containing the new offset."
      expect([response.status, response.headers.get('upload-offset')]).toEqual([204, String(at + piece.length)])
      // "This header MUST be included in every PATCH response if the upload is going to expire."
      expect(Date.parse(response.headers.get('upload-expires') ?? '')).toBeGreaterThan(Date.now())
      // Between chunks the object forgets everything that is not stored.
      await evictDurableObject(stub(path))
    }
    expect(await same(path, large)).toBe(true)
    const source = await openSource(env, { provider: 'file-upload', account: 'default', number: numberOf(path) })
    expect((await source.stat()).size).toBe(large.length)
    expect(await offsetOf(path)).toBe(large.length)
    expect(await left(path)).toMatchObject({ objects: 1, inside: [0, 0] })
    const job = {
      input: String(numberOf(path)),
      videoProfiles: [{ output: '', width: 640, height: 360, video_bitrate: 600 }],
      audioProfiles: [],
      cloud_credentials: { input: { cloud_provider: 'file-upload' } },
    }
    expect((await post('/api/v0/job', job)).status).toBe(200)
  })

  test('a file of whole parts, and one that is a part', async () => {
    for (const length of [5 * MIB, 10 * MIB]) {
      const path = await begin(length)
      expect((await patch(path, 0, large.subarray(0, 3 * MIB))).status).toBe(204)
      expect((await patch(path, 3 * MIB, large.subarray(3 * MIB, length))).status).toBe(204)
      expect(await same(path, large.subarray(0, length))).toBe(true)
    }
  })

  test('"If the offsets do not match, the Server MUST respond with the 409 Conflict status without modifying the upload resource."', async () => {
    const path = await begin(6)
    await patch(path, 0, 'abc')
    for (const offset of [0, 2, 4, 7]) expect(await codeOf(await patch(path, offset, 'x'))).toEqual([409, 'conflict'])
    expect(await offsetOf(path)).toBe(3)
    await patch(path, 3, 'def')
    expect(await (await call(path)).text()).toBe('abcdef')
  })

  test('"All PATCH requests MUST use Content-Type: application/offset+octet-stream, otherwise the server SHOULD return a 415"', async () => {
    const path = await begin(3)
    const response = await patch(path, 0, 'abc', { 'content-type': 'application/octet-stream' })
    expect(await codeOf(response)).toEqual([415, 'unsupported_media_type'])
    expect(await offsetOf(path)).toBe(0)
    expect(await codeOf(await tus(path, 'PATCH', CHUNK, 'abc'))).toEqual([400, 'invalid_request'])
  })

  test('a body beyond the end, announced or not, is refused', async () => {
    const path = await begin(3)
    expect(await codeOf(await patch(path, 0, 'abcd'))).toEqual([413, 'too_large'])
    const body = held()
    const answer = patch(path, 0, body.readable)
    await body.writer.write(new Uint8Array(4)).catch(() => undefined)
    expect(await codeOf(await answer)).toEqual([413, 'too_large'])
    expect(await offsetOf(path)).toBe(0)
  })

  test('"The Server SHOULD always attempt to store as much of the received data as possible."', async () => {
    const path = await begin(large.length)
    const body = held()
    const answer = patch(path, 0, body.readable, { 'content-length': String(large.length) })
    await body.writer.write(large.subarray(0, 6 * MIB))
    await body.writer.abort(new Error('the connection broke')).catch(() => undefined)
    await answer.catch(() => undefined)
    await vi.waitFor(async () => expect(await offsetOf(path)).toBe(6 * MIB))
    expect((await patch(path, 6 * MIB, large.subarray(6 * MIB))).status).toBe(204)
    expect(await same(path, large)).toBe(true)
  })

  test('two clients that race: one writes, the other is told so', async () => {
    const path = await begin(6)
    const body = held()
    const slow = patch(path, 0, body.readable)
    await body.writer.write(new TextEncoder().encode('abc'))
    await vi.waitFor(async () => expect(await codeOf(await patch(path, 0, 'xyz'))).toEqual([423, 'locked']))
    await body.writer.close()
    expect((await slow).headers.get('upload-offset')).toBe('3')
    expect(await codeOf(await patch(path, 0, 'xyz'))).toEqual([409, 'conflict'])
    await patch(path, 3, 'def')
    expect(await (await call(path)).text()).toBe('abcdef')
  })

  test('a request that has been silent for long gives way', async () => {
    const path = await begin(6)
    const body = held()
    const silent = patch(path, 0, body.readable)
    await body.writer.write(new TextEncoder().encode('abc'))
    await vi.waitFor(async () => expect((await patch(path, 3, 'def')).status).toBe(423))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    expect((await patch(path, 3, 'def')).status).toBe(204)
    expect(await (await call(path)).text()).toBe('abcdef')
    expect((await silent).status).toBe(400)
    await body.writer.abort().catch(() => undefined)
  })

  test('"X-HTTP-Method-Override … MUST be interpreted as the request’s method"', async () => {
    const path = await begin(3)
    const headers = { ...CHUNK, 'upload-offset': '0', 'x-http-method-override': 'PATCH' }
    expect((await tus(path, 'POST', headers, 'abc')).status).toBe(204)
    expect((await tus(path, 'POST', { 'x-http-method-override': 'DELETE' })).status).toBe(204)
    expect((await call(path)).status).toBe(404)
  })
})

describe('checksum', () => {
  test.each(['sha1', 'sha256', 'md5'])('%s: a chunk that is right is stored', async (algorithm) => {
    const path = await begin(large.length)
    const header = { 'upload-checksum': await checksum(algorithm, large) }
    expect((await patch(path, 0, large, header)).status).toBe(204)
    expect(await same(path, large)).toBe(true)
  })

  test('"the Server MUST respond 460 … and the upload and its offset MUST NOT be updated"', async () => {
    const path = await begin(large.length)
    await patch(path, 0, large.subarray(0, 1000))
    const wrong = bytes(large.length - 1000, 7)
    const header = { 'upload-checksum': await checksum('sha1', large.subarray(1000)) }
    expect(await codeOf(await patch(path, 1000, wrong, header))).toEqual([460, 'checksum_mismatch'])
    expect(await offsetOf(path)).toBe(1000)
    await evictDurableObject(stub(path))
    expect((await patch(path, 1000, large.subarray(1000), header)).status).toBe(204)
    expect(await same(path, large)).toBe(true)
  })

  test('a chunk that breaks off cannot be compared: nothing of it is kept', async () => {
    const path = await begin(large.length)
    const body = held()
    const answer = patch(path, 0, body.readable, { 'upload-checksum': await checksum('sha1', large) })
    await body.writer.write(large.subarray(0, 6 * MIB))
    await body.writer.abort(new Error('the connection broke')).catch(() => undefined)
    await answer.catch(() => undefined)
    await vi.waitFor(async () => expect((await patch(path, 0, large)).status).toBe(204))
    expect(await same(path, large)).toBe(true)
  })

  test('"400 Bad Request if the checksum algorithm is not supported by the server"', async () => {
    const path = await begin(3)
    for (const value of ['crc32 AAAA', 'sha1', 'sha1 ???', 'constructor AAAA'])
      expect(await codeOf(await patch(path, 0, 'abc', { 'upload-checksum': value }))).toEqual([400, 'invalid_request'])
    expect(await offsetOf(path)).toBe(0)
  })
})

describe('the end', () => {
  test('termination: 204, "For all future requests to this URL, the Server SHOULD respond with … 410 Gone"', async () => {
    const path = await begin(large.length)
    await patch(path, 0, large.subarray(0, 7 * MIB))
    const upload = await runInDurableObject(stub(path), (_, state) =>
      state.storage.kv.get<{ upload: string; key: string }>('record'),
    )
    expect(upload?.upload).toEqual(expect.any(String))
    expect((await tus(path, 'DELETE')).status).toBe(204)
    expect(await left(path)).toEqual(NOTHING)
    const id = atob((upload?.upload ?? '').replaceAll('-', '+').replaceAll('_', '/')).split(' ')[0] ?? ''
    const resumed = env.BUCKET.resumeMultipartUpload(upload?.key ?? '', id)
    await expect(resumed.uploadPart(1, new Uint8Array(1))).rejects.toThrow(/10024/)
    expect((await tus(path, 'HEAD')).status).toBe(410)
    expect(await codeOf(await patch(path, 0, 'x'))).toEqual([410, 'gone'])
    expect((await tus(path, 'DELETE')).status).toBe(410)
  })

  test('termination while a chunk arrives wins', async () => {
    const path = await begin(large.length)
    const body = held()
    const answer = patch(path, 0, body.readable)
    await body.writer.write(large.subarray(0, 6 * MIB))
    expect((await tus(path, 'DELETE')).status).toBe(204)
    expect((await answer).status).toBeGreaterThanOrEqual(400)
    await body.writer.abort().catch(() => undefined)
    expect(await left(path)).toEqual(NOTHING)
  })

  test('a finished upload is deleted like any other file', async () => {
    const path = await begin(3)
    await patch(path, 0, 'abc')
    expect((await tus(path, 'DELETE')).status).toBe(204)
    expect(await left(path)).toEqual(NOTHING)
    const plain = await begin(3)
    await patch(plain, 0, 'abc')
    expect((await call(plain, { method: 'DELETE' })).status).toBe(204)
    expect((await tus(plain, 'HEAD')).status).toBe(410)
  })

  test.each(['alarm', 'sweep'])('expiry by the %s leaves nothing and is 410', async (by) => {
    const path = await begin(large.length)
    await patch(path, 0, large.subarray(0, 7 * MIB))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * 86_400_000 + 1000 })
    expect((await tus(path, 'HEAD')).status).toBe(410)
    if (by === 'alarm') await runDurableObjectAlarm(stub(path))
    else await sweep(env)
    vi.useRealTimers()
    expect(await left(path)).toEqual(NOTHING)
    expect(await codeOf(await patch(path, 7 * MIB, 'x'))).toEqual([410, 'gone'])
    // The tombstone goes too.
    await runDurableObjectAlarm(stub(path))
    await runInDurableObject(stub(path), async (_, state) =>
      expect([...(await state.storage.list()).keys()]).toEqual([]),
    )
    expect((await tus(path, 'HEAD')).status).toBe(404)
  })

  test('an end that was interrupted is made good by the next HEAD', async () => {
    const path = await begin(large.length)
    await patch(path, 0, large.subarray(0, 11 * MIB))
    // The ledger is away when the last chunk comes.
    await env.DB.exec("CREATE TRIGGER away BEFORE UPDATE ON uploads BEGIN SELECT RAISE(ABORT, 'away'); END")
    const answer = await patch(path, 11 * MIB, large.subarray(11 * MIB)).then((r) => r.status)
    expect(answer).toBeGreaterThanOrEqual(500)
    // Only a finished upload may say that it is whole.
    expect((await tus(path, 'HEAD')).status).toBe(503)
    await env.DB.exec('DROP TRIGGER away')
    await evictDurableObject(stub(path))
    expect(await offsetOf(path)).toBe(large.length)
    expect(await same(path, large)).toBe(true)
  })

  test('another account’s upload is the same 404 as a missing one', async () => {
    const path = await begin(6)
    const made = await call('/api/v0/keys', {
      key: 'test-only-admin-key',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ account: 'bob', label: 'x' }),
    })
    const { key } = await made.json<{ key: string }>()
    const missing = await tus('/uploads/999999', 'PATCH', { ...CHUNK, 'upload-offset': '0' }, 'x', key)
    const body = await missing.text()
    expect(missing.status).toBe(404)
    for (const method of ['HEAD', 'PATCH', 'DELETE']) {
      const response = await tus(
        path,
        method,
        { ...CHUNK, 'upload-offset': '0' },
        method === 'PATCH' ? 'x' : undefined,
        key,
      )
      expect([method, response.status]).toEqual([method, 404])
      if (method !== 'HEAD') expect(await response.text()).toBe(body)
    }
    expect(await offsetOf(path)).toBe(0)
  })
})

test('parts are few enough, and the recommended chunk is whole parts below what a request may carry', () => {
  for (const length of [1, 52_428_800_000, 52_428_800_001, MAX_RESUMABLE_BYTES]) {
    expect(Math.ceil(length / uploadPartBytes(length))).toBeLessThanOrEqual(10_000)
    expect(UPLOAD_CHUNK_BYTES % uploadPartBytes(length)).toBe(0)
  }
  expect(UPLOAD_CHUNK_BYTES).toBeLessThan(100_000_000)
})
