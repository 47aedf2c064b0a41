// What an attempt reports in addition to its outputs: the source, its poster, the media of its outputs, its log.
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { AttemptLog } from '#contract/task/reportSchemas.ts'
import { MAX_LOG_BYTES, MAX_LOGS, MAX_PREVIEW_BYTES } from '#contract/task/reportSchemas.ts'
import { RETENTION_DAYS } from '#contract/limits.ts'
import { estimate } from '../support/taskPlan.ts'
import { apiRequest, jobBody, postJson, readJson, createKey } from '../support/apiClient.ts'
import type { FakeAttempt } from '../support/fakeTranscoder.ts'
import { noProgress } from '../support/fakeTranscoder.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { advanceClock, startNextAttempt, readStatus, transcoders, startJob } from '../support/jobFixture.ts'

const DAY_MS = 86_400_000
const source = {
  formats: ['mov', 'mp4'],
  duration_seconds: 10,
  size_bytes: 1_000_000,
  bitrate_kbps: 800,
  video: null,
  audio: [
    {
      source_stream: 1,
      codec: 'aac',
      channels: 2,
      channel_layout: 'stereo',
      sample_rate: 48_000,
      language: 'eng',
      dialnorm: null,
      duration_seconds: 10,
    },
  ],
  cues: null,
  other: [],
}
const media = {
  duration_seconds: 10,
  average_bitrate_kbps: 512.5,
  peak_bitrate_kbps: 600,
  video: null,
  audio: [{ codec: 'aac', channels: 2, sample_rate: 48_000, bitrate_kbps: 128, language: 'eng' }],
  captions: [],
}
const log: AttemptLog = {
  engine: '7.0',
  commands: [{ purpose: 'encode', command: 'ffmpeg -i http://loopback/*** out/0.mp4', seconds: 1.5, exit_code: 0 }],
  lines: [{ time: '2026-11-21T10:00:00.000Z', level: 'info', message: 'task accepted' }],
}

/** Markers and a frame header, as in every JPEG; these tests do not decode it. */
function jpeg(width = 640, height = 360, filling = 0): Uint8Array<ArrayBuffer> {
  const frame = [0xff, 0xc0, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0]
  const tables = [0xff, 0xdb, 0, 4, 0, 0]
  const scan = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]
  return Uint8Array.from([0xff, 0xd8, ...tables, ...frame, ...scan, ...new Uint8Array(filling), 0xff, 0xd9])
}

function postSource(attempt: FakeAttempt, change: Record<string, unknown> = {}): Promise<Response> {
  return attempt.taskApi('POST', '/source', { source: { ...source, ...change } })
}

function putPreview(attempt: FakeAttempt, bytes: Uint8Array = jpeg()): Promise<Response> {
  return attempt.taskApi('PUT', '/preview', bytes)
}

function putLog(attempt: FakeAttempt, change: Partial<AttemptLog> = {}): Promise<Response> {
  return attempt.taskApi('PUT', '/log', { ...log, ...change })
}

async function storedReports(jobId: string): Promise<string[]> {
  return (await env.BUCKET.list({ prefix: `about/${jobId}/` })).objects.map(({ key }) => key.split('/').at(-1) ?? '')
}

async function reportAll(attempt: FakeAttempt): Promise<void> {
  for (const answer of [await postSource(attempt), await putPreview(attempt), await putLog(attempt)])
    expect(answer.status).toBe(200)
}

test('the source is in the status as soon as it was probed, in lists as well, and stays when the job fails', async () => {
  const { id, attempt } = await startJob()
  expect(await readStatus(id)).toMatchObject({ source: null })
  expect(await (await attempt.taskApi('GET', '')).json()).toMatchObject({
    accepts: { source: true, preview: true, log: true },
  })
  expect((await postSource(attempt)).status).toBe(200)
  expect((await readStatus(id)).source).toEqual(source)
  const { jobs } = await readJson('/api/v0/job?limit=1')
  expect(jobs[0].status.source).toEqual(source)
  expect(await (await attempt.taskApi('GET', '')).json()).toMatchObject({ accepts: { source: false } })
  await attempt.fail('source_damaged')
  expect(await readStatus(id)).toMatchObject({ state: 'error', source })
  // A job that has ended does not change.
  expect((await postSource(attempt, { size_bytes: 1 })).status).toBe(409)
  expect((await readStatus(id)).source).toEqual(source)
})

