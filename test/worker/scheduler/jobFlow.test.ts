import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { errorHelp } from '#contract/errorAdvice.ts'
import { MAX_LOST_ATTEMPTS } from '#contract/task/lifecycle.ts'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { app } from '../../../worker/app.ts'
import { apiRequest, BASE_URL, postJson, readJson, errorCode, createJob } from '../support/apiClient.ts'
import type { FakeAttempt } from '../support/fakeTranscoder.ts'
import { LONG_FORM } from '../support/longForm.ts'
import { taskPlan } from '../support/taskPlan.ts'
import { advanceClock, startNextAttempt, readStatus, transcoders, startJob } from '../support/jobFixture.ts'

/** Lets more time pass than the attempt's lease. */
async function expireLease(attempt: FakeAttempt): Promise<void> {
  advanceClock(10 * 60_000)
  await attempt.alarm()
}

/** The cron's reconciler, late enough for every back-off to be over. */
async function reconcileLater(): Promise<void> {
  advanceClock(3 * 60_000)
  await reconcile(env, Infinity)
}

test('a job goes from the queue to a file at a signed address', async () => {
  const sent = vi.spyOn(Object.getPrototypeOf(env.QUEUE) as Queue, 'sendBatch')
  const id = await createJob()
  const attempt = await transcoders.nextAttempt()
  expect(attempt.run.attempt).toBe(1)
  const task = await (await attempt.taskApi('GET', '')).json<any>()
  expect(task.spec).toEqual(toSpec(task.config, task.input_name))
  expect(task).toMatchObject({ protocol: TASK_PROTOCOL, attempt: 1, kind: 'transcode', plan: null, input_name: 'a' })
  expect(task).not.toHaveProperty('max_source_seconds')
  const bounded = { ...env, MAX_SOURCE_SECONDS: '60' } as unknown as Env
  const { task_id: taskId, token } = attempt.run
  const again = new Request(`${BASE_URL}/task/${taskId}`, { headers: { authorization: `Bearer ${token}` } })
  const described = await app.fetch(again, bounded, createExecutionContext())
  expect(await described.json()).toMatchObject({ max_source_seconds: 60 })
  expect(await readStatus(id)).toMatchObject({
    state: 'running',
    phase: 'starting',
    tcode_speed: '-1',
    xfer_speed: '-1.0',
  })

  expect(await attempt.heartbeat({ transcoded: 0.5, speed: 1.5, transcode_seconds: 2 })).toBe('continue')
  expect(await readStatus(id)).toMatchObject({
    phase: 'transcoding',
    tcode_progress: '50',
    tcode_speed: '1.5',
    tcode_time: '2',
    xfer_progress: '0',
    job_completed: false,
  })
  const object = await attempt.storeObject('film.mp4', new TextEncoder().encode('not really a film'))
  expect(await attempt.heartbeat({ transcoded: 1, bytes_produced: 100, bytes_stored: 100 })).toBe('continue')
  expect(await readStatus(id)).toMatchObject({ tcode_progress: '99', xfer_progress: '99', job_completed: false })

  const finished = await attempt.finish([object])
  // The queue message contains the attempt, and nothing about the job (I15).
  const messages = sent.mock.calls.flatMap(([batch]) =>
    [...batch].map(({ body }) => Object.keys(body as object).toSorted()),
  )
  expect(messages.length).toBeGreaterThan(0)
  for (const members of messages) expect(members).toEqual(['attempt', 'task'])
  expect(await finished.json()).toEqual({ state: 'completed' })
  const end = await readStatus(id)
  expect(end).toMatchObject({
    state: 'ready',
    phase: 'done',
    job_completed: true,
    tcode_progress: '100',
    xfer_progress: '100',
    tcode_time: '4.3',
    error: null,
  })
  expect(end.outputs).toMatchObject([{ path: 'film.mp4', size: 17, sha256: object.sha256, role: 'media', profile: 0 }])
  const file = await apiRequest(new URL(end.outputs[0].url).pathname, { headers: { authorization: '' } })
  expect(await file.text()).toBe('not really a film')
  expect((await env.BUCKET.list({ prefix: 'work/' })).objects).toEqual([])
})

