// In charge of: how a tus upload ends, who owns it, and that nothing remains of an ended one.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { STEP_TIMEOUT_MS } from '../../../support/timeouts.ts'
import { reconcile } from '../../../../worker/reconciler.ts'
import { apiRequest, createKey } from '../../support/apiClient.ts'
import {
  createUpload,
  CHUNK,
  statusAndCode,
  emptyBucket,
  heldBody,
  LARGE_BODY,
  remainsOfUpload,
  MIB,
  NOTHING_LEFT,
  offsetOf,
  patch,
  hasContent,
  uploadObject,
  tus,
} from './tusClient.ts'

beforeEach(emptyBucket)

describe('the end', () => {
  test('termination: 204, "For all future requests to this URL, the Server SHOULD respond with … 410 Gone"', async () => {
    const path = await createUpload(LARGE_BODY.length)
    await patch(path, 0, LARGE_BODY.subarray(0, 7 * MIB))
    const upload = await runInDurableObject(uploadObject(path), (_, state) =>
      state.storage.kv.get<{ upload: string; key: string }>('record'),
    )
    expect(upload?.upload).toEqual(expect.any(String))
    expect((await tus(path, 'DELETE')).status).toBe(204)
    expect(await remainsOfUpload(path)).toEqual(NOTHING_LEFT)
    const id = atob((upload?.upload ?? '').replaceAll('-', '+').replaceAll('_', '/')).split(' ')[0] ?? ''
    const resumed = env.BUCKET.resumeMultipartUpload(upload?.key ?? '', id)
    await expect(resumed.uploadPart(1, new Uint8Array(1))).rejects.toThrow(/10024/)
    expect((await tus(path, 'HEAD')).status).toBe(410)
    expect(await statusAndCode(await patch(path, 0, 'x'))).toEqual([410, 'gone'])
    expect((await tus(path, 'DELETE')).status).toBe(410)
  })

  test('termination while a chunk arrives wins', async () => {
    const path = await createUpload(LARGE_BODY.length)
    const body = heldBody()
    const answer = patch(path, 0, body.readable)
    await body.writer.write(LARGE_BODY.subarray(0, 6 * MIB))
    // Its first part is stored, and it waits for more.
    await vi.waitUntil(async () => (await offsetOf(path)) > 0, { timeout: STEP_TIMEOUT_MS, interval: 5 })
    expect((await tus(path, 'DELETE')).status).toBe(204)
    expect((await answer).status).toBeGreaterThanOrEqual(400)
    await body.writer.abort().catch(() => undefined)
    expect(await remainsOfUpload(path)).toEqual(NOTHING_LEFT)
  })

  test('a finished upload is deleted like any other file', async () => {
    const path = await createUpload(3)
    await patch(path, 0, 'abc')
    expect((await tus(path, 'DELETE')).status).toBe(204)
    expect(await remainsOfUpload(path)).toEqual(NOTHING_LEFT)
    const plain = await createUpload(3)
    await patch(plain, 0, 'abc')
    expect((await apiRequest(plain, { method: 'DELETE' })).status).toBe(204)
    expect((await tus(plain, 'HEAD')).status).toBe(410)
  })

  test('an unfinished upload is deleted without the protocol, too', async () => {
    const path = await createUpload(LARGE_BODY.length)
    await patch(path, 0, LARGE_BODY.subarray(0, 7 * MIB))
    expect((await apiRequest(path, { method: 'DELETE' })).status).toBe(204)
    expect(await remainsOfUpload(path)).toEqual(NOTHING_LEFT)
    expect((await tus(path, 'HEAD')).status).toBe(410)
    expect((await apiRequest(path, { method: 'DELETE' })).status).toBe(404)
  })

  test.each(['alarm', 'sweep'])('expiry by the %s leaves nothing and is 410', async (by) => {
    const path = await createUpload(LARGE_BODY.length)
    await patch(path, 0, LARGE_BODY.subarray(0, 7 * MIB))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * 86_400_000 + 1000 })
    expect((await tus(path, 'HEAD')).status).toBe(410)
    if (by === 'alarm') await runDurableObjectAlarm(uploadObject(path))
    else await reconcile(env, Infinity)
    vi.useRealTimers()
    expect(await remainsOfUpload(path)).toEqual(NOTHING_LEFT)
    expect(await statusAndCode(await patch(path, 7 * MIB, 'x'))).toEqual([410, 'gone'])
    // The tombstone is deleted too.
    await runDurableObjectAlarm(uploadObject(path))
    await runInDurableObject(uploadObject(path), async (_, state) =>
      expect([...(await state.storage.list()).keys()]).toEqual([]),
    )
    expect((await tus(path, 'HEAD')).status).toBe(404)
  })

  test('an end that was interrupted is made good by the next HEAD', async () => {
    const path = await createUpload(LARGE_BODY.length)
    await patch(path, 0, LARGE_BODY.subarray(0, 11 * MIB))
    // The database fails when the last chunk arrives.
    await env.DB.exec("CREATE TRIGGER away BEFORE UPDATE ON uploads BEGIN SELECT RAISE(ABORT, 'away'); END")
    const answer = await patch(path, 11 * MIB, LARGE_BODY.subarray(11 * MIB)).then((r) => r.status)
    expect(answer).toBeGreaterThanOrEqual(500)
    // Only a finished upload may report its full offset.
    expect((await tus(path, 'HEAD')).status).toBe(503)
    await env.DB.exec('DROP TRIGGER away')
    await evictDurableObject(uploadObject(path))
    expect(await offsetOf(path)).toBe(LARGE_BODY.length)
    expect(await hasContent(path, LARGE_BODY)).toBe(true)
  })

  test('another account’s upload is the same 404 as a missing one', async () => {
    const path = await createUpload(6)
    const { key } = await createKey()
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