test('a report of a source has the form of one, and a size', async () => {
  const { id, attempt } = await startJob()
  const many = Array.from({ length: 64 }, () => ({ type: 'x'.repeat(200), codec: 'x'.repeat(200), language: null }))
  for (const [change, code] of [
    [{ formats: 'mp4' }, 400],
    [{ duration_seconds: -1 }, 400],
    [{ other: [...many, ...many] }, 400],
    [{ other: many, formats: many.map(({ type }) => type) }, 413],
  ] as const)
    expect((await postSource(attempt, change)).status).toBe(code)
  expect(await readStatus(id)).toMatchObject({ source: null })
})

test('the poster has its own signed address, whatever store the outputs use', async () => {
  const aws = {
    cloud_provider: 'aws',
    access_key: 'AKIAEXAMPLE12345',
    secret_key: 'canary-secret',
    region: 'us-east-1',
  }
  const { id, attempt } = await startJob({
    videoProfiles: [{ output: 's3://bucket/film.mp4', width: 640, height: 360, video_bitrate: 600 }],
    cloud_credentials: { input: { cloud_provider: 'http' }, output: aws },
  })
  expect(await readStatus(id)).toMatchObject({ poster: null })
  expect((await putPreview(attempt, jpeg(360, 640))).status).toBe(200)
  const { poster } = await readStatus(id)
  expect(poster).toMatchObject({ width: 360, height: 640 })
  const { jobs } = await readJson('/api/v0/job?limit=1')
  expect(jobs[0].status.poster).toEqual(poster)

  const read = (path: string, init = {}) => apiRequest(path, { ...init, headers: { authorization: '', ...init } })
  const path = new URL(poster.url).pathname
  const answer = await read(path)
  expect([answer.status, new Uint8Array(await answer.arrayBuffer())]).toEqual([200, jpeg(360, 640)])
  const headers = Object.fromEntries(answer.headers)
  expect(headers).toMatchObject({
    'content-type': 'image/jpeg',
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': '*',
  })
  expect(headers['cache-control']).toMatch(/^private, max-age=\d+, immutable$/)
  expect((await apiRequest(path, { method: 'HEAD' })).status).toBe(200)

  // The signature covers this image of this job and its expiry.
  const [, p, grant = '', jobId, name] = path.split('/')
  const [expiry = '', signature = ''] = grant.split('.')
  for (const forged of [
    `/${p}/${Number(expiry) + 1}.${signature}/${jobId}/${name}`,
    `/${p}/${grant}/${jobId}/2.jpg`,
    `/${p}/${grant}/${jobId}/..%2f${name}`,
    `/${p}/${grant}/${crypto.randomUUID()}/${name}`,
    `/${p}/${expiry}.${'A'.repeat(43)}/${jobId}/${name}`,
    `/${p}/x/${jobId}/${name}`,
  ])
    expect((await read(forged)).status, forged).toBe(403)
  advanceClock((RETENTION_DAYS.outputs + 2) * DAY_MS)
  expect((await read(path)).status).toBe(403)
})

test('a poster is one whole JPEG of 1 MiB at most, of the current attempt', async () => {
  const { id, attempt } = await startJob()
  const whole = jpeg()
  for (const [bytes, code] of [
    [new TextEncoder().encode('<script>alert(1)</script>'), 400],
    [whole.subarray(0, -2), 400],
    [whole.subarray(2), 400],
    [Uint8Array.from([0xff, 0xd8, 0xff, 0xd9]), 400],
    [jpeg(0, 360), 400],
    [jpeg(640, 360, MAX_PREVIEW_BYTES), 413],
  ] as const)
    expect((await putPreview(attempt, bytes)).status).toBe(code)
  expect(await storedReports(attempt.job)).toEqual([])
  await attempt.fail('source_damaged')
  expect((await putPreview(attempt)).status).toBe(409)
  expect(await storedReports(attempt.job)).toEqual([])
  expect(await readStatus(id)).toMatchObject({ poster: null })
})

test('a job that says preview: false asks for none', async () => {
  const { attempt } = await startJob({ preview: false })
  expect(await (await attempt.taskApi('GET', '')).json()).toMatchObject({ accepts: { preview: false, source: true } })
})

