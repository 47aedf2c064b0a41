// Divided jobs in the real Worker, with stand-in transcoders: what parts get, store and deliver, and what is left of them
// when a transcoder is lost and when the job ends.
import { env } from 'cloudflare:workers'
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { expect, test, vi } from 'vitest'
import { MAX_JOB_PARTS } from '#contract/limits.ts'
import { BUILD_HEADER, PARTS_SHARE, type TaskDescription } from '#contract/task/protocol.ts'
import { MAIN_TASK, parseTaskId, taskIdOf } from '#contract/taskId.ts'
import { findJobByJobId } from '../../../worker/db/jobs.ts'
import { addLostPart, listPartStates } from '../../../worker/db/parts.ts'
import { findTask } from '../../../worker/db/tasks.ts'
import { JobMonitor } from '../../../worker/monitor/jobMonitor.ts'
import { PartsProgress } from '../../../worker/monitor/partsProgress.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { assignSlots } from '../../../worker/scheduler/assignSlots.ts'
import { jobMonitor, taskMonitor } from '../../../worker/scheduler/applyEvent.ts'
import { transitionTask } from '../../../worker/scheduler/transitionTask.ts'
import { createAttemptToken } from '../../../worker/secrets/attemptToken.ts'
import { acceptedReports } from '../../../worker/taskApi/parts.ts'
import { apiRequest, readJson } from '../support/apiClient.ts'
import { HLS_JOB, HLS_PLAN, MASTER_PLAYLIST, SOUND, startDividedJob, workOf } from '../support/dividedFixture.ts'
import { FakeAttempt, noProgress } from '../support/fakeTranscoder.ts'
import { advanceClock, readStatus, startJob, startNextAttempt, transcoders } from '../support/jobFixture.ts'

/** Two are at work at the same time, one waits. */
const PARTS = 3

/** The attempts are those at its last chunk and at the other one: the rest waits for the last. */
async function startDivided(): ReturnType<typeof startDividedJob> {
  const job = await startDividedJob(PARTS)
  expect(job.parts.map(({ part }) => part)).toEqual([0, 2])
  return job
}

const segmentOf = (attempt: FakeAttempt) => `hls/video_0/${attempt.attemptDirectory}/00001.m4s`

async function storeSegment(attempt: FakeAttempt): Promise<void> {
  expect((await attempt.putObject(segmentOf(attempt), 'abc', 'video/mp4')).status).toBe(200)
}

const putWork = (attempt: FakeAttempt) => attempt.taskApi('PUT', `/work/${workOf(attempt)}`, new Uint8Array([1, 2, 3]))

async function storeWork(attempt: FakeAttempt): Promise<void> {
  expect((await putWork(attempt)).status).toBe(200)
}

const storeSound = (attempt: FakeAttempt) => attempt.storeObject(SOUND[0], new Uint8Array(6), SOUND[1])

/** Objects of the job in the service's own store, and its records. */
async function stored(job: string): Promise<string[]> {
  const [outputs, records] = await Promise.all([
    env.BUCKET.list({ prefix: `out/default/${job}/` }),
    env.BUCKET.list({ prefix: `work/${job}/` }),
  ])
  return [
    ...outputs.objects.map(({ key }) => key.slice(`out/default/${job}/`.length)),
    ...records.objects.map(({ key }) => key),
  ]
}

const partIds = (job: string) => Array.from({ length: PARTS }, (_, index) => taskIdOf(job, MAIN_TASK + 1 + index))

/** Runs the alarms of all monitors of an ended job until nothing is left of it. */
async function cleanUp(job: string): Promise<void> {
  for (let round = 0; round < 4; round++) {
    advanceClock(5 * 60_000)
    await runDurableObjectAlarm(jobMonitor(env, job))
    for (const part of partIds(job)) await runDurableObjectAlarm(taskMonitor(env, part))
  }
  for (const part of partIds(job)) expect(await taskMonitor(env, part).isCleanedUp()).toBe(true)
  expect(await jobMonitor(env, job).isCleanedUp()).toBe(true)
}

