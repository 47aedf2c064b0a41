// Repetition and races in the real Worker: messages, posts, idempotency keys; and each bug that the simulation found.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { expect, test, vi } from 'vitest'
import { STEP_TIMEOUT_MS } from '../../support/timeouts.ts'
import { transitionTask } from '../../../worker/scheduler/transitionTask.ts'
import { storeCommitRecord } from '../../../worker/monitor/commitOutputs.ts'
import { consumeQueue } from '../../../worker/scheduler/queueConsumer.ts'
import { assignSlots } from '../../../worker/scheduler/assignSlots.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { jobBody, postJson, createJob } from '../support/apiClient.ts'
import { noProgress } from '../support/fakeTranscoder.ts'
import { LONG_FORM } from '../support/longForm.ts'
import { taskPlan } from '../support/taskPlan.ts'
import { startNextAttempt, readStatus, transcoders, startJob } from '../support/jobFixture.ts'

/** `npm run long repeat` repeats them more often; docs/internals/reliability.md has its results. */
const JOBS = Number(env.REPEAT_JOBS || (LONG_FORM ? 20 : 4))
const KEYS = Number(env.IDEMPOTENCY_KEYS || (LONG_FORM ? 20 : 3))
const TRIES = 50

function deliver(body: { task: string; attempt: number }, times: number): Promise<void> {
  const messages = Array.from({ length: times }, (_, n) => ({
    id: String(n),
    timestamp: new Date(),
    attempts: 1,
    body,
    ack() {},
    retry() {},
  }))
  return consumeQueue({ queue: 'splicepoint-tasks', messages, ackAll() {}, retryAll() {} } as never, env)
}

/** The same request three times at once. */
function threeTimes<T>(ask: () => Promise<T>): Promise<T[]> {
  return Promise.all([ask(), ask(), ask()])
}

test(`each message five times, each post three times, ${JOBS} jobs: as many attempts, as many results (I11)`, async () => {
  const ids: number[] = []
  const seen = new Set<string>()
  for (let n = 0; n < JOBS; n++) {
    ids.push(await createJob())
    let attempt = await transcoders.nextAttempt()
    // Repeated starts of the previous job are skipped.
    while (seen.has(attempt.job)) attempt = await transcoders.nextAttempt()
    seen.add(attempt.job)
    await deliver({ task: attempt.run.task_id, attempt: 1 }, 5)
    for (const answer of await threeTimes(() => attempt.taskApi('GET', ''))) expect(answer.status).toBe(200)
    await threeTimes(() => attempt.taskApi('POST', '/plan', { plan: taskPlan(), warnings: [] }))
    await threeTimes(() => attempt.heartbeat({ transcoded: 0.5 }))
    const object = await attempt.storeObject('film.mp4', new Uint8Array(6))
    const ends = await threeTimes(() => attempt.finish([object]))
    for (const end of ends) expect(end.status).toBe(200)
    await deliver({ task: attempt.run.task_id, attempt: 1 }, 5)
  }
  const rows = await env.DB.prepare(
    `SELECT COUNT(*) AS jobs, SUM(tasks.attempt) AS attempts, SUM(jobs.state = 'completed') AS results
     FROM jobs JOIN tasks ON tasks.job = jobs.id WHERE jobs.id >= ?1`,
  )
    .bind(ids[0])
    .first()
  expect(rows).toEqual({ jobs: JOBS, attempts: JOBS, results: JOBS })
  console.log(`${JOBS} jobs, ${JSON.stringify(rows)}`)
  // A start is repeated only to the same transcoder, which knows it already; none is sent for another attempt.
  expect(new Set(transcoders.runs.map(({ request }) => `${request.task_id} ${request.attempt}`)).size).toBe(JOBS)
  expect((await env.BUCKET.list({ prefix: 'work/' })).objects).toEqual([])
}, 7_200_000)

