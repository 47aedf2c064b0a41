// Attempts at divided jobs that send what they must not: a malicious source may have taken over their transcoder. Each
// request is refused with its reason, changes nothing and leaves nothing.
// Not in charge of: what parts do otherwise (dividedJobs.test.ts, surveyedJobs.test.ts), output paths of undivided jobs
// (segmentedOutput.test.ts).
import { env, exports } from 'cloudflare:workers'
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { MAX_JOB_PARTS } from '#contract/limits.ts'
import { MAX_PART_RECORD_BYTES, MAX_TASK_BODY_BYTES } from '#contract/task/protocol.ts'
import { parseTaskId, taskIdOf } from '#contract/taskId.ts'
import { findTask } from '../../../worker/db/tasks.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { jobMonitor, taskMonitor } from '../../../worker/scheduler/applyEvent.ts'
import { apiRequest, BASE_URL, jobBody, postJson } from '../support/apiClient.ts'
import { HLS_JOB, HLS_PLAN, MASTER_PLAYLIST, SOUND, startDividedJob } from '../support/dividedFixture.ts'
import { noProgress, type FakeAttempt } from '../support/fakeTranscoder.ts'
import { advanceClock, readStatus, startJob, startNextAttempt } from '../support/jobFixture.ts'

const PARTS = 3
const SURVEYS = 2
const BYTES = new Uint8Array([1, 2, 3])
const DONE = { ...noProgress, transcoded: 1 }

const numberOf = ({ run }: FakeAttempt) => parseTaskId(run.task_id).number
const directoryOf = (attempt: FakeAttempt) => `${numberOf(attempt)}-${attempt.run.attempt}`
const segmentOf = (attempt: FakeAttempt) => `hls/video_0/${attempt.attemptDirectory}/00001.m4s`

const beginSound = (attempt: FakeAttempt) =>
  attempt.taskApi('POST', '/uploads', { path: SOUND[0], content_type: SOUND[1], expected_size: 3 })

async function rowsOf(sql: string, job: string): Promise<unknown[]> {
  return (await env.DB.prepare(sql).bind(job).all()).results
}

/** All that the service has of a job: rows, objects, and what the monitors of its tasks have stored. */
async function everythingOf(job: string): Promise<unknown> {
  const tasks = (await rowsOf(
    'SELECT tasks.* FROM tasks JOIN jobs ON jobs.id = tasks.job WHERE jobs.job_id = ?1 ORDER BY tasks.id',
    job,
  )) as { id: string }[]
  const monitors = await Promise.all(
    tasks.map(({ id }) =>
      runInDurableObject(taskMonitor(env, id), async (_, { storage }) => [...(await storage.list())]),
    ),
  )
  const listed = await Promise.all([`out/default/${job}/`, `work/${job}/`].map((prefix) => env.BUCKET.list({ prefix })))
  const objects = listed.flatMap(({ objects: found }) => found.map(({ key, etag }) => `${key} ${etag}`))
  return { tasks, jobs: await rowsOf('SELECT * FROM jobs WHERE job_id = ?1', job), monitors, objects }
}

type Refusal = [status: number, code: string, message: RegExp]
const STALE: Refusal = [409, 'stale_attempt', /Another attempt is current, or the job has ended/]

async function expectRefused(
  job: string,
  what: string,
  [status, code, message]: Refusal,
  send: () => Promise<Response>,
) {
  const before = await everythingOf(job)
  const answer = await send()
  const body = await answer.json<{ error?: { code: string; message: string } }>()
  expect([what, answer.status, body.error?.code]).toEqual([what, status, code])
  expect(body.error?.message, what).toMatch(message)
  expect(await everythingOf(job), what).toEqual(before)
}

