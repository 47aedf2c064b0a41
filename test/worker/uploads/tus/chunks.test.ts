// In charge of: the rules of tus 1.0.0 for PATCH and checksums, each quoted where it is tested.
import { evictDurableObject } from 'cloudflare:test'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { openUpload } from '../../support/openUpload.ts'
import { apiRequest, postJson } from '../../support/apiClient.ts'
import {
  createUpload,
  bytes,
  checksum,
  CHUNK,
  statusAndCode,
  emptyBucket,
  heldBody,
  LARGE_BODY,
  remainsOfUpload,
  MIB,
  numberOf,
  offsetOf,
  patch,
  hasContent,
  uploadObject,
  tus,
} from './tusClient.ts'

beforeEach(emptyBucket)

describe('PATCH', () => {
  test('parts and the bytes between them become one object, ready to be an input at once', async () => {
    const path = await createUpload(LARGE_BODY.length)
    for (let at = 0; at < LARGE_BODY.length; at += 3_333_333) {
      const chunk = LARGE_BODY.subarray(at, at + 3_333_333)
      const response = await patch(path, at, chunk)
      // "It MUST include the Upload-Offset header containing the new offset."
      expect([response.status, response.headers.get('upload-offset')]).toEqual([204, String(at + chunk.length)])
      // "This header MUST be included in every PATCH response if the upload is going to expire."
      expect(Date.parse(response.headers.get('upload-expires') ?? '')).toBeGreaterThan(Date.now())
      // Between chunks the object loses everything that is not stored.
      await evictDurableObject(uploadObject(path))
    }
    expect(await hasContent(path, LARGE_BODY)).toBe(true)
    const source = await openUpload('default', numberOf(path))
    expect((await source.stat()).size).toBe(LARGE_BODY.length)
    expect(await offsetOf(path)).toBe(LARGE_BODY.length)
    expect(await remainsOfUpload(path)).toMatchObject({ objects: 1, inside: [0, 0] })
    const job = {
      input: String(numberOf(path)),
      videoProfiles: [{ output: '', width: 640, height: 360, video_bitrate: 600 }],
      audioProfiles: [],
      cloud_credentials: { input: { cloud_provider: 'file-upload' } },
    }
    expect((await postJson('/api/v0/job', job)).status).toBe(200)
  })

  test('a file of whole parts, and one that is a part', async () => {
    for (const length of [5 * MIB, 10 * MIB]) {
      const path = await createUpload(length)
      expect((await patch(path, 0, LARGE_BODY.subarray(0, 3 * MIB))).status).toBe(204)
      expect((await patch(path, 3 * MIB, LARGE_BODY.subarray(3 * MIB, length))).status).toBe(204)
      expect(await hasContent(path, LARGE_BODY.subarray(0, length))).toBe(true)
    }
  })

  test('"If the offsets do not match, the Server MUST respond with the 409 Conflict status without modifying the upload resource."', async () => {
    const path = await createUpload(6)
    await patch(path, 0, 'abc')
    for (const offset of [0, 2, 4, 7])
      expect(await statusAndCode(await patch(path, offset, 'x'))).toEqual([409, 'conflict'])
    expect(await offsetOf(path)).toBe(3)
    await patch(path, 3, 'def')
    expect(await (await apiRequest(path)).text()).toBe('abcdef')
  })

  test('"All PATCH requests MUST use Content-Type: application/offset+octet-stream, otherwise the server SHOULD return a 415"', async () => {
    const path = await createUpload(3)
    const response = await patch(path, 0, 'abc', { 'content-type': 'application/octet-stream' })
    expect(await statusAndCode(response)).toEqual([415, 'unsupported_media_type'])
    expect(await offsetOf(path)).toBe(0)
    expect(await statusAndCode(await tus(path, 'PATCH', CHUNK, 'abc'))).toEqual([400, 'invalid_request'])
  })

  test('a body beyond the end, announced or not, is refused', async () => {
    const path = await createUpload(3)
    expect(await statusAndCode(await patch(path, 0, 'abcd'))).toEqual([413, 'too_large'])
    const body = heldBody()
    const answer = patch(path, 0, body.readable)
    await body.writer.write(new Uint8Array(4)).catch(() => undefined)
    expect(await statusAndCode(await answer)).toEqual([413, 'too_large'])
    expect(await offsetOf(path)).toBe(0)
  })

  test('"The Server SHOULD always attempt to store as much of the received data as possible."', async () => {
    const path = await createUpload(LARGE_BODY.length)
    const body = heldBody()
    const answer = patch(path, 0, body.readable, { 'content-length': String(LARGE_BODY.length) })
    await body.writer.write(LARGE_BODY.subarray(0, 6 * MIB))
    await body.writer.abort(new Error('the connection broke')).catch(() => undefined)
    await answer.catch(() => undefined)
    await expect.poll(() => offsetOf(path)).toBe(6 * MIB)
    expect((await patch(path, 6 * MIB, LARGE_BODY.subarray(6 * MIB))).status).toBe(204)
    expect(await hasContent(path, LARGE_BODY)).toBe(true)
  })

  test('two clients race: one writes, the other gets 423', async () => {
    const path = await createUpload(6)
    const body = heldBody()
    const slow = patch(path, 0, body.readable)
    await body.writer.write(new TextEncoder().encode('abc'))
    await expect.poll(async () => statusAndCode(await patch(path, 0, 'xyz'))).toEqual([423, 'locked'])
    await body.writer.close()
    expect((await slow).headers.get('upload-offset')).toBe('3')
    expect(await statusAndCode(await patch(path, 0, 'xyz'))).toEqual([409, 'conflict'])
    await patch(path, 3, 'def')
    expect(await (await apiRequest(path)).text()).toBe('abcdef')
  })

  test('a request that has been silent for long gives way', async () => {
    const path = await createUpload(6)
    const body = heldBody()
    const silent = patch(path, 0, body.readable)
    await body.writer.write(new TextEncoder().encode('abc'))
    await expect.poll(async () => (await patch(path, 3, 'def')).status).toBe(423)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    expect((await patch(path, 3, 'def')).status).toBe(204)
    expect(await (await apiRequest(path)).text()).toBe('abcdef')
    expect((await silent).status).toBe(400)
    await body.writer.abort().catch(() => undefined)
  })

  test('"X-HTTP-Method-Override … MUST be interpreted as the request’s method"', async () => {
    const path = await createUpload(3)
    const headers = { ...CHUNK, 'upload-offset': '0', 'x-http-method-override': 'PATCH' }
    expect((await tus(path, 'POST', headers, 'abc')).status).toBe(204)
    expect((await tus(path, 'POST', { 'x-http-method-override': 'DELETE' })).status).toBe(204)
    expect((await apiRequest(path)).status).toBe(404)
  })
})