/** The transcoder of the attempt is gone, and its task is started again. */
async function lose(attempt: FakeAttempt): Promise<FakeAttempt> {
  advanceClock(60_000)
  await attempt.alarm()
  advanceClock(2 * 60_000)
  await reconcile(env, Infinity)
  return startNextAttempt()
}

const busySlots = () => env.DB.prepare('SELECT COUNT(*) AS n FROM slots WHERE task IS NOT NULL').first('n')
test('a divided job: parts get the plan and each other’s records, and the last attempt publishes what they stored', async () => {
  const { id, main, parts } = await startDivided()
  expect(await main.divide(PARTS).then((answer) => answer.json())).toMatchObject({ state: 'divided' })
  const [last, chunk] = parts
  const described = await (await chunk.taskApi('GET', '')).json<TaskDescription>()
  expect(described).toMatchObject({ kind: 'part', part: { index: 2 }, plan: HLS_PLAN.plan, heartbeat_ms: 5000 })
  expect(described.accepts).toEqual({ source: false, preview: false, log: true, subtitles: true })
  expect(described.assemble).toBeUndefined()

  // One is being made; nobody makes the other one yet.
  expect((await chunk.taskApi('GET', '/parts/0')).status).toBe(404)
  expect((await chunk.taskApi('GET', '/parts/1')).status).toBe(404)
  await storeWork(last)
  const sound = await storeSound(last)
  const record = { frames: 250, sound }
  const warnings = [{ code: 'not_divided', message: 'one' }]
  const twice = await Promise.all([last.deliver(record, { warnings }), last.deliver(record, { warnings })])
  expect(twice.map(({ status }) => status)).toEqual([200, 200])
  await expect(storeSound(last)).rejects.toThrow('409')
  // Its monitor wakes up before the job has ended, and leaves everything where it is.
  await last.alarm()
  expect(await (await chunk.taskApi('GET', '/parts/0')).json()).toEqual(record)

  const row = await findTask(env.DB, main.run.task_id)
  const half = { ...noProgress, transcoded: 0.5 }
  // Its memory was lost after the first part was delivered.
  const whole = await new PartsProgress().update(env.DB, row!, chunk.part!, half, Date.now())
  expect(whole.transcoded).toBeCloseTo((PARTS_SHARE * (1 + 0.5)) / PARTS)
  const rest = await startNextAttempt()
  expect(rest.part).toBe(1)
  await storeWork(rest)
  await storeWork(chunk)
  expect(await chunk.heartbeat({ transcoded: 0.5, speed: 2 })).toBe('continue')
  const status = await readStatus(id)
  expect(status).toMatchObject({ state: 'running', phase: 'transcoding', job_completed: false })
  expect(status.chunks).toEqual({ total: 3, completed: 1, running: 2, map: 'rcr' })
  await Promise.all([rest.deliver({ audio: 1 }), chunk.deliver({ frames: 250 })])

  const assembling = await transcoders.nextAttempt()
  expect((await readJson('/api/v0/job?limit=1')).jobs[0].status).toMatchObject({ phase: 'packaging' })
  expect(assembling.run).toMatchObject({ task_id: main.run.task_id, attempt: 2 })
  expect(await (await assembling.taskApi('GET', '')).json()).toMatchObject({ assemble: { parts: PARTS } })
  const found = await (await assembling.taskApi('GET', '/parts/0')).json<typeof record>()
  expect((await assembling.divide(PARTS)).status).toBe(409)
  await storeSegment(assembling)
  expect(await (await assembling.finish([found.sound], { written: [MASTER_PLAYLIST] })).json()).toEqual({
    state: 'completed',
  })

  expect(await readStatus(id)).toMatchObject({ error: null, warnings, chunks: { completed: PARTS, map: 'ccc' } })
  await cleanUp(main.job)
  expect((await stored(main.job)).toSorted()).toEqual([segmentOf(assembling), 'hls/master.m3u8', SOUND[0]].toSorted())
})

