// In charge of: all outputs of a job as one tar: who may read it, its length before its first byte, and ranges of it.
// Not in charge of: whether other programs can read it (test/node/docs/sharing.test.ts).
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { measureArchive, streamArchive } from '../../../worker/delivery/tarArchive.ts'
import { hmacSign } from '../../../worker/secrets/hmac.ts'
import { BASE_URL, apiRequest, createJob } from '../support/apiClient.ts'
import type { FakeAttempt } from '../support/fakeTranscoder.ts'
import { advanceClock, readStatus, startJob } from '../support/jobFixture.ts'

const DAY_MS = 86_400_000
const video = new Uint8Array(1000).map((_, n) => n % 251)

async function completed(
  change: Record<string, unknown> = {},
): Promise<{ id: number; attempt: FakeAttempt; url: string }> {
  const { id, attempt } = await startJob(change)
  await attempt.finish([await attempt.storeObject('film.mp4', video)])
  return { id, attempt, url: (await readStatus(id)).archive_url }
}

/** Without a key, as a visitor. */
const read = (address: string, init: RequestInit = {}) =>
  apiRequest(address.slice(BASE_URL.length), { ...init, headers: { ...(init.headers as object), authorization: '' } })
const bytesOf = async (answer: Response) => new Uint8Array(await answer.arrayBuffer())
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).replace(/\0.*$/s, '')

test('it has the outputs with their bytes, and its length is known before', async () => {
  const { url } = await completed({ input: 'https://media.test/My%20film.mov' })
  expect(url).toMatch(/^https:\/\/service\.test\/a\/\d+\.[\w-]{43}\/default\/[0-9a-f-]{36}\/My_film\.tar$/)
  const answer = await read(url)
  expect(answer.status).toBe(200)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/x-tar',
    'content-length': '2560',
    'content-disposition': 'attachment; filename="My_film.tar"',
    'access-control-allow-origin': '*',
    'accept-ranges': 'bytes',
  })
  const bytes = await bytesOf(answer)
  expect(bytes.length).toBe(2560)
  expect(text(bytes.subarray(0, 100))).toBe('My_film/film.mp4')
  expect(bytes.subarray(512, 1512)).toEqual(video)
  expect(bytes.subarray(1512).every((byte) => byte === 0)).toBe(true)
  expect(await bytesOf(await read(url))).toEqual(bytes)

  const head = await read(url, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), (await bytesOf(head)).length]).toEqual([200, '2560', 0])
  const etag = head.headers.get('etag') ?? ''
  expect((await read(url, { headers: { 'if-none-match': etag } })).status).toBe(304)
})

test('what broke off goes on: ranges that begin and end anywhere', async () => {
  const { url, attempt } = await completed()
  await env.BUCKET.put(`out/default/${attempt.job}/a/${'long-'.repeat(30)}é.bin`, video.subarray(0, 512))
  await env.BUCKET.put(`out/default/${attempt.job}/empty`, new Uint8Array(0))
  const whole = await read(url)
  const etag = whole.headers.get('etag') ?? ''
  const bytes = await bytesOf(whole)
  const size = bytes.length
  for (const [from, to] of [
    [0, 0],
    [0, size - 1],
    [511, 512],
    [700, 1900],
    [1023, 2600],
    [size - 1, size - 1],
  ] as const) {
    const part = await read(url, { headers: { range: `bytes=${from}-${to}`, 'if-range': etag } })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes ${from}-${to}/${size}`])
    expect(await bytesOf(part), `${from}-${to}`).toEqual(bytes.subarray(from, to + 1))
  }
  const beyond = await read(url, { headers: { range: `bytes=${size}-` } })
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${size}`])
  // If-Range names another archive than the interrupted one: the answer is the whole archive.
  const changed = await read(url, { headers: { range: 'bytes=5-', 'if-range': '"other"' } })
  expect([changed.status, (await bytesOf(changed)).length]).toEqual([200, size])
})

