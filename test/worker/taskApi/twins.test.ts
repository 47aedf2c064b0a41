// Twins in the real Worker, with stand-in transcoders: when the slowest chunk of a divided job is begun a second time, which
// of both counts, and what is left of the other one.
import { env } from 'cloudflare:workers'
import { runDurableObjectAlarm } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { MAIN_TASK, partTaskNumber, taskIdOf, TWIN_ATTEMPT, twinOf } from '#contract/taskId.ts'
import { listUsage } from '../../../worker/db/usage.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { jobMonitor, taskMonitor } from '../../../worker/scheduler/applyEvent.ts'
import { startTwin } from '../../../worker/scheduler/startTwin.ts'
import { monthOf } from '../../../worker/usage/month.ts'
import { apiRequest, readJson } from '../support/apiClient.ts'
import { MASTER_PLAYLIST, startDividedJob } from '../support/dividedFixture.ts'
import type { FakeAttempt } from '../support/fakeTranscoder.ts'
import { advanceClock, readStatus, startNextAttempt } from '../support/jobFixture.ts'

const PARTS = 6
const FAST_MS = 20_000
/** In the order of the video: the slow one is the first chunk. */
const SLOW = 2

interface Slow {
  id: number
  main: FakeAttempt
  slow: FakeAttempt
  others: FakeAttempt[]
}

const segmentOf = (attempt: FakeAttempt) => `hls/video_0/${attempt.attemptDirectory}/00001.m4s`

async function store(attempt: FakeAttempt): Promise<void> {
  expect((await attempt.putObject(segmentOf(attempt), 'abc', 'video/mp4')).status).toBe(200)
}

/** All parts but one are stored, and its transcoder has done little of it. */
async function startSlow(): Promise<Slow> {
  const { id, main, parts } = await startDividedJob(PARTS)
  let [fast, slow] = parts
  expect(slow.part).toBe(SLOW)
  const others: FakeAttempt[] = []
  for (;;) {
    await store(fast)
    others.push(fast)
    advanceClock(FAST_MS)
    // It looks for a second task each time, and finds that parts wait.
    expect(await slow.heartbeat({ transcoded: 0.01 * others.length })).toBe('continue')
    expect((await fast.deliver({ of: fast.part })).status).toBe(200)
    if (others.length === PARTS - 1) return { id, main, slow, others }
    fast = await startNextAttempt()
  }
}

/** A report of the slow one, and the second task that follows from it. */
async function startBoth(): Promise<Slow & { twin: FakeAttempt }> {
  const job = await startSlow()
  advanceClock(FAST_MS)
  await job.slow.heartbeat({ transcoded: 0.06 })
  const twin = await startNextAttempt()
  expect(twin.run).toMatchObject({ task_id: twinOf(job.slow.run.task_id), attempt: TWIN_ATTEMPT })
  return { ...job, twin }
}

const rowsOf = async ({ run }: FakeAttempt) =>
  (
    await env.DB.prepare(`SELECT id, state FROM tasks WHERE id IN (?1, ?2) ORDER BY twin`)
      .bind(run.task_id, twinOf(run.task_id))
      .all<{ state: string }>()
  ).results.map(({ state }) => state)
const busySlots = () => env.DB.prepare('SELECT COUNT(*) AS n FROM slots WHERE task IS NOT NULL').first('n')

/** In the usage of the account so far. */
async function cpuSeconds(usageClass?: string): Promise<number> {
  const rows = await listUsage(env.DB, 'default', monthOf(Date.now()))
  const counted = rows.filter((row) => row.item === 'cpu_hours' && row.class === (usageClass ?? row.class))
  return counted.reduce((sum, { quantity }) => sum + quantity, 0) / 1000
}

async function segmentsLeft(job: string): Promise<string[]> {
  const { objects } = await env.BUCKET.list({ prefix: `out/default/${job}/hls/video_0/` })
  return objects.map(({ key }) => key.slice(`out/default/${job}/`.length)).toSorted()
}

/** The job ends, and its monitors remove what is left. */
async function assemble({ main }: Slow, winner: FakeAttempt): Promise<void> {
  const assembling = await startNextAttempt()
  expect(assembling.run).toMatchObject({ task_id: main.run.task_id, attempt: 2 })
  const record = await (await assembling.taskApi('GET', `/parts/${SLOW}`)).json()
  expect(record).toEqual({ by: winner.run.attempt })
  const file = await assembling.storeObject(`hls/video_0/${assembling.attemptDirectory}/00009.m4s`, new Uint8Array(6))
  expect((await assembling.finish([file], { written: [MASTER_PLAYLIST] })).status).toBe(200)
  await cleanUp(main.job)
}