test('a job costs at most 14 writing statements, one more per task, attempt and upload, however often progress is posted', async () => {
  let writes = 0
  const prepare = env.DB.prepare.bind(env.DB)
  vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
    if (/^\s*(INSERT|UPDATE|DELETE)/i.test(sql)) writes++
    return prepare(sql)
  })
  const costs: number[] = []
  for (const posts of [10, LONG_FORM ? 7200 : 300]) {
    writes = 0
    const { attempt } = await startJob()
    await attempt.taskApi('POST', '/plan', { plan: taskPlan(), warnings: [{ code: 'x', message: 'y' }] })
    for (let n = 0; n < posts; n++) await attempt.heartbeat({ transcoded: n / posts })
    await attempt.complete(10)
    costs.push(writes)
  }
  expect(costs[0]).toBeLessThanOrEqual(14 + 1 + 1 + 1)
  expect(costs[1]).toBe(costs[0])
}, 120_000)

test('an attempt whose lease expires is given back, and its late writes change nothing (I3)', async () => {
  const { id, attempt: first } = await startJob()
  await first.heartbeat({ transcoded: 0.4 })
  const orphan = await first.storeObject('film.mp4', new Uint8Array(5))
  await expireLease(first)
  expect(await readStatus(id)).toMatchObject({ state: 'ready', phase: 'queued', job_completed: false })
  await reconcileLater()
  const second = await startNextAttempt()
  expect(second.run.attempt).toBe(2)

  expect(await first.heartbeat({ transcoded: 0.9 })).toBe('stop')
  for (const [path, body] of [
    ['/plan', { plan: taskPlan(), warnings: [] }],
    ['/uploads', { path: 'film.mp4', content_type: 'video/mp4', expected_size: 5 }],
    ['/fail', { reason: 'failed', error: { code: 'source_not_media', message: 'x' } }],
  ] as const) {
    expect((await first.taskApi('POST', path, body)).status, path).toBe(409)
  }
  expect((await first.finish([orphan])).status).toBe(409)
  // I4: shown progress does not go back, although the second attempt starts from zero.
  await second.heartbeat({ transcoded: 0.1 })
  expect((await readStatus(id)).tcode_progress).toBe('40')
  await second.complete()
  expect(await readStatus(id)).toMatchObject({ job_completed: true, error: null, outputs: [{ size: 6 }] })
})

test('a job whose attempts are lost too often fails with a sentence, not in a loop', async () => {
  const id = await createJob()
  for (let n = 1; n <= MAX_LOST_ATTEMPTS; n++) {
    const attempt = await startNextAttempt()
    expect(attempt.run.attempt).toBe(n)
    await expireLease(attempt)
    if (n < MAX_LOST_ATTEMPTS) await reconcileLater()
  }
  const end = await readStatus(id)
  expect(end).toMatchObject({ state: 'error', job_completed: true })
  // Ten minutes each by the test's clock: too long for a container's lifetime.
  expect(end.error.code).toBe('too_long_for_one_attempt')
})