/** Follows the job; the result reads until progress of a half or more. */
async function followProgress(id: number): Promise<() => Promise<unknown>> {
  const answer = await apiRequest(`/api/v0/job/${id}/events`, { headers: { accept: 'text/event-stream' } })
  const reader = answer.body!.getReader()
  let text = ''
  return async () => {
    for (;;) {
      const found = /^event: progress\ndata: (.*"tcode_progress":"[5-9]\d".*)$/m.exec(text)?.[1]
      if (found !== undefined) {
        await reader.cancel()
        return JSON.parse(found)
      }
      const { value, done } = await reader.read()
      if (done) throw new Error(text)
      text += new TextDecoder().decode(value)
    }
  }
}

test('a job is divided unasked if one transcoder would take long, and sooner once it has lost one', async () => {
  const { attempt } = await startJob(HLS_JOB)
  const above = async (of: FakeAttempt): Promise<number | undefined> => {
    const { accepts } = await (await of.taskApi('GET', '')).json<TaskDescription>()
    expect(accepts?.parts).toBe(MAX_JOB_PARTS)
    return accepts?.divide_above_seconds
  }
  expect(await above(attempt)).toBe(600)
  expect(await above(await lose(attempt))).toBe(60)

  const task = await findTask(env.DB, attempt.run.task_id)
  const job = await findJobByJobId(env.DB, parseTaskId(task!.id).jobId)
  const accepted = (setting: string) => acceptedReports({ ...env, DIVIDE_ABOVE_SECONDS: setting }, job!, task!)
  expect(accepted('30')).toMatchObject({ divide_above_seconds: 30 })
  expect(accepted('off')).not.toHaveProperty('divide_above_seconds')
})

test('progress of parts is the progress of the job, and never decreases', async () => {
  const { id, parts } = await startDivided()
  const [last, chunk] = parts
  const percent = async () => Number((await readStatus(id)).tcode_progress)
  const events = await followProgress(id)
  advanceClock(20_000)
  await last.heartbeat({ transcoded: 0.9 })
  await chunk.heartbeat({ transcoded: 0.68 })
  await expect.poll(percent).toBe(50)
  // Half of the work of parts took 20 s.
  const { eta_seconds: left } = await readStatus(id)
  expect(left).toBeGreaterThanOrEqual(15)
  expect(left).toBeLessThan(60)
  expect(await events()).toMatchObject({ phase: 'transcoding', attempt: 1, tcode_progress: '50' })
  // The lost part begins anew.
  await (await lose(last)).heartbeat()
  await chunk.heartbeat({ transcoded: 0.1, speed: 3 })
  await expect.poll(async () => (await readStatus(id)).tcode_speed).toBe('3')
  expect(await percent()).toBe(50)
})

test('longer chunks count for more, behind the samples that the first attempt took', async () => {
  const { main, parts } = await startDivided()
  const row = await findTask(env.DB, main.run.task_id)
  // Chunks of 6, 2 and (the last, as far as it is known) 2 segments; the rest counts like the mean chunk.
  const plan = JSON.stringify({ division: { chunks: [0, 6, 8], seconds: 150, samplingSeconds: 10 } })
  await env.DB.prepare('UPDATE tasks SET plan = ?2, parts = 4 WHERE id = ?1').bind(main.run.task_id, plan).run()
  const progress = new PartsProgress()
  const update = (attempt: FakeAttempt, transcoded: number) =>
    progress.update(env.DB, { ...row!, parts: 4 }, attempt.part!, { ...noProgress, transcoded }, Date.now())
  const [last, first] = parts
  const mean = 10 / 3
  const done = (segments: number) => PARTS_SHARE * (1 / 16 + ((15 / 16) * segments) / mean / 4)
  expect((await update(last, 1)).transcoded).toBeCloseTo(done(2))
  expect((await update(first, 0.5)).transcoded).toBeCloseTo(done(2 + 3))
})