describe('checksum', () => {
  test.each(['sha1', 'sha256', 'md5'])('%s: a chunk that is right is stored', async (algorithm) => {
    const path = await createUpload(LARGE_BODY.length)
    const header = { 'upload-checksum': await checksum(algorithm, LARGE_BODY) }
    expect((await patch(path, 0, LARGE_BODY, header)).status).toBe(204)
    expect(await hasContent(path, LARGE_BODY)).toBe(true)
  })

  test('"the Server MUST respond 460 … and the upload and its offset MUST NOT be updated"', async () => {
    const path = await createUpload(LARGE_BODY.length)
    await patch(path, 0, LARGE_BODY.subarray(0, 1000))
    const wrong = bytes(LARGE_BODY.length - 1000, 7)
    const header = { 'upload-checksum': await checksum('sha1', LARGE_BODY.subarray(1000)) }
    expect(await statusAndCode(await patch(path, 1000, wrong, header))).toEqual([460, 'checksum_mismatch'])
    expect(await offsetOf(path)).toBe(1000)
    await evictDurableObject(uploadObject(path))
    expect((await patch(path, 1000, LARGE_BODY.subarray(1000), header)).status).toBe(204)
    expect(await hasContent(path, LARGE_BODY)).toBe(true)
  })

  test('a truncated chunk cannot be checked against its checksum: nothing of it is stored', async () => {
    const path = await createUpload(LARGE_BODY.length)
    const body = heldBody()
    const answer = patch(path, 0, body.readable, { 'upload-checksum': await checksum('sha1', LARGE_BODY) })
    await body.writer.write(LARGE_BODY.subarray(0, 6 * MIB))
    await body.writer.abort(new Error('the connection broke')).catch(() => undefined)
    await answer.catch(() => undefined)
    await expect.poll(async () => (await patch(path, 0, LARGE_BODY)).status).toBe(204)
    expect(await hasContent(path, LARGE_BODY)).toBe(true)
  })

  test('"400 Bad Request if the checksum algorithm is not supported by the server"', async () => {
    const path = await createUpload(3)
    for (const value of ['crc32 AAAA', 'sha1', 'sha1 ???', 'constructor AAAA'])
      expect(await statusAndCode(await patch(path, 0, 'abc', { 'upload-checksum': value }))).toEqual([
        400,
        'invalid_request',
      ])
    expect(await offsetOf(path)).toBe(0)
  })
})