test('lost attempts that get further and further do not count, and the job completes', async () => {
  const id = await createJob()
  for (const transcoded of [0.1, 0.3, 0.5, 0.7, 0.9]) {
    const attempt = await startNextAttempt()
    await attempt.heartbeat({ transcoded })
    await expireLease(attempt)
    await reconcileLater()
  }
  expect(await env.DB.prepare('SELECT lost, excused, furthest FROM tasks WHERE job = ?1').bind(id).first()).toEqual({
    lost: 5,
    excused: 4,
    furthest: 0.9,
  })
  const { events } = await (await apiRequest(`/api/v0/job/${id}/events`)).json<any>()
  const messages = events.filter(({ type }: any) => type === 'attempt.lost').map(({ message }: any) => message)
  expect([messages.length, messages[0], messages[1]]).toEqual([
    5,
    'Attempt 1 ended without a result; another attempt follows in 1 s.',
    'Attempt 2 ended without a result; another attempt follows in 2 s. It got further than the attempts before it, so it does not count towards the limit.',
  ])
  const last = await startNextAttempt()
  expect(last.run.attempt).toBe(6)
  // Below all of them: its own progress counts, not the one that clients see.
  await last.heartbeat({ transcoded: 0.2 })
  await expireLease(last)
  await reconcileLater()
  const end = await startNextAttempt()
  await end.finish([await end.storeObject('film.mp4', new Uint8Array(6))])
  expect(await readStatus(id)).toMatchObject({ job_completed: true, error: null })
  expect(await env.DB.prepare('SELECT lost, excused FROM tasks WHERE job = ?1').bind(id).first()).toEqual({
    lost: 6,
    excused: 4,
  })
})

test('an unreachable source is waited for in the queue: another job gets the slot, and the status says why', async () => {
  const { id, attempt: first } = await startJob()
  const away = { code: 'source_unreachable', message: 'media.test cannot deliver the file at the moment (500).' }
  await first.taskApi('POST', '/fail', { reason: 'failed', error: { ...away, details: { status: 500 } } })
  // Other jobs are started meanwhile: no slot is reserved for the waiting one.
  for (let n = 0; n < 3; n++) {
    const { id: other, attempt } = await startJob()
    expect(attempt.job).not.toBe(first.job)
    await attempt.complete(1)
    expect(await readStatus(other)).toMatchObject({ job_completed: true, error: null })
  }
  const waiting = await readStatus(id)
  expect(waiting).toMatchObject({ state: 'ready', phase: 'queued', error: null, waiting_for: away })
  expect(Date.parse(waiting.waiting_for.next_try_at)).toBeGreaterThan(Date.now())
  const { events } = await readJson(`/api/v0/job/${id}/events`)
  expect(events.at(-1)).toMatchObject({
    type: 'attempt.lost',
    error: away,
    message: `Attempt 1 ended without a result (${away.message}); another attempt follows in 15 s.`,
  })
  await reconcileLater()
  const second = await startNextAttempt()
  expect([second.job, second.run.attempt]).toEqual([first.job, 2])
  expect((await readStatus(id)).waiting_for).toBe(null)
  // The store is available again.
  await second.complete(1)
  expect(await readStatus(id)).toMatchObject({ job_completed: true, error: null })
})

test('a source that stays away ends the job with its sentence after four attempts', async () => {
  const id = await createJob()
  for (let n = 1; n <= MAX_LOST_ATTEMPTS; n++) {
    const attempt = await startNextAttempt()
    const error = { code: 'source_unreachable', message: 'It is away.' }
    await attempt.taskApi('POST', '/fail', { reason: 'failed', error })
    if (n < MAX_LOST_ATTEMPTS) await reconcileLater()
  }
  expect(await readStatus(id)).toMatchObject({
    state: 'error',
    error: { code: 'source_unreachable', message: 'It is away.' },
    waiting_for: null,
  })
})

test.each(['host_not_found', 'connection_refused', 'tls_failed'] as const)(
  '%s ends the job with its first attempt',
  async (code) => {
    const { id, attempt } = await startJob()
    await attempt.taskApi('POST', '/fail', { reason: 'failed', error: { code, message: 'It is so.', field: 'input' } })
    expect(await readStatus(id)).toMatchObject({
      state: 'error',
      error: { code, message: 'It is so.', field: 'input', ...errorHelp(code) },
    })
  },
)