async function cleanUp(job: string): Promise<void> {
  const parts = Array.from({ length: PARTS }, (_, index) => taskIdOf(job, partTaskNumber(index)))
  const tasks = [...parts, twinOf(parts[SLOW]!)]
  for (let round = 0; round < 4; round++) {
    advanceClock(5 * 60_000)
    await runDurableObjectAlarm(jobMonitor(env, job))
    for (const task of tasks) await runDurableObjectAlarm(taskMonitor(env, task))
  }
  for (const task of tasks) expect(await taskMonitor(env, task).isCleanedUp()).toBe(true)
  expect(await jobMonitor(env, job).isCleanedUp()).toBe(true)
}

test('the second task at the slowest chunk stores it first: the first one is ended, and what it stored is removed', async () => {
  const job = await startBoth()
  const { id, slow, twin, others } = job
  await store(slow)
  await store(twin)
  expect(segmentOf(twin)).not.toBe(segmentOf(slow))
  expect((await readStatus(id)).chunks).toEqual({ total: PARTS, completed: PARTS - 1, running: 1, map: 'rccccc' })
  // Its progress is that of the further one.
  expect(await twin.heartbeat({ transcoded: 0.9 })).toBe('continue')
  const percent = async () => Number((await readStatus(id)).tcode_progress)
  await expect.poll(percent).toBeGreaterThan(90)
  expect((await twin.deliver({ by: TWIN_ATTEMPT })).status).toBe(200)
  expect(await rowsOf(slow)).toEqual(['cancelled', 'completed'])
  expect(await slow.heartbeat({ transcoded: 0.1 })).toBe('cancel')
  expect((await slow.putObject(segmentOf(slow), 'late', 'video/mp4')).status).toBe(409)
  expect((await slow.deliver({ by: 1 })).status).toBe(409)
  expect((await readStatus(id)).chunks.map).toBe('cccccc')

  await assemble(job, twin)
  expect(await readStatus(id)).toMatchObject({ state: 'ready', error: null })
  expect(await segmentsLeft(slow.job)).toEqual(
    expect.arrayContaining([...others.filter(({ part }) => part !== 1), twin].map(segmentOf)),
  )
  expect(await segmentsLeft(slow.job)).not.toContain(segmentOf(slow))
})

test('the first task stores it after all: the second one is ended, also where the request that should do it died', async () => {
  const job = await startBoth()
  const { id, slow, twin } = job
  await store(twin)
  await store(slow)
  expect((await slow.deliver({ by: 1 })).status).toBe(200)
  expect(await rowsOf(slow)).toEqual(['completed', 'cancelled'])
  // As if it had died before.
  await env.DB.prepare(`UPDATE tasks SET state = 'running' WHERE id = ?1`).bind(twin.run.task_id).run()
  await reconcile(env)
  expect(await rowsOf(slow)).toEqual(['completed', 'cancelled'])
  expect(await twin.heartbeat()).toBe('cancel')
  await assemble(job, slow)
  expect(await readStatus(id)).toMatchObject({ state: 'ready', error: null })
  expect(await segmentsLeft(slow.job)).not.toContain(segmentOf(twin))
})

test('of two deliveries at the same time, one counts', async () => {
  const { slow, twin } = await startBoth()
  const answers = await Promise.all([slow.deliver({ by: 1 }), twin.deliver({ by: TWIN_ATTEMPT })])
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  expect((await rowsOf(slow)).toSorted()).toEqual(['cancelled', 'completed'])
  const { objects } = await env.BUCKET.list({ prefix: `work/${slow.job}/part-${SLOW}-` })
  expect(objects).toHaveLength(1)
})

test.each(['source_not_media', 'source_unreachable'])(
  'a twin that fails (%s) ends nothing but itself, and is not repeated',
  async (code) => {
    const job = await startBoth()
    const { id, slow, twin } = job
    const [lost, all] = [await cpuSeconds('lost attempts'), await cpuSeconds()]
    const failure = { reason: 'failed', error: { code, message: 'x' }, cpu_seconds: 3 }
    expect((await twin.taskApi('POST', '/fail', failure)).status).toBe(200)
    // It made nothing of the job, whatever the reason.
    expect((await cpuSeconds('lost attempts')) - lost).toBe(3)
    expect((await cpuSeconds()) - all).toBe(3)
    expect(await rowsOf(slow)).toEqual(['running', 'cancelled'])
    expect(await busySlots()).toBe(1)
    advanceClock(FAST_MS)
    expect(await slow.heartbeat({ transcoded: 0.07 })).toBe('continue')
    await startTwin(env, taskIdOf(slow.job, MAIN_TASK), new Map([[slow.run.task_id, 0.07]]))
    expect(await busySlots()).toBe(1)
    expect((await slow.deliver({ by: 1 })).status).toBe(200)
    await assemble(job, slow)
    expect(await readStatus(id)).toMatchObject({ state: 'ready', error: null })
  },
)