test('a lost transcoder costs one part: its attempt is repeated, the others stay, and what it left is removed', async () => {
  const { id, main, parts } = await startDivided()
  const [last, chunk] = parts
  await storeWork(last)
  await storeWork(chunk)
  expect((await chunk.deliver()).status).toBe(200)
  const again = await lose(last)
  expect(again.run).toMatchObject({ task_id: last.run.task_id, attempt: 2 })
  // The last chunk is the second of the map, behind the first one.
  const { events } = await readJson(`/api/v0/job/${id}/events`)
  expect(events.at(-1)).toMatchObject({ type: 'attempt.lost', attempt: 1, part: 1 })
  expect(events.at(-1).message).toContain('Attempt 1 at part 1 ended without a result')
  // A repeated message adds nothing.
  await addLostPart(env.DB, last.run.task_id, 1).run()
  expect((await readJson(`/api/v0/job/${id}/events`)).events).toEqual(events)
  expect(workOf(again)).not.toBe(workOf(last))
  expect((await putWork(last)).status).toBe(409)
  expect((await last.deliver()).status).toBe(409)
  await storeWork(again)
  expect((await again.deliver()).status).toBe(200)
  const rest = await startNextAttempt()
  await storeWork(rest)
  expect((await rest.deliver()).status).toBe(200)
  const assembling = await startNextAttempt()
  await storeSegment(assembling)
  expect((await assembling.finish([], { written: [MASTER_PLAYLIST] })).status).toBe(200)
  expect((await readStatus(id)).error).toBeNull()
  await cleanUp(main.job)
  expect((await stored(main.job)).toSorted()).toEqual([segmentOf(assembling), 'hls/master.m3u8'].toSorted())
})

test('an attempt that makes all of a divided job leaves nothing of its parts', async () => {
  const { id, main, parts } = await startDivided()
  const [last, rest] = parts
  await storeWork(last)
  await storeWork(rest)
  await storeSound(last)
  expect((await last.deliver()).status).toBe(200)
  const chunk = await startNextAttempt()
  await storeWork(chunk)
  await rest.deliver()
  await chunk.deliver()
  const whole = await startNextAttempt()
  await storeSegment(whole)
  const finish = { written: [MASTER_PLAYLIST], undivided: true as const }
  expect(await (await whole.finish([], finish)).json()).toEqual({ state: 'completed' })
  expect(await readStatus(id)).toMatchObject({ state: 'ready', error: null, chunks: null })
  await cleanUp(main.job)
  expect((await stored(main.job)).toSorted()).toEqual([segmentOf(whole), 'hls/master.m3u8'].toSorted())
})