test('a transcoder that returns its task on SIGTERM frees its slot for another attempt immediately', async () => {
  const { id, attempt: first } = await startJob()
  const why = 'the rest does not fit: about 5000 s of work, 840 s until it has to end'
  const returned = await first.taskApi('POST', '/fail', { reason: 'interrupted', why })
  expect(await returned.json()).toEqual({ state: 'queued' })
  const { events } = await readJson(`/api/v0/job/${id}/events`)
  expect(events.at(-1)).toMatchObject({
    type: 'attempt.evicted',
    message: `Attempt 1 was interrupted because its transcoder is shutting down (${why}); another attempt follows. This does not count as a lost attempt.`,
  })
  await reconcileLater()
  const second = await startNextAttempt()
  await second.complete()
  expect((await readStatus(id)).job_completed).toBe(true)
})

test('a permanent error ends the job at once, with code, sentence and field', async () => {
  const { id, attempt } = await startJob()
  const error = {
    code: 'audio_stream_missing',
    message: 'The source has 1 audio stream.',
    field: 'audioProfiles[0].source_stream',
  }
  await attempt.taskApi('POST', '/fail', { reason: 'failed', error })
  expect(await readStatus(id)).toMatchObject({ state: 'error', job_completed: true, phase: 'done', error })
  expect(await attempt.heartbeat()).toBe('stop')
})

test('a transcoder that refuses or is away costs a start, never the job', async () => {
  transcoders.runStatus = () => 503
  const id = await createJob()
  await expect.poll(() => transcoders.refusedStarts).toBeGreaterThan(0)
  transcoders.runStatus = () => 202
  await reconcileLater()
  const attempt = await startNextAttempt()
  expect(attempt.run.attempt).toBeGreaterThan(1)
  await attempt.complete()
  expect((await readStatus(id)).error).toBeNull()
})

test('cancel ends a waiting job, stops a running one, and cannot be followed by success (I9)', async () => {
  const { id: running, attempt } = await startJob()
  const object = await attempt.storeObject('film.mp4', new Uint8Array(6))
  const answer = await postJson(`/api/v0/job/${running}/cancel`, {})
  expect(answer.status).toBe(200)
  expect((await answer.json<any>()).status).toMatchObject({ state: 'cancelled', job_completed: true })
  expect(transcoders.cancels).toEqual([{ task_id: attempt.run.task_id, attempt: 1 }])
  expect(await attempt.heartbeat()).toBe('cancel')
  expect((await attempt.finish([object])).status).toBe(409)
  expect((await readStatus(running)).state).toBe('cancelled')
  // Repeated: the same answer. After another kind of end: 409.
  expect((await postJson(`/api/v0/job/${running}/cancel`, {})).status).toBe(200)
  const { id: done, attempt: second } = await startJob()
  await second.complete()
  const refused = await postJson(`/api/v0/job/${done}/cancel`, {})
  expect(await errorCode(refused)).toBe('409 job_finished')
})

test('a cancelled job leaves no object and no open upload behind (I8)', async () => {
  const { id, attempt } = await startJob()
  const object = await attempt.storeObject('film.mp4', new Uint8Array(6))
  const prefix = `out/default/${attempt.run.task_id.slice(0, -2)}/`
  await postJson(`/api/v0/job/${id}/cancel`, {})
  expect((await env.BUCKET.list({ prefix })).objects).toEqual([])
  expect((await attempt.taskApi('PUT', `/uploads/${object.upload}/2`, new Uint8Array(6))).status).toBe(409)
})