/** A request as it is written: `fetch` and `URL` would resolve some paths before they are sent. */
function send(attempt: FakeAttempt, change: { id?: string; token?: string }, method = 'POST', path = '/progress') {
  const { id = attempt.run.task_id, token = attempt.run.token } = change
  const body = method === 'GET' ? {} : { body: JSON.stringify(noProgress) }
  return exports.default.fetch(
    new Request(`${BASE_URL}/task/${id}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...body,
    }),
  )
}

async function startDivided() {
  const { id, main, parts } = await startDividedJob(PARTS)
  return { id, main, job: main.job, last: parts[0], chunk: parts[1] }
}

/** Another divided job, which occupies no slot any more. */
async function startOther() {
  const other = await startDividedJob(PARTS)
  expect((await apiRequest(`/api/v0/job/${other.id}/cancel`, { method: 'POST' })).status).toBe(200)
  return other
}

/** Its transcoder is gone, and nobody has begun its next attempt. */
async function loseQuietly(attempt: FakeAttempt): Promise<void> {
  advanceClock(60_000)
  await attempt.alarm()
  expect(await findTask(env.DB, attempt.run.task_id)).toMatchObject({ state: 'queued', attempt: attempt.run.attempt })
}

test('the token of one attempt is of no use for another attempt, part, or job', async () => {
  const other = await startOther()
  const { job, main, last, chunk } = await startDivided()
  const { token, task_id: own } = last.run
  const foreign: Refusal = [401, 'unauthorized', /The token belongs to another task/]
  const ids = [chunk.run.task_id, main.run.task_id, taskIdOf(job, 2), taskIdOf(job, 99), other.main.run.task_id]
  const forms = [`${job}-01`, `${job}-1.0`, `${job}-+1`, `${own}%20`, own.toUpperCase(), `x${own}`, `${job}-1e0`]
  for (const id of [...ids, ...forms].filter((each) => each !== own))
    for (const [method, path] of [
      ['POST', '/progress'],
      ['POST', '/deliver'],
      ['GET', '/parts/0'],
      ['GET', ''],
    ] as const)
      await expectRefused(job, `${method} ${id}${path}`, foreign, () => send(last, { id }, method, path))
  const [attempt, expiry, signature] = token.split('.') as [string, string, string]
  for (const forged of [
    `2.${expiry}.${signature}`,
    `01.${expiry}.${signature}`,
    `${attempt}.${Number(expiry) + 1}.${signature}`,
    `${attempt}.${expiry}.${signature.slice(1)}`,
    `${attempt}.${expiry}.${'A'.repeat(43)}`,
    `${attempt}.${expiry}.`,
    chunk.run.token,
  ])
    await expectRefused(job, forged, foreign, () => send(last, { token: forged }))
})

test('a delivery of another form or with impossible numbers is refused, and the part can still be delivered', async () => {
  const { job, last, main } = await startDivided()
  const refusals: [body: unknown, message: RegExp][] = [
    [null, /expected object/],
    [[], /expected object/],
    [{ record: {}, progress: DONE }, /^warnings: /],
    ...[undefined, null, [], 'x', 7].map((record): [unknown, RegExp] => [
      { record, warnings: [], progress: DONE },
      /^record: /,
    ]),
    [{ record: {}, warnings: [{ code: 7, message: 'x' }], progress: DONE }, /^warnings.0.code: /],
    [{ record: {}, warnings: [{ code: 'x', message: 'x'.repeat(2001) }], progress: DONE }, /^warnings.0.message: /],
    [
      { record: {}, warnings: Array.from({ length: 201 }, () => ({ code: 'x', message: 'x' })), progress: DONE },
      /^warnings: /,
    ],
    [{ record: {}, warnings: [] }, /^progress: /],
    [{ record: {}, warnings: [], progress: { ...DONE, phase: 'done' } }, /^progress.phase: /],
    [{ record: {}, warnings: [], progress: { ...DONE, transcoded: 1.5 } }, /^progress.transcoded: /],
  ]
  for (const name of [
    'transcode_seconds',
    'bytes_produced',
    'bytes_stored',
    'transfer_seconds',
    'cpu_seconds',
    'speed',
  ])
    for (const value of [-1, 1e308, '1', name === 'speed' ? -0.5 : null])
      refusals.push([
        { record: {}, warnings: [], progress: { ...DONE, [name]: value } },
        new RegExp(`^progress.${name}: `),
      ])
  for (const [body, message] of refusals)
    await expectRefused(job, JSON.stringify(body)?.slice(0, 200), [400, 'invalid_request', message], () =>
      last.taskApi('POST', '/deliver', body),
    )
  // As JSON has no such numbers, these are texts.
  for (const number of ['NaN', 'Infinity', '-Infinity', '1e999', '01', '0x10']) {
    const text = `{"record":{},"warnings":[],"progress":${JSON.stringify(DONE).replace('"transcoded":1', `"transcoded":${number}`)}}`
    await expectRefused(job, number, [400, 'invalid_request', /not valid JSON|^progress.transcoded: /], () =>
      last.taskApi('POST', '/deliver', new TextEncoder().encode(text)),
    )
  }
  await expectRefused(job, 'main', [403, 'forbidden', /Only a part/], () => main.deliver())
  expect((await last.deliver()).status).toBe(200)
})

/** `POST /deliver` of this text as the record. */
const deliverText = (attempt: FakeAttempt, record: string) =>
  attempt.taskApi(
    'POST',
    '/deliver',
    new TextEncoder().encode(`{"warnings":[],"progress":${JSON.stringify(DONE)},"record":${record}}`),
  )

test('a record of the largest size is stored; one that is larger, also once it is written again, or too deep is not', async () => {
  const { job, last, chunk } = await startDivided()
  const around = JSON.stringify({ record: { text: '' }, warnings: [], progress: DONE }).length
  const record = (bytes: number) => `{"text":"${'x'.repeat(bytes - around)}"}`
  const tooLarge: Refusal = [413, 'too_large', new RegExp(`at most ${MAX_PART_RECORD_BYTES} bytes`)]
  await expectRefused(job, 'one byte more', tooLarge, () => deliverText(last, record(MAX_PART_RECORD_BYTES + 1)))
  // 5 bytes of text become 22.
  const numbers = `{"a":[${'1e20,'.repeat(MAX_PART_RECORD_BYTES / 8)}1]}`
  await expectRefused(job, 'numbers', tooLarge, () => deliverText(last, numbers))
  const deep = `${'{"1":'.repeat(200_000)}{}${'}'.repeat(200_000)}`
  await expectRefused(job, 'deep', [400, 'invalid_request', /^record: It has too many levels/], () =>
    deliverText(last, deep),
  )
  expect((await deliverText(last, record(MAX_PART_RECORD_BYTES))).status).toBe(200)
  const found = await chunk.taskApi('GET', '/parts/0')
  expect((await found.arrayBuffer()).byteLength).toBe(MAX_PART_RECORD_BYTES - around + '{"text":""}'.length)
})

test('a second delivery, with another record and other warnings, changes nothing', async () => {
  const { id, job, last, chunk } = await startDivided()
  expect((await last.deliver({ bits: 1 }, { warnings: [{ code: 'x', message: 'first' }] })).status).toBe(200)
  const before = await everythingOf(job)
  const again = await last.deliver({ bits: 2 }, { warnings: [{ code: 'x', message: 'second' }] })
  expect([again.status, await again.json()]).toEqual([200, { state: 'completed' }])
  expect(await everythingOf(job)).toEqual(before)
  expect(await (await chunk.taskApi('GET', '/parts/0')).json()).toEqual({ bits: 1 })
  expect((await readStatus(id)).warnings).toMatchObject([{ message: 'first' }])
})

test('a part stores no output but files of audio and pictures: everything else is refused in every spelling', async () => {
  const other = await startOther()
  const { job, main, last, chunk } = await startDivided()
  const own = main.attemptDirectory
  const type = 'video/mp4'
  const forbidden: Refusal = [403, 'forbidden', /is not an output of this attempt/]
  const invalid: Refusal = [400, 'invalid_request', /path/i]
  const put = (path: string) =>
    exports.default.fetch(
      new Request(`${BASE_URL}/task/${last.run.task_id}/output/${path}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${last.run.token}`, 'content-type': type, 'content-length': '3' },
        body: BYTES,
      }),
    )
  for (const path of [SOUND[0], segmentOf(main), segmentOf(other.main), `hls/video_0/${job}-1-2/00001.m4s`])
    await expectRefused(job, path, forbidden, () => put(path))
  for (const [path, refusal] of [
    [`hls/video_0/${own}/00001.m4s/00002.m4s`, forbidden],
    [`hls/video_0/x/../${own}/00001.m4s`, forbidden],
    [`hls/video_0/x/%2e%2e/${own}/00001.m4s`, forbidden],
    [`hls/video_0/x/..%2f${own}/00001.m4s`, invalid],
    [`hls/video_0/${own}%2f00001.m4s`, invalid],
    [`hls/video_0/${own}/%252e%252e/00001.m4s`, forbidden],
    [`hls/video_0/${own}//00001.m4s`, invalid],
    [`hls/video_0/${own}/..%5c00001.m4s`, invalid],
    [`hls/video_0/${own}/00001.m4s%00`, invalid],
    [`hls/video_0/${own}/00001.m4s%0a`, invalid],
    [`hls/video_0/${own}/%ff.m4s`, invalid],
    [`/hls/video_0/${own}/00001.m4s`, invalid],
    ['hls/master.m3u8', forbidden],
    ['hls/job.json', forbidden],
  ] as const)
    await expectRefused(job, path, refusal, () => put(path))
  for (const [path, refusal] of [
    [segmentOf(main), forbidden],
    [`../${SOUND[0]}`, invalid],
    [`x/../${SOUND[0]}`, invalid],
    [`/${SOUND[0]}`, invalid],
    [`${SOUND[0]}\u0000`, invalid],
    ['sound/a_audio_1.m4a', forbidden],
    ['hls/master.m3u8', forbidden],
  ] as const)
    await expectRefused(job, path, refusal, () =>
      last.taskApi('POST', '/uploads', { path, content_type: type, expected_size: 3 }),
    )
  const { upload } = await chunk.storeObject(SOUND[0], BYTES, SOUND[1])
  await expectRefused(job, 'part 10001', [400, 'invalid_request', /10000 parts/], () =>
    chunk.taskApi('PUT', `/uploads/${upload}/10001`, BYTES),
  )
  for (const handle of ['x', 'W10', '%2e%2e'])
    await expectRefused(job, handle, [404, 'not_found', /./], () => last.taskApi('PUT', `/uploads/${handle}/1`, BYTES))
})

