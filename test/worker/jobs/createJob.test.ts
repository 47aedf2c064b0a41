import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openSource } from '../../../worker/storage/registry.ts'
import type { StoreError } from '../../../worker/storage/objectStore.ts'
import {
  basicAuth,
  apiRequest,
  jobBody,
  API_KEY,
  postJson,
  readJson,
  errorCode,
  createKey,
  createJob,
} from '../support/apiClient.ts'
import { FakeTranscoders } from '../support/fakeTranscoder.ts'

beforeEach(() => {
  new FakeTranscoders().runStatus = () => 503
})
afterEach(() => vi.unstubAllGlobals())

const CANARY = 'canary-secret-5f2b9c'

test('a job is created with 200 and the members of 2.5', async () => {
  const response = await postJson('/api/v0/job', jobBody())
  expect(response.status).toBe(200)
  const body = await response.json<any>()
  expect(Number.isInteger(body._auto_generated_id_)).toBe(true)
  expect(body.cloud).toBe('vendor-store')
  expect(body.updated_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  expect(body.warnings).toEqual([])
  expect(body.job_id).not.toBe(String(body._auto_generated_id_))
  expect(response.headers.get('location')).toBe(`https://service.test/api/v0/job/${body._auto_generated_id_}`)
})

test('a read answers {status, config}: the stored request with its defaults, and separate_audio', async () => {
  const id = await createJob({ scte35_passthrough: false, mine: 1 })
  const read = await readJson(`/api/v0/job/${id}`, { headers: { 'content-type': 'application/json' } })
  expect(Object.keys(read)).toEqual(['status', 'config'])
  expect(read.status.job_completed).toBe(false)
  expect(read.config).toMatchObject({
    input: 'https://media.test/a.mp4',
    output_container: 'mp4',
    video_codec: 'h.264',
    gop_length: 1,
    scte35_passthough: false,
    separate_audio: false,
    picture_transform: 'none',
    mine: 1,
  })
  expect(read.status.warnings).toMatchObject([{ code: 'unknown_field', field: 'mine' }])
})

test.each([
  ['an empty password', basicAuth(API_KEY, '')],
  ['a password of one character', basicAuth(API_KEY, 'x')],
])('the key is the user name; %s is accepted for every endpoint (5.3)', async (_title, authorization) => {
  const id = await createJob({}, { headers: { authorization } })
  expect((await apiRequest(`/api/v0/job/${id}`, { headers: { authorization } })).status).toBe(200)
})

test.each([
  ['no header', ''],
  ['a wrong key', basicAuth('wrong')],
  ['an empty key', basicAuth('')],
  ['a bearer token', `Bearer ${API_KEY}`],
  ['no base64', 'Basic ***'],
])('%s: 401 that asks for Basic', async (_title, authorization) => {
  const response = await apiRequest('/api/v0/job/1', { headers: { authorization } })
  expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm=/)
  expect(await errorCode(response)).toBe('401 unauthorized')
})

test('a page that fetches is not interrupted by the dialog of the browser', async () => {
  const response = await apiRequest('/api/v0/job/1', { headers: { authorization: '', 'sec-fetch-mode': 'cors' } })
  expect(response.status).toBe(401)
  expect(response.headers.has('www-authenticate')).toBe(false)
})

test.each([
  [2250, 400],
  [2300, 200],
  [2301, 200],
  [2400, 200],
])('1920x1080 h.264 cbr at %d kbps: %d (8)', async (video_bitrate, status) => {
  const videoProfiles = [{ output: '', width: 1920, height: 1080, video_bitrate_mode: 'cbr', video_bitrate }]
  const response = await postJson('/api/v0/job', jobBody({ videoProfiles }))
  expect(response.status).toBe(status)
  if (status === 200) return
  const { error } = await response.json<any>()
  expect(error).toMatchObject({
    code: 'invalid_request',
    message: 'bitrate for this profile and codec should be at least 2300',
    field: 'videoProfiles[0].video_bitrate',
    details: [{ code: 'video_bitrate_too_low', minimum: 2300 }],
  })
})