test(`${KEYS} keys × ${TRIES} concurrent tries: ${KEYS} jobs (I10)`, async () => {
  transcoders.runStatus = () => 503
  const before = await env.DB.prepare('SELECT COUNT(*) AS n FROM jobs').first<number>('n')
  for (let key = 0; key < KEYS; key++) {
    const answers = await Promise.all(
      Array.from({ length: TRIES }, async () => {
        const response = await postJson('/api/v0/job', jobBody(), { headers: { 'idempotency-key': `key-${key}` } })
        expect(response.status).toBe(200)
        return (await response.json<any>())._auto_generated_id_ as number
      }),
    )
    expect(new Set(answers).size).toBe(1)
  }
  const after = await env.DB.prepare('SELECT COUNT(*) AS n FROM jobs').first<number>('n')
  expect(after! - before!).toBe(KEYS)
  console.log(`${KEYS} keys, ${KEYS * TRIES} tries, ${after! - before!} jobs`)
}, 7_200_000)

test('a batch that lost its race does not free the slot of the attempt that runs (I3)', async () => {
  await createJob()
  const attempt = await transcoders.nextAttempt()
  const id = attempt.run.task_id
  const batch = env.DB.batch.bind(env.DB)
  // The answer to the start was lost, and between the read and the write of that result the transcoder asks for its
  // task.
  const raced = vi.spyOn(env.DB, 'batch').mockImplementationOnce(async (statements) => {
    raced.mockRestore()
    expect((await attempt.taskApi('GET', '')).status).toBe(200)
    return batch(statements) as never
  })
  expect(await transitionTask(env, id, { type: 'start_failed', attempt: 1, reason: 'no_answer' })).toMatchObject({
    ok: false,
  })
  const slots = await env.DB.prepare('SELECT task, attempt FROM slots WHERE task IS NOT NULL').all()
  expect(slots.results).toEqual([{ task: id, attempt: 1 }])
})

test('progress that was shown survives the eviction of the monitor (I4)', async () => {
  const { id, attempt } = await startJob()
  await attempt.heartbeat({ transcoded: 0.1 })
  await attempt.heartbeat({ transcoded: 0.6 })
  expect((await readStatus(id)).tcode_progress).toBe('60')
  await runInDurableObject(attempt.monitor, async (_instance, state) => {
    expect(await state.storage.get('mark')).toMatchObject({ transcoded: 0.6 })
  })
})

test('a commit that fails permanently shows the last progress, not zero (I4)', async () => {
  const { id, attempt } = await startJob()
  await attempt.heartbeat({ transcoded: 0.9, bytes_produced: 100, bytes_stored: 90 })
  const before = await readStatus(id)
  const object = await attempt.storeObject('film.mp4', new Uint8Array(6))
  await attempt.finish([{ ...object, size: 7 }])
  const end = await readStatus(id)
  expect(end).toMatchObject({ state: 'error', job_completed: true })
  expect(Number(end.tcode_progress)).toBeGreaterThanOrEqual(Number(before.tcode_progress))
  expect(Number(end.xfer_progress)).toBeGreaterThanOrEqual(Number(before.xfer_progress))
})

test('while a job is ending, no status shows more progress than its final one (I4)', async () => {
  const { id, attempt } = await startJob()
  await attempt.heartbeat({ transcoded: 0.2 })
  const batch = env.DB.batch.bind(env.DB)
  let shown = ''
  const raced = vi.spyOn(env.DB, 'batch').mockImplementationOnce(async (statements) => {
    raced.mockRestore()
    await attempt.heartbeat({ transcoded: 0.8 })
    shown = (await readStatus(id)).tcode_progress
    return batch(statements) as never
  })
  expect((await postJson(`/api/v0/job/${id}/cancel`, {})).status).toBe(200)
  expect([shown, (await readStatus(id)).tcode_progress]).toEqual(['20', '20'])
})