test('a job is divided once by an attempt: into other parts, or other numbers of them, it is not', async () => {
  const { attempt: main } = await startJob(HLS_JOB)
  const { job } = main
  await expectRefused(job, 'no plan', [400, 'invalid_request', /after its plan was stored/], () => main.divide(PARTS))
  await main.taskApi('POST', '/plan', HLS_PLAN)
  for (const parts of [0, 1, -2, 2.5, 1e308, MAX_JOB_PARTS + 1, null, '3', [3]])
    await expectRefused(job, JSON.stringify(parts), [400, 'invalid_request', /^parts: /], () =>
      main.taskApi('POST', '/divide', { parts }),
    )
  for (const survey of [false, 'true', 1, null])
    await expectRefused(job, `survey ${survey}`, [400, 'invalid_request', /^survey: /], () =>
      main.taskApi('POST', '/divide', { parts: PARTS, survey }),
    )
  await expectRefused(job, 'large', [413, 'too_large', /at most 1024 bytes/], () =>
    main.taskApi('POST', '/divide', { parts: PARTS, x: 'x'.repeat(1024) }),
  )
  expect((await main.divide(PARTS)).status).toBe(200)
  const last = await startNextAttempt()
  await startNextAttempt()
  await expectRefused(job, 'other number', [409, 'conflict', /has 3 parts, 0 of a survey.* into 4\.$/], () =>
    main.divide(PARTS + 1),
  )
  await expectRefused(job, 'other kind', [409, 'conflict', /into 3 of a survey\.$/], () =>
    main.divide(PARTS, { survey: true }),
  )
  await expectRefused(job, 'of a part', [403, 'forbidden', /Only the main task/], () => last.divide(PARTS))
  await expectRefused(job, 'plan', STALE, () => main.taskApi('POST', '/plan', { ...HLS_PLAN, replaces: true }))
  await expectRefused(job, 'finish', STALE, () => main.finish([], { written: [MASTER_PLAYLIST] }))
  await expectRefused(job, 'estimate', [409, 'stale_attempt', /not a dry run/], () =>
    last.taskApi('POST', '/estimate', { estimate: {}, warnings: [], progress: DONE }),
  )
})