test('logs, posters and reports are deleted with the job: completed, failed, cancelled and dry run', async () => {
  const endings: Record<string, (attempt: FakeAttempt, id: number) => Promise<unknown>> = {
    completed: async (attempt) => attempt.complete(10),
    failed: (attempt) => attempt.fail('source_damaged'),
    cancelled: (_attempt, id) => apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' }),
    planned: (attempt) => attempt.taskApi('POST', '/estimate', { estimate, warnings: [], progress: noProgress }),
  }
  for (const [ending, end] of Object.entries(endings)) {
    const path = ending === 'planned' ? '/api/v0/job?dry_run=true' : '/api/v0/job'
    const { _auto_generated_id_: id } = await (await postJson(path, jobBody())).json<any>()
    const attempt = await startNextAttempt()
    await reportAll(attempt)
    await end(attempt, id)
    expect((await readStatus(id)).job_completed, ending).toBe(true)
    expect(await storedReports(attempt.job), ending).toEqual(['log-000001.json', 'poster-1.jpg'])
    expect((await readStatus(id)).poster, ending).not.toBeNull()
    expect((await apiRequest(`/api/v0/job/${id}`, { method: 'DELETE' })).status).toBe(204)
    // Deletion continues after the answer, and the reconciler continues it after a failure.
    await reconcile(env, Infinity)
    expect(await storedReports(attempt.job), ending).toEqual([])
    // Late, with a token that is still valid: nothing is stored again.
    expect((await putLog(attempt)).status, ending).toBe(409)
    expect((await putPreview(attempt)).status, ending).toBe(409)
    expect(await storedReports(attempt.job), ending).toEqual([])
  }
})

test('and with the outputs, when their retention ends, which is a setting', async () => {
  const { id, attempt } = await startJob()
  await reportAll(attempt)
  await attempt.fail('source_damaged')
  advanceClock(2 * DAY_MS + 60_000)
  await reconcile(env, Infinity)
  expect(await storedReports(attempt.job)).not.toEqual([])
  await reconcile({ ...env, KEEP_OUTPUTS_DAYS: '2' }, Infinity)
  expect(await storedReports(attempt.job)).toEqual([])
  expect(await readStatus(id)).toMatchObject({ poster: null, source })
  expect(await readJson(`/api/v0/job/${id}/log`)).toEqual({ attempts: [] })
})