test.each([
  ['not JSON', '{"input": ', { 'content-type': 'application/json' }, 400, 'invalid_request'],
  ['an array', '[]', { 'content-type': 'application/json' }, 400, 'invalid_request'],
  ['nothing', '', { 'content-type': 'application/json' }, 400, 'invalid_request'],
  ['a form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
  ['300 KB', `{"input":"${'x'.repeat(300_000)}"}`, { 'content-type': 'application/json' }, 413, 'too_large'],
])('a body that is %s: its status and code, and nothing is stored', async (_title, body, headers, status, code) => {
  const before = await env.DB.prepare('SELECT COUNT(*) AS n FROM jobs').first('n')
  const response = await apiRequest('/api/v0/job', { method: 'POST', body, headers })
  expect(response.status).toBe(status)
  const { error } = await response.json<any>()
  expect(error.code).toBe(code)
  expect(error.message).toMatch(/body/)
  expect(await env.DB.prepare('SELECT COUNT(*) AS n FROM jobs').first('n')).toBe(before)
})

test('every validation error is returned at once, each with its path', async () => {
  const response = await postJson('/api/v0/job', {
    input: true,
    videoProfiles: [{ width: 640, height: 360, video_bitrate: 600, video_framerate: '3x' }],
    audioProfiles: [{ audio_codec: 'vorbis' }],
    cloud_credentials: { input: { cloud_provider: 'ftp' } },
  })
  const { error } = await response.json<any>()
  expect(error.details.map((problem: any) => problem.field)).toEqual(
    expect.arrayContaining([
      'input',
      'videoProfiles[0].video_framerate',
      'audioProfiles[0].audio_codec',
      'cloud_credentials.input.cloud_provider',
    ]),
  )
})

test('what makes no sense is refused, not ignored', async () => {
  for (const path of ['/api/v0/job?dry_run=maybe', '/api/v0/job?x=1']) {
    expect((await postJson(path, jobBody())).status, path).toBe(400)
  }
  const response = await postJson('/api/v0/job', jobBody({ thumbnails: {} }))
  expect(response.status).toBe(400)
  expect((await response.json<any>()).error.details[0].code).toBe('invalid_type')
})

test('an upload that is not there is said at creation', async () => {
  const response = await postJson(
    '/api/v0/job',
    jobBody({ input: '77', cloud_credentials: { input: { cloud_provider: 'file-upload' } } }),
  )
  expect(response.status).toBe(400)
  expect((await response.json<any>()).error).toMatchObject({ field: 'input', details: [{ code: 'upload_not_found' }] })
})

test('secrets leave by no answer and stand in no row in clear (I15)', async () => {
  const cloud_credentials = {
    input: { cloud_provider: 'http', access_key: 'AKIAIOSFODNN7EXAMPLE', secret_key: CANARY, extra_token: CANARY },
  }
  const input = `https://media.test/a.mp4?signature=${CANARY}`
  const created = await postJson('/api/v0/job', jobBody({ input, cloud_credentials }))
  const text = await created.text()
  const { _auto_generated_id_: id } = JSON.parse(text)
  const read = await (await apiRequest(`/api/v0/job/${id}`)).text()
  const row = JSON.stringify(await env.DB.prepare('SELECT * FROM jobs WHERE id = ?').bind(id).first())
  for (const [where, shown] of Object.entries({
    text,
    read,
    row,
    list: await (await apiRequest('/api/v0/job')).text(),
  })) {
    expect(shown.includes(CANARY), where).toBe(false)
    expect(shown.includes('IOSFODNN7'), where).toBe(false)
  }
  expect(JSON.parse(read).config.cloud_credentials.input).toMatchObject({ access_key: 'AKIA…MPLE', secret_key: null })
})

test('user info in an address is refused', async () => {
  const response = await postJson('/api/v0/job', jobBody({ input: `https://user:${CANARY}@media.test/a.mp4` }))
  expect(response.status).toBe(400)
  expect(await response.text()).not.toContain(CANARY)
})

test('another account gets the same 404 for our job as for a missing one (I16)', async () => {
  const id = await createJob()
  const { key } = await createKey()
  const every = [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/cancel'],
    ['POST', '/retry'],
    ['GET', '/events'],
    ['GET', '/webhooks'],
    ['POST', '/webhooks/msg_1/replay'],
  ] as const
  for (const [method, suffix] of every) {
    // Otherwise each answer has an id of its own.
    const headers = { 'x-request-id': 'same' }
    const foreign = await apiRequest(`/api/v0/job/${id}${suffix}`, { method, key, headers })
    const missing = await apiRequest(`/api/v0/job/999999${suffix}`, { method, key, headers })
    expect([foreign.status, await foreign.text()], suffix).toEqual([404, await missing.text()])
    expect([...foreign.headers], suffix).toEqual([...missing.headers])
  }
  for (const query of ['', `?search=${id}`, '?search=a.mp4', '?state=queued']) {
    expect((await readJson(`/api/v0/job${query}`, { key })).jobs, query).toEqual([])
  }
  // Nor by using the other account's upload, output or idempotency key in a request of one's own.
  const stored = await readJson('/uploads', { method: 'POST', body: 'film' })
  const fromUpload = (number: number) =>
    postJson(
      '/api/v0/job',
      jobBody({
        input: String(number),
        cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
      }),
      { key },
    )
  const [foreign, missing] = [await fromUpload(stored.uploaded_file_number), await fromUpload(999_999)]
  expect([foreign.status, await foreign.text()]).toEqual([
    400,
    (await missing.text()).replaceAll('999999', String(stored.uploaded_file_number)),
  ])
  const headers = { 'idempotency-key': 'shared' }
  const [ours, theirs] = [
    await postJson('/api/v0/job', jobBody(), { headers }),
    await postJson('/api/v0/job', jobBody(), { headers, key }),
  ]
  expect((await theirs.json<any>())._auto_generated_id_).not.toBe((await ours.json<any>())._auto_generated_id_)
  const jobId = crypto.randomUUID()
  await env.BUCKET.put(`out/default/${jobId}/film.mp4`, 'film')
  const ask = (account: string, owner: string, path = 'film.mp4') =>
    openSource(env, 'vendor-store', { account, address: { kind: 'own', account: owner, jobId, path }, credentials: {} })
      .then((source) => source.stat())
      .then(
        ({ size }) => size,
        (error: StoreError) => [error.code, error.message.replaceAll(path, '…')],
      )
  expect(await ask('default', 'default')).toBe(4)
  const nothing = await ask('default', 'default', 'none.mp4')
  expect(nothing).toMatchObject(['not_found', expect.any(String)])
  for (const owner of ['default', 'other']) expect(await ask('other', owner)).toEqual(nothing)
  // It exists for the account that owns it.
  expect((await apiRequest(`/api/v0/job/${id}`)).status).toBe(200)
})

test('the list is newest first, in pages, filtered by state and time', async () => {
  const ids: number[] = []
  for (let n = 0; n < 5; n++) ids.push(await createJob())
  await postJson(`/api/v0/job/${ids[1]}/cancel`, {})
  const first = await readJson('/api/v0/job?limit=2')
  expect(first.jobs.map((entry: any) => entry._auto_generated_id_)).toEqual([ids[4], ids[3]])
  const second = await readJson(`/api/v0/job?limit=2&cursor=${first.next_cursor}`)
  expect(second.jobs.map((entry: any) => entry._auto_generated_id_)).toEqual([ids[2], ids[1]])
  const cancelled = await readJson('/api/v0/job?state=cancelled')
  expect(cancelled).toMatchObject({
    jobs: [{ _auto_generated_id_: ids[1], status: { state: 'cancelled' } }],
    next_cursor: null,
  })
  expect((await readJson('/api/v0/job?created_to=2020-01-01T00:00:00Z')).jobs).toEqual([])
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'state=odd', 'cursor=-1', 'created_from=today', 'sort=up']) {
    expect((await apiRequest(`/api/v0/job?${query}`)).status, query).toBe(400)
  }
})