test('a late request of an older attempt does not lower the monitor’s current attempt (I3)', async () => {
  const { attempt: first } = await startJob()
  await first.giveBack()
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000)
  await reconcile(env, Infinity)
  const second = await startNextAttempt()
  const { job: jobId, run } = first
  await first.monitor.attemptRunning({ job: 0, jobId, account: 'default', task: run.task_id, attempt: 1 })
  expect(await second.heartbeat()).toBe('continue')
  expect(await first.heartbeat()).toBe('stop')
})

test('a request for the task that arrives after the end does not bring the job back to life (I8)', async () => {
  const { id, attempt } = await startJob()
  await postJson(`/api/v0/job/${id}/cancel`, {})
  const { job: jobId, run } = attempt
  // As after an eviction: the memory is empty.
  await runInDurableObject(attempt.monitor, (instance) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- private at compile time only
    Object.assign((instance as unknown as { currentAttempt: object }).currentAttempt, {
      state: null,
      finalReply: null,
    }),
  )
  await attempt.monitor.attemptRunning({ job: 0, jobId, account: 'default', task: run.task_id, attempt: 1 })
  expect(await attempt.monitor.attemptState(1)).toBe('stale')
})

test('a task that waits for its next attempt is still monitored: its end is not missed (I8)', async () => {
  const { attempt } = await startJob()
  await attempt.storeObject('film.mp4', new Uint8Array(6))
  await attempt.giveBack()
  transcoders.runStatus = () => 503
  await env.DB.prepare('UPDATE tasks SET not_before = 0').run()
  // There is no free slot, so the alarm changes nothing; then a Worker ends the job and crashes before it tells the
  // monitor.
  await env.DB.prepare(`INSERT INTO slots (k, free_at) VALUES (0, 9e15), (1, 9e15)`).run()
  await attempt.alarm()
  expect(await transitionTask(env, attempt.run.task_id, { type: 'cancel' })).toMatchObject({ ok: true })
  expect(await attempt.alarm()).toBe(true)
  await runInDurableObject(attempt.monitor, async (_instance, state) => {
    expect((await state.storage.list({ prefix: 'upload/' })).size).toBe(0)
  })
})

test('a commit record of a request that died is removed at the end (I8)', async () => {
  const { id, attempt } = await startJob()
  await storeCommitRecord(env, attempt.job, 1, { objects: [], written: [], warnings: [], progress: noProgress })
  await postJson(`/api/v0/job/${id}/cancel`, {})
  expect((await env.BUCKET.list({ prefix: `work/${attempt.job}/` })).objects).toEqual([])
  await assignSlots(env)
})

test('of two finish posts at once, the later one leaves no record behind the end, also where it dies there (I8)', async () => {
  const { id, attempt } = await startJob()
  const object = await attempt.storeObject('film.mp4', new Uint8Array(6))
  const answered = { done: false }
  const ended = async () => {
    await vi.waitUntil(async () => (await readStatus(id)).job_completed === true, {
      timeout: STEP_TIMEOUT_MS,
      interval: 5,
    })
    // After the end the monitor cleans up; it must not finish before this record is stored.
    for (let n = 0; n < 50 && !answered.done; n++) await readStatus(id)
  }
  const prototype = Object.getPrototypeOf(env.BUCKET) as R2Bucket
  // oxlint-disable-next-line typescript/unbound-method -- called with the bucket of the caller below
  const put = prototype.put
  let records = 0
  vi.spyOn(prototype, 'put').mockImplementation(async function (this: R2Bucket, ...[key, ...rest]: any[]) {
    const second = key === `work/${attempt.job}/commit-1.json` && ++records === 2
    if (second) await ended()
    const stored = await put.call(this, key as never, ...(rest as [never]))
    if (second) throw new Error('the request did not live to hear of it')
    return stored
  } as never)
  const finish = () => attempt.finish([object])
  const first = finish()
  const second = finish()
  await first.then(() => (answered.done = true))
  await second
  expect(records).toBe(2)
  expect((await readStatus(id)).error).toBeNull()
  expect((await env.BUCKET.list({ prefix: `work/${attempt.job}/` })).objects).toEqual([])
})