test('a commit that broke off is resumed without the transcoder, from its record', async () => {
  const profile = { width: 640, height: 360, video_bitrate: 600 }
  const id = await createJob({ videoProfiles: ['a.mp4', 'b.mp4'].map((output) => ({ ...profile, output })) })
  const attempt = await startNextAttempt()
  const objects = [
    await attempt.storeObject('a.mp4', new Uint8Array(6)),
    await attempt.storeObject('b.mp4', new Uint8Array(7)),
  ]
  // The store fails between the first and the second completed upload, as if the Worker crashed there.
  const head = env.BUCKET.head.bind(env.BUCKET)
  const broken = vi.spyOn(env.BUCKET, 'head').mockImplementation(async (key) => {
    if (key.endsWith('b.mp4')) throw new Error('R2 is away (10001)')
    return head(key)
  })
  // The transcoder is done: everything that the commit needs is stored.
  expect(await (await attempt.finish(objects)).json()).toEqual({ state: 'committing' })
  expect(await readStatus(id)).toMatchObject({ phase: 'committing', job_completed: false, xfer_progress: '99' })
  expect((await postJson(`/api/v0/job/${id}/cancel`, {})).status).toBe(409)
  broken.mockRestore()
  await attempt.alarm()
  const end = await readStatus(id)
  expect(end).toMatchObject({ job_completed: true, error: null })
  expect(end.outputs.map((output: any) => output.path)).toEqual(['a.mp4', 'b.mp4'])
  // The transcoder that got no answer asks again: the same answer.
  expect(await (await attempt.finish(objects)).json()).toEqual({ state: 'completed' })
})

test('two transcoders run two jobs; a third waits, shows its queue position, and starts when a slot is free', async () => {
  const [, second, third] = [await createJob(), await createJob(), await createJob()]
  const a = await startNextAttempt()
  await startNextAttempt()
  expect(await readStatus(third)).toMatchObject({ phase: 'queued', queue_position: 0 })
  expect((await readStatus(second)).queue_position).toBeNull()
  await a.complete()
  await startNextAttempt()
  expect((await readStatus(third)).phase).toBe('starting')
})

test('what is over is removed in its time: outputs after 30 days, credentials after 3, records after 90', async () => {
  const { id, attempt } = await startJob()
  await attempt.complete()
  const prefix = `out/default/${attempt.run.task_id.slice(0, -2)}/`
  const sealed = () => env.DB.prepare('SELECT sealed FROM jobs WHERE id = ?').bind(id).first('sealed')
  const day = 86_400_000
  advanceClock(2 * day)
  await reconcile(env, Infinity)
  expect(await sealed()).not.toBeNull()
  advanceClock(2 * day)
  await reconcile(env, Infinity)
  expect(await sealed()).toBeNull()
  expect((await env.BUCKET.list({ prefix })).objects).toHaveLength(1)
  advanceClock(27 * day)
  await reconcile(env, Infinity)
  expect((await env.BUCKET.list({ prefix })).objects).toEqual([])
  expect(await readStatus(id)).toMatchObject({ job_completed: true, outputs: [] })
  advanceClock(60 * day)
  await reconcile(env, Infinity)
  expect((await apiRequest(`/api/v0/job/${id}`)).status).toBe(404)
  expect(await env.DB.prepare('SELECT COUNT(*) AS n FROM tasks WHERE job = ?').bind(id).first('n')).toBe(0)
})

test('a job that no transcoder accepts ends at its deadline (I1)', async () => {
  transcoders.runStatus = () => 503
  const id = await createJob()
  await expect.poll(() => transcoders.refusedStarts).toBeGreaterThan(0)
  advanceClock(25 * 3600_000)
  await reconcile(env, Infinity)
  expect(await readStatus(id)).toMatchObject({
    state: 'error',
    job_completed: true,
    error: { code: 'deadline_exceeded' },
  })
})

test('the first plan stays: a later attempt is given it', async () => {
  const { attempt: first } = await startJob()
  // Members that a newer transcoder adds are kept.
  const stored = { ...taskPlan(), newer: 'member' }
  expect(await (await first.taskApi('POST', '/plan', { plan: stored, warnings: [] })).json()).toEqual({ plan: stored })
  await expireLease(first)
  await reconcileLater()
  const second = await transcoders.nextAttempt()
  expect(await (await second.taskApi('GET', '')).json()).toMatchObject({ plan: stored })
  const other = taskPlan('film.mp4', { durationSeconds: 20 })
  expect(await (await second.taskApi('POST', '/plan', { plan: other, warnings: [] })).json()).toEqual({ plan: stored })
})