test('a cancelled job ends its parts: the slots are free, and nothing is left', async () => {
  const { id, main, parts } = await startDivided()
  const [last, chunk] = parts
  await storeWork(last)
  await storeWork(chunk)
  await storeSound(chunk)
  expect((await last.deliver()).status).toBe(200)
  const rest = await startNextAttempt()
  await storeWork(rest)
  expect((await apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' })).status).toBe(200)
  for (const part of [rest, chunk]) await expect.poll(() => part.heartbeat()).toBe('cancel')
  expect((await chunk.deliver()).status).toBe(409)
  expect((await putWork(chunk)).status).toBe(409)
  expect(await busySlots()).toBe(0)
  expect(await readStatus(id)).toMatchObject({ state: 'cancelled', chunks: { map: 'xcx' } })
  await cleanUp(main.job)
  expect(await stored(main.job)).toEqual([])
})

test('what a request of a part stores after the removal, before it is lost itself, is removed as well', async () => {
  const { id, main } = await startDivided()
  expect((await apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' })).status).toBe(200)
  await runDurableObjectAlarm(jobMonitor(env, main.job))
  await env.BUCKET.put(`work/${main.job}/part-0-1.json`, '{}')
  await cleanUp(main.job)
  expect(await stored(main.job)).toEqual([])
})

test('a part whose start arrives after the removal, before its end was written, leaves nothing', async () => {
  const { main } = await startDivided()
  const [, part] = partIds(main.job) as [string, string]
  // Claimed; its message is on its way.
  await env.DB.batch([
    env.DB.prepare(`UPDATE tasks SET state = 'starting', attempt = 1, slot = 7 WHERE id = ?1`).bind(part),
    env.DB.prepare(`INSERT INTO slots (k, task, attempt, account, free_at) VALUES (7, ?1, 1, 'default', 0)`).bind(part),
  ])
  // The request that cancels the job dies behind its write.
  expect((await transitionTask(env, main.run.task_id, { type: 'cancel' })).ok).toBe(true)
  await runDurableObjectAlarm(jobMonitor(env, main.job))
  const { job, account } = (await findTask(env.DB, part))!
  await taskMonitor(env, part).attemptStarting({ job, jobId: main.job, account, task: part, attempt: 1 }, 30_000)
  const run = { ...main.run, task_id: part, token: await createAttemptToken(env, part, 1) }
  const late = new FakeAttempt(run)
  expect((await late.taskApi('GET', '')).status).toBe(200)
  await storeSound(late)
  await reconcile(env, Infinity)
  await late.alarm()
  expect(await late.heartbeat()).not.toBe('continue')
  expect(await busySlots()).toBe(0)
  await cleanUp(main.job)
  expect(await stored(main.job)).toEqual([])
})

test('a part that fails for good fails its job, and nothing is left', async () => {
  const { id, main, parts } = await startDivided()
  const [last, chunk] = parts
  await storeWork(last)
  await storeSound(chunk)
  expect((await last.fail('encoder_failed', { message: 'Frame 17.' })).status).toBe(200)
  await expect.poll(() => chunk.heartbeat()).not.toBe('continue')
  const status = await readStatus(id)
  expect(status).toMatchObject({
    state: 'error',
    error: { code: 'encoder_failed', message: 'Part 1: Frame 17.', details: { part: 1 } },
  })
  expect((await listPartStates(env.DB, main.run.task_id)).map(({ state }) => state)).toEqual([
    'failed',
    'cancelled',
    'cancelled',
  ])
  expect(await busySlots()).toBe(0)
  await cleanUp(main.job)
  expect(await stored(main.job)).toEqual([])
})

test('objects for the attempt that puts the parts together: of parts, read in ranges, and gone with the job', async () => {
  const { id, main, parts } = await startDivided()
  const [last, rest] = parts
  const nameOf = (attempt: FakeAttempt, file: string) => `/work/${workOf(attempt, file)}`
  const bytes = new Uint8Array([1, 2, 3, 4, 5, 6])
  const name = nameOf(last, 'video_0.1')
  expect((await last.taskApi('PUT', name, bytes)).status).toBe(200)
  expect((await last.taskApi('PUT', name, bytes)).status).toBe(200)
  expect((await rest.taskApi('PUT', name, bytes)).status).toBe(403)
  expect((await main.taskApi('PUT', nameOf(main, 'a'), bytes)).status).toBe(409)
  expect((await last.taskApi('PUT', `${name}/b`, bytes)).status).toBe(400)
  expect((await last.taskApi('PUT', nameOf(last, 'a%2fb'), bytes)).status).toBe(400)
  expect(await stored(main.job)).toEqual([`work/${main.job}/objects${name.slice('/work'.length)}`])

  const whole = await rest.taskApi('GET', name)
  expect([whole.status, whole.headers.get('content-length')]).toEqual([200, '6'])
  expect(new Uint8Array(await whole.arrayBuffer())).toEqual(bytes)
  const part = await rest.taskApi('GET', name, undefined, { range: 'bytes=2-3' })
  expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 2-3/6'])
  expect(new Uint8Array(await part.arrayBuffer())).toEqual(bytes.slice(2, 4))
  expect((await rest.taskApi('GET', name, undefined, { range: 'bytes=6-' })).status).toBe(416)
  expect((await rest.taskApi('GET', nameOf(last, 'b'))).status).toBe(404)

  // A delivered part may repeat its request as long as the job goes on, and the objects stay until its end.
  expect((await last.deliver()).status).toBe(200)
  expect((await rest.taskApi('GET', name)).status).toBe(200)
  const late = rest.taskApi('PUT', nameOf(rest, 'audio_0.1'), bytes)
  const [cancelled] = await Promise.all([apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' }), late])
  expect(cancelled.status).toBe(200)
  expect((await rest.taskApi('PUT', nameOf(rest, 'audio_0.2'), bytes)).status).toBe(409)
  await cleanUp(main.job)
  expect(await stored(main.job)).toEqual([])
})

test('objects of the attempt that divides the job are read by its parts, and gone with the job', async () => {
  const { id, attempt: main } = await startJob(HLS_JOB)
  const name = `/work/${MAIN_TASK}-${main.run.attempt}/subtitles.0`
  expect((await main.taskApi('PUT', name, new Uint8Array([1, 2, 3]))).status).toBe(200)
  expect((await main.taskApi('PUT', `/work/${MAIN_TASK}-2/subtitles.0`, new Uint8Array([1]))).status).toBe(403)
  const subtitles = { name: `${MAIN_TASK}-${main.run.attempt}/subtitles`, bytes: 3, sha256: 'a'.repeat(64) }
  const division = { chunks: [0, 1], subtitles }
  expect((await main.taskApi('POST', '/plan', { ...HLS_PLAN, plan: { ...HLS_PLAN.plan, division } })).status).toBe(200)
  expect((await main.divide(PARTS)).status).toBe(200)
  const part = await startNextAttempt()
  const { plan } = await (await part.taskApi('GET', '')).json<TaskDescription>()
  expect(plan).toMatchObject({ division })
  const read = await part.taskApi('GET', name)
  expect(new Uint8Array(await read.arrayBuffer())).toEqual(new Uint8Array([1, 2, 3]))
  expect((await part.taskApi('PUT', name, new Uint8Array([1]))).status).toBe(403)
  expect((await apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' })).status).toBe(200)
  expect((await main.taskApi('PUT', name, new Uint8Array([1]))).status).toBe(409)
  await cleanUp(main.job)
  expect(await stored(main.job)).toEqual([])
})

const alarmOf = (monitor: DurableObjectStub) => runInDurableObject(monitor, (_, { storage }) => storage.getAlarm())

test('the end of a divided job does not wait for the removal of what its parts stored: the alarm does it', async () => {
  // No alarm rings by itself.
  advanceClock(3600_000)
  const { id, main, parts } = await startDivided()
  for (const part of parts) await storeWork(part)
  const ended = vi.spyOn(JobMonitor.prototype, 'jobEnded')
  expect((await apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' })).status).toBe(200)
  expect(ended).not.toHaveBeenCalled()
  expect(await alarmOf(jobMonitor(env, main.job))).toBeLessThanOrEqual(Date.now())
  await runDurableObjectAlarm(jobMonitor(env, main.job))
  expect(ended).toHaveBeenCalledTimes(parts.length)
})

test('the monitor of a part that was lost once and is stored does not wake up again and again', async () => {
  const { parts } = await startDivided()
  const again = await lose(parts[0])
  await again.deliver()
  await again.alarm()
  expect(await alarmOf(again.monitor)).toBeGreaterThan(Date.now() + 60_000)
})

test('when the monitor of a divided job finds that a part has failed, its next alarm is that of the clean-up', async () => {
  advanceClock(3600_000)
  const { id, main, parts } = await startDivided()
  const error = { code: 'encoder_failed', message: 'x' } as const
  // Whoever wrote this died before it told the main task.
  const { task_id: part, attempt } = parts[0].run
  expect(await transitionTask(env, part, { type: 'attempt_failed', attempt, error })).toMatchObject({ ok: true })
  await runDurableObjectAlarm(jobMonitor(env, main.job))
  expect((await readStatus(id)).error).toMatchObject({ ...error, details: { part: 1 }, message: 'Part 1: x' })
  expect(await alarmOf(jobMonitor(env, main.job))).toBeLessThanOrEqual(Date.now() + 10_000)
})

test('only the main task decides and reports for its job', async () => {
  const { main, parts } = await startDivided()
  const [last] = parts
  for (const [method, path, body] of [
    ['POST', '/plan', HLS_PLAN],
    ['POST', '/source', { source: {} }],
    ['PUT', '/preview', new Uint8Array(3)],
    ['POST', '/divide', { parts: 2 }],
  ] as const)
    expect([path, (await last.taskApi(method, path, body)).status]).toEqual([path, 403])
  expect((await last.finish([], { written: [MASTER_PLAYLIST] })).status).toBe(403)
  expect((await last.putObject(segmentOf(main), 'abc', 'video/mp4')).status).toBe(403)
})

const ofBuild = (build: string) => ({ [BUILD_HEADER]: build })
const engine = { version: '7.0', build: 'a'.repeat(64), features: {} }

/** A job whose parts are made with one build of ffmpeg, and the attempt at its first part, which has not asked for it. */
async function startBuilt(): Promise<{ id: number; first: FakeAttempt; second: FakeAttempt }> {
  const { id, attempt: main } = await startJob(HLS_JOB)
  await main.taskApi('POST', '/plan', { plan: { ...HLS_PLAN.plan, engine }, warnings: [] })
  await main.divide(PARTS)
  const begun = [await transcoders.nextAttempt(), await transcoders.nextAttempt()]
  const [first, second] = begun.toSorted((a, b) => (a.part ?? 0) - (b.part ?? 0))
  return { id, first: first!, second: second! }
}
const ask = async (attempt: FakeAttempt, build: string) =>
  (await attempt.taskApi('GET', '', undefined, ofBuild(build))).status

test('a part is not given to another build of ffmpeg: nothing is lost, and its transcoder gets other work', async () => {
  const { first, second } = await startBuilt()
  expect(await ask(first, engine.build)).toBe(200)
  expect(await ask(second, 'b')).toBe(409)
  expect(await findTask(env.DB, second.run.task_id)).toMatchObject({
    state: 'queued',
    lost: 0,
    evicted: 0,
    starts_failed: 1,
  })
  // Two parts wait, and the slot is free again, but it is not tried with them.
  advanceClock(3000)
  await assignSlots(env)
  expect(await busySlots()).toBe(1)
  const clip = await startJob()
  expect(clip.attempt.part).toBeNull()
  // Its transcoder may have been replaced.
  await clip.attempt.complete()
  const again = await transcoders.nextAttempt()
  expect(again.job).toBe(first.job)
  expect(await ask(again, 'b')).toBe(409)
  await first.deliver()
  const next = await startNextAttempt()
  expect([next.job, next.part === again.part]).toEqual([first.job, false])
})

test('when no transcoder has the build of a divided job for half an hour, the job fails and says so', async () => {
  const { id, first, second } = await startBuilt()
  for (const attempt of [first, second]) expect(await ask(attempt, 'b')).toBe(409)
  for (let minutes = 0; minutes < 32; minutes += 8) {
    expect((await readStatus(id)).job_completed, `after ${minutes} minutes`).toBe(false)
    advanceClock(8 * 60_000)
    await reconcile(env, Infinity)
    for (let n = 0; n < 2; n++) await ask(await transcoders.nextAttempt(), 'b')
  }
  expect((await readStatus(id)).error.code).toBe('build_unavailable')
})

test('each part has a log of its own, which its position in the map finds', async () => {
  const { id, main, parts } = await startDivided()
  const log = (message: string) => ({
    engine: '7.0',
    commands: [],
    lines: [{ time: '2026-11-21T10:00:00.000Z', level: 'info', message }],
  })
  expect((await main.taskApi('PUT', '/log', log('divided'))).status).toBe(200)
  for (const part of parts) expect((await part.taskApi('PUT', '/log', log(`part ${part.part}`))).status).toBe(200)
  const read = (query: string) => apiRequest(`/api/v0/job/${id}/log${query}`)
  const said = async (query: string) => {
    const { attempts } = await readJson(`/api/v0/job/${id}/log${query}`)
    return attempts.flatMap(({ lines }: any) => lines.map(({ message }: any) => message))
  }
  // The last chunk is the first part, behind the other chunk in the map; the rest has not begun.
  expect((await readStatus(id)).chunks.map).toBe('rr.')
  expect(await said('')).toEqual(['divided'])
  expect(await said('?part=0')).toEqual(['part 2'])
  expect(await said('?part=1')).toEqual(['part 0'])
  expect(await said('?part=2')).toEqual([])
  const none = await read('?part=3')
  expect([none.status, (await none.json<any>()).error.message]).toEqual([
    404,
    'There is no part 3: the job has the parts 0 to 2.',
  ])
  for (const query of ['?part=', '?part=-1', '?part=1.5', '?part=a', '?parts=1'])
    expect((await read(query)).status).toBe(400)
  // An attempt that is to come has nothing to say.
  await env.DB.prepare('UPDATE tasks SET attempt = 0 WHERE id = ?1').bind(parts[0].run.task_id).run()
  expect((await parts[0].taskApi('PUT', '/log', log('early'))).status).toBe(409)
})