test('more objects than one page of a store listing, in one order', async () => {
  const archived = {
    account: 'default',
    jobId: 'job-pages',
    attemptDirectory: 'job-race-1',
    directory: 'd',
    finishedAt: 0,
  }
  const count = 1003
  for (let n = 0; n < count; n += 100) {
    const batch = Array.from({ length: Math.min(100, count - n) }, (_, k) => String(n + k).padStart(5, '0'))
    await Promise.all(batch.map((name) => env.BUCKET.put(`out/default/job-pages/${name}.m4s`, name)))
  }
  const measured = await measureArchive(env, archived)
  expect(measured?.size).toBe(count * 1024 + 1024)
  const bytes = await bytesOf(new Response(streamArchive(env, archived, { offset: 0, length: measured!.size })))
  const found = Array.from({ length: count }, (_, n) => text(bytes.subarray(n * 1024 + 512, n * 1024 + 517)))
  expect(found).toEqual(Array.from({ length: count }, (_, n) => String(n).padStart(5, '0')))
})

test('what a lost attempt left is not in it', async () => {
  const { url, attempt } = await completed()
  const before = await bytesOf(await read(url))
  await env.BUCKET.put(`out/default/${attempt.job}/video_0/${attempt.job}-9/00001.m4s`, video)
  expect(await bytesOf(await read(url))).toEqual(before)
  await env.BUCKET.put(`out/default/${attempt.job}/video_0/${attempt.attemptDirectory}/00001.m4s`, video)
  expect((await bytesOf(await read(url))).length).toBe(before.length + 512 + 1024)
})

test('an object that is replaced or removed during the download cuts the archive off', async () => {
  const archived = {
    account: 'default',
    jobId: 'job-race',
    attemptDirectory: 'job-race-1',
    directory: 'd',
    finishedAt: 0,
  }
  await env.BUCKET.put('out/default/job-race/a', video)
  const measured = await measureArchive(env, archived)
  await env.BUCKET.delete('out/default/job-race/a')
  const stream = streamArchive(env, archived, { offset: 0, length: measured!.size })
  await expect(new Response(stream).arrayBuffer()).rejects.toThrow()
})

test('whatever is not a signature in force gets one and the same answer', async () => {
  const { url, attempt } = await completed()
  const other = await completed()
  const expiry = Math.floor(Date.now() / 1000) + 60
  const grant = async (label: string, of: string) => `${expiry}.${await hmacSign(env, label, of)}`
  const at = (it: string, path = `default/${attempt.job}/a.tar`) => `${BASE_URL}/a/${it}/${path}`
  const refused = [
    url.replace(attempt.job, other.attempt.job),
    url.replace('/default/', '/stranger/'),
    url.replace('/a.tar', '/b.tar'),
    url.replace('/a.tar', '/..%2fa.tar'),
    url.replace(/\/a\/(\d)/, (_, first: string) => `/a/${Number(first) + 1}`),
    url.replace(/\.[\w-]{43}\//, `.${'A'.repeat(43)}/`),
    at(await grant('object', `default/${attempt.job}/${expiry}`)),
    at(await grant('archive', `default/${attempt.job}/a.tar/${expiry}`)),
    at(`1.${await hmacSign(env, 'archive', JSON.stringify(['default', attempt.job, 'a.tar', '1']))}`),
    at('x'),
  ]
  const bodies = new Set<string>()
  for (const address of refused) {
    const answer = await read(address)
    expect([address, answer.status]).toEqual([address, 403])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    bodies.add(await answer.text())
  }
  expect(bodies.size).toBe(1)
  for (const path of ['/a', '/a/', `/a/x/default/${attempt.job}`])
    expect((await read(BASE_URL + path)).status).toBe(404)
})

test('it is gone with the job, and its address ends with the outputs', async () => {
  const { id, url } = await completed()
  const remaining = await completed()
  expect((await apiRequest(`/api/v0/job/${id}`, { method: 'DELETE' })).status).toBe(204)
  expect((await read(url)).status).toBe(404)
  advanceClock(30 * DAY_MS + 1000)
  expect((await read(remaining.url)).status).toBe(403)
})

test('jobs without finished outputs in the service store have none', async () => {
  const running = await createJob()
  expect((await readStatus(running)).archive_url).toBeNull()
  await apiRequest(`/api/v0/job/${running}/cancel`, { method: 'POST' })
  expect((await readStatus(running)).archive_url).toBeNull()
  const { id } = await completed()
  await env.DB.prepare(
    `UPDATE jobs SET config = json_set(config, '$.cloud_credentials.output.cloud_provider', 'aws') WHERE id = ?1`,
  )
    .bind(id)
    .run()
  expect((await readStatus(id)).archive_url).toBeNull()
})