test('a first task that is lost waits, and does not start again once the second has stored the chunk', async () => {
  const job = await startBoth()
  const { slow, twin } = job
  advanceClock(25_000)
  await twin.heartbeat({ transcoded: 0.5 })
  advanceClock(25_000)
  await twin.heartbeat({ transcoded: 0.7 })
  await slow.alarm()
  expect(await rowsOf(slow)).toEqual(['queued', 'running'])
  expect((await readStatus(job.id)).chunks.map).toBe('rccccc')
  expect((await twin.deliver({ by: TWIN_ATTEMPT })).status).toBe(200)
  expect(await rowsOf(slow)).toEqual(['cancelled', 'completed'])
  await assemble(job, twin)
  expect(await segmentsLeft(slow.job)).not.toContain(segmentOf(slow))
})

test('a first task that fails for good fails the job, and ends the second', async () => {
  const { id, slow, twin } = await startBoth()
  expect((await slow.fail('source_not_media')).status).toBe(200)
  expect(await readStatus(id)).toMatchObject({ state: 'error', error: { code: 'source_not_media' } })
  expect(await rowsOf(slow)).toEqual(['failed', 'cancelled'])
  expect(await busySlots()).toBe(0)
  await cleanUp(slow.job)
  expect((await env.BUCKET.list({ prefix: `work/${slow.job}/` })).objects).toEqual([])
  expect(await segmentsLeft(twin.job)).toEqual([])
})

test('a job that is cancelled ends both', async () => {
  const { id, slow } = await startBoth()
  expect((await apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' })).status).toBe(200)
  expect(await rowsOf(slow)).toEqual(['cancelled', 'cancelled'])
  expect(await busySlots()).toBe(0)
  await cleanUp(slow.job)
  expect(await segmentsLeft(slow.job)).toEqual([])
})

test('the log of the chunk has the attempts of both, and the one that came second is counted apart', async () => {
  const { id, slow, twin } = await startBoth()
  const log = (line: string) => ({
    engine: null,
    commands: [],
    lines: [{ time: new Date().toISOString(), level: 'info', message: line }],
  })
  expect((await twin.taskApi('PUT', '/log', log('fast'))).status).toBe(200)
  expect((await slow.taskApi('PUT', '/log', log('slow'))).status).toBe(200)
  const { attempts } = await readJson(`/api/v0/job/${id}/log?part=0`)
  expect(attempts.map(({ attempt, lines }: any) => [attempt, lines[0].message])).toEqual([
    [1, 'slow'],
    [TWIN_ATTEMPT, 'fast'],
  ])
  await slow.heartbeat({ transcoded: 0.1, cpu_seconds: 7 })
  const before = await cpuSeconds('lost attempts')
  await twin.deliver({ by: TWIN_ATTEMPT })
  expect((await cpuSeconds('lost attempts')) - before).toBe(7)
})

test('no twin while another task waits, where its account has no room, or for what is not slow', async () => {
  const { slow } = await startSlow()
  advanceClock(FAST_MS)
  const main = taskIdOf(slow.job, MAIN_TASK)
  const begin = async (share = 0.06) => {
    await startTwin(env, main, new Map([[slow.run.task_id, share]]))
    return (await rowsOf(slow)).length
  }
  // Another job begins again in a minute.
  await env.DB.prepare(
    `INSERT INTO tasks (id, job, account, kind, state, not_before, updated_at)
       SELECT 'waiting-0', job, 'other', 'transcode', 'queued', 8e15, 0 FROM tasks WHERE id = ?1`,
  )
    .bind(main)
    .run()
  expect(await begin()).toBe(1)
  await env.DB.prepare(`DELETE FROM tasks WHERE id = 'waiting-0'`).run()
  await env.DB.prepare(`INSERT INTO accounts (account, max_running) VALUES ('default', 1)`).run()
  expect(await begin()).toBe(1)
  await env.DB.prepare(`DELETE FROM accounts`).run()
  // What is left of it takes less time than a chunk.
  expect(await begin(0.95)).toBe(1)
  // Nothing is heard of it.
  await startTwin(env, main, new Map())
  expect(await rowsOf(slow)).toHaveLength(1)
  expect(await Promise.all([begin(), begin()])).toEqual([2, 2])
  expect(await busySlots()).toBe(2)
})