test('a dry run is not divided', async () => {
  expect((await postJson('/api/v0/job?dry_run=true', jobBody(HLS_JOB))).status).toBe(200)
  const attempt = await startNextAttempt()
  await attempt.taskApi('POST', '/plan', HLS_PLAN)
  for (const survey of [{}, { survey: true as const }])
    await expectRefused(attempt.job, 'dry run', [400, 'invalid_request', /A dry run is not divided/], () =>
      attempt.divide(PARTS, survey),
    )
})

test('a work object of another attempt or job is neither written nor read, in no spelling', async () => {
  const other = await startOther()
  const theirs = `${directoryOf(other.parts[1])}/secret`
  await env.BUCKET.put(`work/${other.main.job}/objects/${theirs}`, BYTES)
  const { job, last, chunk } = await startDivided()
  const own = directoryOf(last)
  const badName: Refusal = [400, 'invalid_request', /not the name of a work object/]
  const foreign: Refusal = [403, 'forbidden', /is not of this attempt/]
  const put = (path: string) => last.taskApi('PUT', path, BYTES)
  for (const [name, refusal] of [
    [`${directoryOf(chunk)}/a`, foreign],
    ['0-1/a', foreign],
    [`${numberOf(last)}-2/a`, foreign],
    [`0${own}/a`, foreign],
    [`${own}/`, badName],
    [`${own}/A`, badName],
    [`${own}/a/b`, badName],
    [`${own}/a%2fb`, badName],
    [`${own}%2fa`, badName],
    [`${own}/../${directoryOf(chunk)}/a`, foreign],
    [`${own}/%2e%2e/${directoryOf(chunk)}/a`, foreign],
    [`${own}/..`, badName],
    [`${own}/%2e%2e`, badName],
    [`%2e%2e%2f${other.main.job}/objects/${theirs}`, badName],
    [`../../../work/${other.main.job}/objects/${theirs}`, [404, 'not_found', /./]],
    [`${own}/${'a'.repeat(101)}`, badName],
    [`1000-1/a`, badName],
  ] as [string, Refusal][])
    await expectRefused(job, name, refusal, () => put(`/work/${name}`))
  const putOf = (length: string) =>
    exports.default.fetch(
      new Request(`${BASE_URL}/task/${last.run.task_id}/work/${own}/a`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${last.run.token}`, 'content-length': length },
        body: BYTES,
      }),
    )
  await expectRefused(job, 'large', [413, 'too_large', /at most 32 MiB/], () => putOf(`${MAX_TASK_BODY_BYTES + 1}`))
  for (const length of ['-1', '0', '1.5', 'NaN', '1e99'])
    await expectRefused(job, length, [411, 'length_required', /Content-Length/], () => putOf(length))
  for (const [name, refusal] of [
    [theirs, [404, 'not_found', /./]],
    [`%2e%2e%2f%2e%2e%2f${other.main.job}/objects/${theirs}`, badName],
    [`${own}/..%2f..%2f..%2f${other.main.job}/objects/${theirs}`, badName],
  ] as [string, Refusal][])
    await expectRefused(job, name, refusal, () => last.taskApi('GET', `/work/${name}`))
  for (const index of ['-1', '1.5', '1000', '1e0', 'x', '0%2f..', '%30'])
    expect([index, (await last.taskApi('GET', `/parts/${index}`)).status]).toEqual([index, 404])
})

test('the main task leaves work objects until it has divided the job, and a dry run leaves none', async () => {
  const { id, attempt: before } = await startJob(HLS_JOB)
  expect((await before.taskApi('PUT', `/work/${directoryOf(before)}/a`, BYTES)).status).toBe(200)
  // Its slot is needed.
  expect((await apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' })).status).toBe(200)
  const { id: divided, job, main } = await startDivided()
  await expectRefused(job, 'divided', STALE, () => main.taskApi('PUT', `/work/${directoryOf(main)}/a`, BYTES))
  expect((await apiRequest(`/api/v0/job/${divided}/cancel`, { method: 'POST' })).status).toBe(200)
  expect((await postJson('/api/v0/job?dry_run=true', jobBody(HLS_JOB))).status).toBe(200)
  const dry = await startNextAttempt()
  await expectRefused(dry.job, 'dry run', [403, 'forbidden', /A dry run stores nothing/], () =>
    dry.taskApi('PUT', `/work/${directoryOf(dry)}/a`, BYTES),
  )
})

const WARNED = { warnings: [{ code: 'x', message: 'of a lost attempt' }] }

test('what a lost attempt sends before the next one begins is refused, and its warnings are not taken', async () => {
  const { id, job, last, chunk } = await startDivided()
  await loseQuietly(last)
  await expectRefused(job, 'deliver', STALE, () => last.deliver({ bits: 1 }, WARNED))
  await expectRefused(job, 'work', STALE, () => last.taskApi('PUT', `/work/${directoryOf(last)}/a`, BYTES))
  advanceClock(2 * 60_000)
  await reconcile(env, Infinity)
  const again = await startNextAttempt()
  expect(again.run).toMatchObject({ task_id: last.run.task_id, attempt: 2 })
  await expectRefused(job, 'deliver', STALE, () => last.deliver({ bits: 1 }, WARNED))
  await expectRefused(job, 'work', STALE, () => last.taskApi('PUT', `/work/${directoryOf(last)}/a`, BYTES))
  await expectRefused(job, 'its next work', [403, 'forbidden', /is not of this attempt/], () =>
    last.taskApi('PUT', `/work/${directoryOf(again)}/a`, BYTES),
  )
  await expectRefused(job, 'upload', STALE, () => beginSound(last))
  await expectRefused(job, 'records', STALE, () => last.taskApi('GET', '/parts/0'))
  await expectRefused(job, 'fail', STALE, () => last.fail('encoder_failed'))
  expect((await again.deliver({ bits: 2 })).status).toBe(200)
  // The monitor of the other one was silent meanwhile, too.
  expect((await readStatus(id)).warnings).toEqual([])
  expect(chunk.job).toBe(job)
})

/** All that an attempt at a part could still write, behind the end of its job. */
async function expectOver(job: string, attempts: readonly FakeAttempt[]): Promise<void> {
  for (const attempt of attempts) {
    const name = attempt.run.task_id
    await expectRefused(job, `${name} work`, STALE, () =>
      attempt.taskApi('PUT', `/work/${directoryOf(attempt)}/a`, BYTES),
    )
    await expectRefused(job, `${name} upload`, STALE, () => beginSound(attempt))
    await expectRefused(job, `${name} records`, STALE, () => attempt.taskApi('GET', '/parts/0'))
    await expectRefused(job, `${name} work objects`, STALE, () => attempt.taskApi('GET', '/work/1-1/a'))
    await expectRefused(job, `${name} divide`, [403, 'forbidden', /./], () => attempt.divide(PARTS))
  }
}

/** The alarms of the job's monitors. */
async function runAlarms(job: string): Promise<void> {
  await runDurableObjectAlarm(jobMonitor(env, job))
  for (let part = 1; part <= PARTS; part++) await runDurableObjectAlarm(taskMonitor(env, taskIdOf(job, part)))
}

test('a cancelled job: nothing that its parts send is taken', async () => {
  const { id, job, last, chunk } = await startDivided()
  expect((await last.deliver()).status).toBe(200)
  const rest = await startNextAttempt()
  expect((await apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' })).status).toBe(200)
  // Their monitors have not been told yet.
  for (const part of [chunk, rest]) await expectRefused(job, 'deliver', STALE, () => part.deliver({ bits: 1 }, WARNED))
  for (const part of [chunk, rest])
    await expectRefused(job, 'work', STALE, () => part.taskApi('PUT', `/work/${directoryOf(part)}/a`, BYTES))
  await runAlarms(job)
  await expectOver(job, [last, chunk, rest])
  for (const part of [chunk, rest]) await expectRefused(job, 'deliver', STALE, () => part.deliver({ bits: 1 }, WARNED))
  expect(await readStatus(id)).toMatchObject({ state: 'cancelled', warnings: [] })
})

test('a completed job: nothing that its parts send is taken', async () => {
  const { id, job, last, chunk } = await startDivided()
  await Promise.all([last.deliver(), chunk.deliver()])
  const rest = await startNextAttempt()
  await rest.deliver()
  const assembling = await startNextAttempt()
  const finish = (path: string) => assembling.finish([], { written: [{ ...MASTER_PLAYLIST, path }] })
  for (const path of ['../master.m3u8', 'hls/../master.m3u8', '/hls/master.m3u8', 'hls//master.m3u8'])
    await expectRefused(job, path, [400, 'invalid_request', /path/i], () => finish(path))
  await expectRefused(job, 'segment', [403, 'forbidden', /is not an output/], () => finish(segmentOf(last)))
  await expectRefused(job, 'conflict', [409, 'conflict', /has 3 parts.* into 9\.$/], () => assembling.divide(9))
  expect((await finish(MASTER_PLAYLIST.path)).status).toBe(200)
  await runAlarms(job)
  await expectOver(job, [last, chunk, rest])
  const before = await everythingOf(job)
  // Repeated, as if its answer had been lost.
  expect((await rest.deliver({ bits: 9 }, WARNED)).status).toBe(200)
  expect(await everythingOf(job)).toEqual(before)
  expect(await readStatus(id)).toMatchObject({ state: 'ready', error: null, warnings: [] })
})

test('a survey that is over: its parts and its main attempt change nothing in the division behind it', async () => {
  const { main, parts } = await startDividedJob(SURVEYS, { survey: true })
  const { job } = main
  const [first, lost] = parts
  await first.deliver({ bits: 1 })
  await loseQuietly(lost)
  advanceClock(2 * 60_000)
  await reconcile(env, Infinity)
  const second = await startNextAttempt()
  await second.deliver({ bits: 1 })
  const dividing = await startNextAttempt()
  for (const n of [SURVEYS, SURVEYS + 1, 2 * SURVEYS])
    await expectRefused(job, `${n}`, [409, 'conflict', /has 2 parts, 2 of a survey/], () =>
      dividing.divide(n, { survey: true }),
    )
  await dividing.taskApi('POST', '/plan', { ...HLS_PLAN, replaces: true })
  expect((await dividing.divide(SURVEYS + PARTS)).status).toBe(200)
  const chunks = [await startNextAttempt(), await startNextAttempt()]
  expect(new Set(chunks.map(({ part }) => part))).toEqual(new Set([SURVEYS, SURVEYS + 2]))

  await expectRefused(job, 'lost', STALE, () => lost.deliver({ bits: 9 }, WARNED))
  for (const part of [first, second, lost]) {
    await expectRefused(job, 'upload', STALE, () => beginSound(part))
    await expectRefused(job, 'records', STALE, () => part.taskApi('GET', '/parts/0'))
  }
  const before = await everythingOf(job)
  expect((await first.deliver({ bits: 9 }, WARNED)).status).toBe(200)
  expect(await everythingOf(job)).toEqual(before)
  await expectRefused(job, 'plan', STALE, () => main.taskApi('POST', '/plan', { ...HLS_PLAN, replaces: true }))
  for (const survey of [{}, { survey: true as const }])
    await expectRefused(job, 'divide', STALE, () => main.divide(2 * SURVEYS, survey))
  await expectRefused(job, 'more chunks', [409, 'conflict', /has 5 parts, 2 of a survey/], () =>
    dividing.divide(SURVEYS + PARTS + 1),
  )
  expect((await chunks[0]!.taskApi('GET', `/parts/${SURVEYS}`)).status).toBe(404)
  expect(await (await chunks[0]!.taskApi('GET', '/parts/0')).json()).toEqual({ bits: 1 })
})