test('a plan that another ffmpeg made takes the place of the stored one, with its warnings', async () => {
  const id = await createJob()
  const first = await startNextAttempt()
  const common = { code: 'upscaled', message: 'Of both plans.' } as const
  const old = { code: 'captions_removed', message: 'This ffmpeg cannot carry them.' } as const
  const before = taskPlan('film.mp4', { warnings: [common, old] })
  await first.taskApi('POST', '/plan', { plan: before, warnings: before.warnings })
  const codes = async () => (await readStatus(id)).warnings.map(({ code }: any) => code)
  expect(await codes()).toEqual(expect.arrayContaining(['upscaled', 'captions_removed']))
  await expireLease(first)
  await reconcileLater()
  const second = await startNextAttempt()
  const after = taskPlan('film.mp4', { durationSeconds: 20, warnings: [common] })
  const post = { plan: after, warnings: after.warnings, replaces: true }
  // A repeated request changes nothing more.
  for (let n = 0; n < 2; n++)
    expect(await (await second.taskApi('POST', '/plan', post)).json()).toEqual({ plan: after })
  expect(await codes()).toContain('upscaled')
  expect(await codes()).not.toContain('captions_removed')
  expect((await first.taskApi('POST', '/plan', { ...post, plan: before })).status).toBe(409)
  const { events } = await (await apiRequest(`/api/v0/job/${id}/events`)).json<any>()
  expect(events.filter(({ type }: any) => type === 'job.planned')).toHaveLength(1)
})

/** Another base64 character for the same bits: in the last of 43 characters, two bits are unused. */
function equivalent(last: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet[alphabet.indexOf(last) ^ 1] ?? ''
}

test('the task API accepts tokens of that task only, never API keys', async () => {
  const { attempt } = await startJob()
  const [n, expiry, mac] = attempt.run.token.split('.')
  for (const token of [
    '',
    'x',
    `${n}.${expiry}.${'A'.repeat(43)}`,
    `2.${expiry}.${mac}`,
    `${n}.${Number(expiry) + 1}.${mac}`,
    `${n}.${expiry}.${mac}.`,
    `${n}.${expiry}.${mac}.anything`,
    `${n}.${expiry}.${mac?.slice(0, -1)}${equivalent(mac?.at(-1) ?? '')}`,
  ]) {
    const forged = Object.assign(Object.create(attempt), { run: { ...attempt.run, token } }) as FakeAttempt
    expect((await forged.taskApi('GET', '')).status, token).toBe(401)
  }
  expect((await apiRequest(`/task/${attempt.run.task_id}`)).status).toBe(401)
  const { attempt: other } = await startJob()
  const crossed = Object.assign(Object.create(attempt), {
    run: { ...attempt.run, task_id: other.run.task_id },
  }) as FakeAttempt
  expect((await crossed.taskApi('GET', '')).status).toBe(401)
})

test.each([
  ['We are unable to do that. (10001)', 502, 'output_unreachable'],
  ['Access denied. (10003)', 502, 'output_unreachable'],
  ['The upload does not exist. (10024)', 409, 'stale_attempt'],
  ['Too large. (100100)', 413, 'output_too_large'],
  ['The name is not valid. (10020)', 400, 'output_refused'],
])('a store’s error for a part is returned to the transcoder: %s', async (message, httpStatus, code) => {
  const { attempt } = await startJob()
  vi.spyOn(env.BUCKET, 'createMultipartUpload').mockRejectedValue(new Error(message))
  const upload = { path: 'film.mp4', content_type: 'video/mp4', expected_size: 5 }
  const answer = await attempt.taskApi('POST', '/uploads', upload)
  expect([answer.status, (await answer.json<any>()).error.code]).toEqual([httpStatus, code])
})