test('the log is read as JSON and as text, by its owner alone', async () => {
  const { id, attempt } = await startJob()
  const read = (init = {}) => apiRequest(`/api/v0/job/${id}/log`, init)
  expect(await (await read()).json()).toEqual({ attempts: [] })
  expect((await putLog(attempt, { commands: [] })).status).toBe(200)
  // Each post contains the whole log and replaces the previous one.
  expect((await putLog(attempt)).status).toBe(200)
  const answer = await read()
  expect(await answer.json()).toEqual({ attempts: [{ attempt: 1, ...log }] })
  expect(Object.fromEntries(answer.headers)).toMatchObject({ 'cache-control': 'no-store', vary: 'Accept' })
  const text = await read({ headers: { accept: 'text/plain' } })
  expect(text.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(await text.text()).toBe(
    `Attempt 1 (ffmpeg 7.0)
# encode: 1.5 s, exit code 0
ffmpeg -i http://loopback/*** out/0.mp4
2026-11-21T10:00:00.000Z info  task accepted
`,
  )
  expect((await read({ headers: { authorization: '' } })).status).toBe(401)
  expect((await read({ key: (await createKey()).key })).status).toBe(404)
})

test('the log has a size limit, and the newest attempts are kept', async () => {
  const { id, attempt } = await startJob()
  const line = { ...log.lines[0]!, message: 'x'.repeat(8000) }
  const lines = Array.from({ length: Math.ceil(MAX_LOG_BYTES / 8000) }, () => line)
  expect((await putLog(attempt, { lines })).status).toBe(413)
  expect((await putLog(attempt, { lines: [{ ...line, message: 'x'.repeat(9000) }] })).status).toBe(400)
  expect((await putLog(attempt, { lines: [{ ...line, level: 'debug' as never }] })).status).toBe(400)
  for (let n = 2; n <= MAX_LOGS + 2; n++)
    await env.BUCKET.put(
      `about/${attempt.job}/log-${String(n).padStart(6, '0')}.json`,
      JSON.stringify({ attempt: n, ...log }),
    )
  expect((await putLog(attempt)).status).toBe(200)
  const { attempts } = await readJson(`/api/v0/job/${id}/log`)
  expect(attempts.map((each: any) => each.attempt)).toEqual([3, 4, 5, 6, 7])
})

test('an attempt that was cancelled still says what it did; one that is to come says nothing', async () => {
  const { id, attempt } = await startJob()
  await apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' })
  expect((await putLog(attempt)).status).toBe(200)
  expect((await readJson(`/api/v0/job/${id}/log`)).attempts).toHaveLength(1)
  await env.DB.prepare('UPDATE tasks SET attempt = 0 WHERE id = ?1').bind(attempt.run.task_id).run()
  expect((await putLog(attempt)).status).toBe(409)
})

test('no secret of the job is in its log, nor where its source lies', async () => {
  const canaries = {
    access_key: 'AKIACANARYCANARY',
    secret_key: 'canary/secret+key=with&signs',
    session_token: 'canary-session-token',
  }
  const input = 'https://canary-host.test:8443/canary-path/film.mp4?token=canary-query'
  const { id, attempt } = await startJob({
    input,
    webhook_url: 'https://hooks.test/canary-hook?key=canary-hook-key',
    videoProfiles: [{ output: 's3://bucket/film.mp4', width: 640, height: 360, video_bitrate: 600 }],
    cloud_credentials: {
      input: { cloud_provider: 'http', access_key: 'canary-user', secret_key: 'canary-password' },
      output: { cloud_provider: 'aws', region: 'us-east-1', ...canaries },
    },
  })
  const secrets = [
    ...Object.values(canaries),
    encodeURIComponent(canaries.secret_key),
    input,
    'canary-host.test:8443',
    'https://hooks.test/canary-hook?key=canary-hook-key',
    'canary-user',
    'canary-password',
    'https://elsewhere.test/canary',
  ]
  const leaky = `could not be had: ${secrets.join(' ')} (${secrets.join('")(')})`
  const answer = await putLog(attempt, {
    engine: secrets[0]!,
    commands: [{ purpose: 'canary-user', command: `ffmpeg -i http://loopback/*** ${leaky}`, seconds: 0, exit_code: 1 }],
    lines: [{ ...log.lines[0]!, message: leaky }],
  })
  expect(answer.status).toBe(200)
  const storedLog = await env.BUCKET.get(`about/${attempt.job}/log-000001.json`)
  const shown = await (await apiRequest(`/api/v0/job/${id}/log`)).text()
  for (const text of [(await storedLog?.text()) ?? 'canary', shown]) {
    expect(text).not.toMatch(/canary/i)
    expect(text).toContain('http://loopback/***')
  }
})

test('what was measured in an output is with it, if anything was', async () => {
  const { id, attempt } = await startJob({
    videoProfiles: [{ output: 'a.mp4', width: 640, height: 360, video_bitrate: 600 }],
  })
  const object = await attempt.storeObject('a.mp4', new Uint8Array(10))
  for (const wrong of [
    { ...media, duration_seconds: -1 },
    { ...media, audio: 'none' },
    { ...media, video: {} },
  ])
    expect((await attempt.finish([{ ...object, media: wrong as never }])).status).toBe(400)
  expect((await attempt.finish([{ ...object, media }])).status).toBe(200)
  expect((await readStatus(id)).outputs).toMatchObject([{ path: 'a.mp4', media }])

  const { id: old, attempt: former } = await startJob()
  await former.complete(10)
  expect((await readStatus(old)).outputs).toMatchObject([{ path: 'film.mp4', media: null }])
  expect(await readStatus(old)).toMatchObject({ source: null, poster: null })
})

test('the messages of another attempt, or without a token, are refused', async () => {
  const { attempt } = await startJob()
  await attempt.giveBack()
  const next = await transcoders.nextAttempt()
  await next.taskApi('GET', '')
  expect((await postSource(attempt)).status).toBe(409)
  expect((await putPreview(attempt)).status).toBe(409)
  for (const [method, path] of [
    ['POST', 'source'],
    ['PUT', 'preview'],
    ['PUT', 'log'],
  ] as const)
    expect((await apiRequest(`/task/${attempt.run.task_id}/${path}`, { method, body: '{}' })).status).toBe(401)
})
