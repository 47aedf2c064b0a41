// In charge of: the rules of tus 1.0.0 for versions, discovery and creation, each quoted where it is tested.
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { MAX_RESUMABLE_BYTES, UPLOAD_CHUNK_BYTES, uploadPartBytes } from '#contract/limits.ts'
import { BASE_URL, apiRequest } from '../../support/apiClient.ts'
import { createUpload, CHUNK, statusAndCode, emptyBucket, offsetOf, patch, tus } from './tusClient.ts'

beforeEach(emptyBucket)

describe('version and discovery', () => {
  test('"it MUST respond with the 412 Precondition Failed status and MUST include the Tus-Version header"', async () => {
    const path = await createUpload(3)
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
    expect((await apiRequest(path, { method: 'PATCH', headers: CHUNK, body: 'abc' })).status).toBe(412)
  })

  test('"MUST contain the Tus-Version header. It MAY include the Tus-Extension and Tus-Max-Size headers"', async () => {
    for (const address of ['/uploads', '/uploads/7']) {
      const response = await apiRequest(address, { method: 'OPTIONS', headers: { 'tus-resumable': '9' } })
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
    const preflight = await apiRequest('/uploads/1', {
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
    expect(response.headers.get('location')).toBe(`${BASE_URL}/uploads/${answer.uploaded_file_number}`)
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
    expect((await apiRequest(path)).status).toBe(404)
    await patch(path, 0, 'abc')
    const got = await apiRequest(path)
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
    expect(await statusAndCode(await tus('/uploads', 'POST', headers))).toEqual([status, code])
  })

  test('one whose object cannot be made leaves no row that would count', async () => {
    const counted = () => env.DB.prepare('SELECT COUNT(*) AS n FROM uploads').first<number>('n')
    const before = await counted()
    vi.spyOn(env.UPLOAD, 'get').mockImplementation(() => {
      throw new Error('Network connection lost.')
    })
    const response = await tus('/uploads', 'POST', { 'upload-length': '3' })
    vi.restoreAllMocks()
    expect([response.status, await counted()]).toEqual([503, before])
  })

  test('with upload: "the Server MUST include the Upload-Offset header in the response"', async () => {
    const first = await tus('/uploads', 'POST', { 'upload-length': '6', ...CHUNK }, 'abc')
    expect([first.status, first.headers.get('upload-offset')]).toEqual([201, '3'])
    const path = new URL(first.headers.get('location') ?? '').pathname
    expect((await patch(path, 3, 'def')).status).toBe(204)
    expect(await (await apiRequest(path)).text()).toBe('abcdef')
    const wrong = await tus('/uploads', 'POST', { 'upload-length': '6', 'content-type': 'video/mp4' }, 'abc')
    expect(await statusAndCode(wrong)).toEqual([415, 'unsupported_media_type'])
  })
})

test('parts are few enough, and the recommended chunk is whole parts below what a request may carry', () => {
  for (const length of [1, 52_428_800_000, 52_428_800_001, MAX_RESUMABLE_BYTES]) {
    expect(Math.ceil(length / uploadPartBytes(length))).toBeLessThanOrEqual(10_000)
    expect(UPLOAD_CHUNK_BYTES % uploadPartBytes(length)).toBe(0)
  }
  expect(UPLOAD_CHUNK_BYTES).toBeLessThan(100_000_000)
})