test('the same Idempotency-Key is the same job, even raced; another body is refused (I10)', async () => {
  const headers = { 'idempotency-key': 'abc-1' }
  const raced = await Promise.all(Array.from({ length: 50 }, () => postJson('/api/v0/job', jobBody(), { headers })))
  const answers = new Set(await Promise.all(raced.map((response) => response.text())))
  expect(answers.size).toBe(1)
  const n = await env.DB.prepare(`SELECT COUNT(*) AS n FROM idempotency WHERE key = 'abc-1'`).first('n')
  expect(n).toBe(1)
  const other = await postJson('/api/v0/job', jobBody({ gop_length: 2 }), { headers })
  expect(await errorCode(other)).toBe('409 idempotency_conflict')
  expect((await postJson('/api/v0/job', jobBody(), { headers: { 'idempotency-key': 'é' } })).status).toBe(400)
})

test('unknown addresses and ids answer one 404 in the one error shape', async () => {
  for (const path of [
    '/api/v0/job/0',
    '/api/v0/job/abc',
    '/api/v0/job/1e3',
    '/api/v0/job/99999999999999999',
    '/nowhere',
  ]) {
    expect(await errorCode(await apiRequest(path)), path).toBe('404 not_found')
  }
})

test('a page of any origin may call the API; credentials of a browser are never shared', async () => {
  const preflight = await apiRequest('/api/v0/job', {
    method: 'OPTIONS',
    headers: { authorization: '', origin: 'https://app.example', 'access-control-request-method': 'POST' },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect(preflight.headers.has('access-control-allow-credentials')).toBe(false)
})

test('limits are published, with the table of bitrates', async () => {
  const limits = await readJson('/api/v0/limits', { headers: { authorization: '' } })
  const fullHd = limits.video_bitrate_kbps.sizes.find((entry: any) => entry.height === 1080)
  expect(fullHd['h.264'].minimum.cbr).toBe(2300)
  expect(limits.retention_days).toEqual({ unfinished_uploads: 3, uploads: 7, outputs: 30, jobs: 90 })
})

test('GET /health without a key reports ok', async () => {
  const response = await apiRequest('/health', { headers: { authorization: '' } })
  expect([response.status, (await response.json<any>()).status]).toEqual([200, 'ok'])
})
