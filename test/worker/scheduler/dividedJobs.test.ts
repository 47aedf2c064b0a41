// The parts of a divided job in the ledger: which rows there are, which may start, and how they end with their job.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TaskEvent } from '#contract/task/lifecycle.ts'
import { insertJob, insertTask, listOverdueJobs } from '../../../worker/db/jobs.ts'
import { readGauges } from '../../../worker/db/metrics.ts'
import { findTask, findTimeline, listWaitingTasks, savePlan } from '../../../worker/db/tasks.ts'
import { listUsage } from '../../../worker/db/usage.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { applyEvent } from '../../../worker/scheduler/applyEvent.ts'
import { transitionTask, type TransitionOptions } from '../../../worker/scheduler/transitionTask.ts'
import { jobOfAttempt } from '../../../worker/taskApi/jobOfAttempt.ts'
import { monthOf } from '../../../worker/usage/month.ts'
import { ADMIN_KEY, apiRequest } from '../support/apiClient.ts'
import { newJobRow } from '../support/newJobRow.ts'
import { FakeTranscoders } from '../support/fakeTranscoder.ts'

let transcoders: FakeTranscoders

beforeEach(async () => {
  transcoders = new FakeTranscoders()
  await env.DB.batch([
    ...['slots', 'jobs', 'accounts', 'usage', 'metric_totals'].map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
    // The slots of the service are taken, so that only these tests start tasks.
    ...[0, 1].map((k) => env.DB.prepare(`INSERT INTO slots (k, free_at) VALUES (?1, 8e15)`).bind(k)),
  ])
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

let made = 0
interface Added {
  jobId: string
  main: string
}

async function add(account = 'a', now = Date.now()): Promise<Added> {
  const jobId = `film-${made++}`
  const row = newJobRow(jobId, { account, now, webhook: 'key' })
  await env.DB.batch([insertJob(env.DB, row, null), insertTask(env.DB, row, `${jobId}-0`, 'transcode')])
  return { jobId, main: `${jobId}-0` }
}

let nextSlot = 100
/** A transcoder takes the task and asks for it. @returns its attempt */
async function start(task: string): Promise<number> {
  const claimed = await transitionTask(env, task, { type: 'claim' }, { slot: nextSlot++ })
  if (!claimed.ok) throw new Error(`${task}: ${claimed.refusal}`)
  const { attempt } = claimed.next
  expect((await transitionTask(env, task, { type: 'started', attempt })).ok).toBe(true)
  return attempt
}

const apply = (task: string, event: TaskEvent, options: TransitionOptions = {}) =>
  applyEvent(env, { id: task, jobId: task.slice(0, task.lastIndexOf('-')) }, event, options)

async function divide(parts: number, account?: string, now?: number): Promise<Added> {
  const job = await add(account, now)
  const attempt = await start(job.main)
  expect((await apply(job.main, { type: 'divide', attempt, parts })).ok).toBe(true)
  return job
}

const part = (job: Added, index: number): string => `${job.jobId}-${index + 1}`

async function deliver(job: Added, index: number, options?: TransitionOptions): Promise<void> {
  const attempt = await start(part(job, index))
  expect((await apply(part(job, index), { type: 'delivered', attempt }, options)).ok).toBe(true)
}

const stateOf = async (task: string) => (await findTask(env.DB, task))?.state
async function statesOf(job: Added): Promise<string[]> {
  const { results } = await env.DB.prepare(`SELECT state FROM tasks WHERE main = ?1 ORDER BY part`)
    .bind(job.main)
    .all<{ state: string }>()
  return results.map(({ state }) => state)
}
const rowOf = (job: Added) =>
  env.DB.prepare(`SELECT state, error, started_at, finished_at FROM jobs WHERE job_id = ?1`)
    .bind(job.jobId)
    .first<{ state: string; error: string | null; started_at: number | null; finished_at: number | null }>()
async function busySlots(): Promise<string[]> {
  const { results } = await env.DB.prepare(`SELECT task FROM slots WHERE task IS NOT NULL ORDER BY task`).all<{
    task: string
  }>()
  return results.map(({ task }) => task)
}
const waiting = async (now = Date.now() + 1e6) => (await listWaitingTasks(env.DB, now, 100)).map(({ id }) => id)
const permanent = { code: 'source_not_media', message: 'damaged here' } as const

test('a division adds its parts once, frees its slot, and the job goes on', async () => {
  const job = await divide(3)
  expect(await statesOf(job)).toEqual(['queued', 'queued', 'queued'])
  // The rest needs the last chunk.
  expect(await waiting()).toEqual([part(job, 0), part(job, 2)])
  expect(await findTask(env.DB, part(job, 2))).toMatchObject({ kind: 'part', main: job.main, part: 2, parts: 0 })
  expect(await findTask(env.DB, job.main)).toMatchObject({ state: 'divided', parts: 3, slot: null })
  expect(await busySlots()).toEqual([])
  expect((await rowOf(job))?.state).toBe('running')
  // The transcoder did not hear the answer.
  expect(await apply(job.main, { type: 'divide', attempt: 1, parts: 3 })).toMatchObject({ refusal: 'same' })
  expect(await apply(job.main, { type: 'divide', attempt: 1, parts: 9 })).toMatchObject({ refusal: 'impossible' })
  expect(await statesOf(job)).toHaveLength(3)
})

test('of two requests that divide a job, one adds parts', async () => {
  const job = await add()
  const attempt = await start(job.main)
  const results = await Promise.all([3, 5].map((parts) => apply(job.main, { type: 'divide', attempt, parts })))
  expect(results.filter(({ ok }) => ok)).toHaveLength(1)
  const task = await findTask(env.DB, job.main)
  expect(await statesOf(job)).toHaveLength(task!.parts)
})

test('when the last part is stored, the main task waits again, once; its attempt puts the parts together', async () => {
  const job = await divide(3)
  await deliver(job, 0)
  expect(await stateOf(job.main)).toBe('divided')
  const attempts = [await start(part(job, 1)), await start(part(job, 2))]
  // Both report at the same time.
  const results = await Promise.all([
    apply(part(job, 1), { type: 'delivered', attempt: attempts[0]! }),
    apply(part(job, 2), { type: 'delivered', attempt: attempts[1]! }),
    apply(part(job, 2), { type: 'delivered', attempt: attempts[1]! }),
  ])
  expect(results.filter(({ ok }) => ok)).toHaveLength(2)
  expect(await stateOf(job.main)).toBe('queued')
  expect(await waiting()).toEqual([job.main])
  expect((await rowOf(job))?.state).toBe('running')
  const attempt = await start(job.main)
  expect(attempt).toBe(2)
  expect((await apply(job.main, { type: 'finish', attempt })).ok).toBe(true)
  expect((await apply(job.main, { type: 'committed', attempt })).ok).toBe(true)
  expect(await rowOf(job)).toMatchObject({ state: 'completed' })
  const { timeline } = (await findTimeline(env.DB, job.jobId))!
  expect(timeline.map(({ type }) => type)).toEqual([
    'job.created',
    'attempt.started',
    'job.divided',
    'job.assembling',
    'attempt.started',
    'job.committing',
    'job.completed',
  ])
})

test('a lost part starts again, by itself', async () => {
  const job = await divide(2)
  await deliver(job, 0)
  const attempt = await start(part(job, 1))
  await apply(part(job, 1), { type: 'lost', attempt, ranMs: 1, share: 0 })
  expect(await statesOf(job)).toEqual(['completed', 'queued'])
  expect(await stateOf(job.main)).toBe('divided')
  await deliver(job, 1)
  expect(await apply(part(job, 1), { type: 'delivered', attempt })).toMatchObject({ refusal: 'stale' })
  expect(await stateOf(job.main)).toBe('queued')
})

test('a part that fails for good fails its job with its error, and the others end', async () => {
  const job = await divide(4)
  await deliver(job, 0)
  const [failing] = [await start(part(job, 1)), await start(part(job, 2))]
  await apply(part(job, 1), { type: 'attempt_failed', attempt: failing, error: permanent })
  expect(await statesOf(job)).toEqual(['completed', 'failed', 'cancelled', 'cancelled'])
  const row = await rowOf(job)
  expect(row).toMatchObject({ state: 'failed' })
  expect(JSON.parse(row!.error!)).toEqual({ ...permanent, message: 'Part 3: damaged here', details: { part: 3 } })
  expect(await busySlots()).toEqual([])
  expect(await waiting()).toEqual([])
  const { results } = await env.DB.prepare(`SELECT event FROM webhooks`).all()
  expect(results).toHaveLength(1)
})

test.each([
  [{ type: 'cancel' }, 'cancelled'],
  [{ type: 'deadline' }, 'failed'],
] as const)('%o ends every part, frees the slots and stops the transcoders', async (event, state) => {
  const job = await divide(4)
  await deliver(job, 0)
  const attempt = await start(part(job, 1))
  await start(part(job, 2))
  expect((await apply(job.main, event)).ok).toBe(true)
  expect((await rowOf(job))?.state).toBe(state)
  expect(await statesOf(job)).toEqual(['completed', 'cancelled', 'cancelled', 'cancelled'])
  expect(await busySlots()).toEqual([])
  expect(await apply(part(job, 1), { type: 'delivered', attempt })).toMatchObject({ refusal: 'terminal' })
  expect(await transitionTask(env, part(job, 3), { type: 'claim' }, { slot: 300 })).toMatchObject({ ok: false })
})

test('what a request that died left undone, the reconciler does', async () => {
  const done = await divide(2)
  await deliver(done, 0)
  const last = await start(part(done, 1))
  // Without its side effects.
  await transitionTask(env, part(done, 1), { type: 'delivered', attempt: last })
  const failed = await divide(2)
  const error = permanent
  await transitionTask(env, part(failed, 0), { type: 'attempt_failed', attempt: await start(part(failed, 0)), error })
  const cancelled = await divide(3)
  const given = await start(part(cancelled, 0))
  await start(part(cancelled, 2))
  await transitionTask(env, cancelled.main, { type: 'cancel' })
  // The waiting part ended with its main task.
  expect(await statesOf(cancelled)).toEqual(['running', 'cancelled', 'running'])
  await transitionTask(env, part(cancelled, 0), { type: 'evicted', attempt: given })
  expect(await statesOf(cancelled)).toEqual(['queued', 'cancelled', 'running'])
  expect(await waiting()).toEqual([])
  await expect(start(part(cancelled, 0))).rejects.toThrow('impossible')

  await reconcile(env, Infinity)
  expect(await stateOf(done.main)).toBe('queued')
  expect(await rowOf(failed)).toMatchObject({ state: 'failed', error: expect.stringContaining(error.code) })
  expect(await statesOf(failed)).toEqual(['failed', 'cancelled'])
  expect(await statesOf(cancelled)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  expect(await busySlots()).toEqual([])
})

test('of one account, the job with the fewest unfinished parts comes first, and its parts in order', async () => {
  const clip = await add()
  const film = await divide(3)
  const short = await divide(2)
  expect(await waiting()).toEqual([part(short, 0), part(film, 0), part(film, 2), clip.main])
  for (const index of [0, 2]) await deliver(film, index)
  expect(await waiting()).toEqual([part(film, 1), part(short, 0), clip.main])
  await deliver(film, 1)
  // Putting together takes seconds, and ends the job.
  expect(await waiting()).toEqual([film.main, part(short, 0), clip.main])
})

test('the rest starts once the last chunk is stored, and a lost part before those behind it', async () => {
  let now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => (now += 1000))
  const film = await divide(4)
  const attempt = await start(part(film, 0))
  await expect(start(part(film, 1))).rejects.toThrow('impossible')
  await apply(part(film, 0), { type: 'lost', attempt, ranMs: 1, share: 0 })
  expect(await waiting()).toEqual([part(film, 0), part(film, 2), part(film, 3)])
  await deliver(film, 0)
  expect(await waiting()).toEqual([part(film, 1), part(film, 2), part(film, 3)])
})

test('with one slot, an account with a divided job takes turns with another one', async () => {
  let now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => (now += 1000))
  const film = await divide(3, 'films')
  for (let n = 0; n < 3; n++) await add('clips')
  const served: string[] = []
  for (let n = 0; n < 6; n++) {
    const [task] = await listWaitingTasks(env.DB, now, 1)
    served.push(task!.account)
    const attempt = await start(task!.id)
    await apply(task!.id, { type: task!.kind === 'part' ? 'delivered' : 'finish', attempt })
  }
  expect(served).toEqual(['clips', 'films', 'clips', 'films', 'clips', 'films'])
  expect(await stateOf(film.main)).toBe('queued')
})

test('clients and operators see one job, however many parts it has', async () => {
  const now = Date.now()
  const job = await divide(3, 'a', now - 50_000)
  expect(await listOverdueJobs(env.DB, now + 2e9, 10)).toEqual([{ task: job.main }])
  expect((await readGauges(env.DB, now)).active).toEqual([{ state: 'running', n: 1 }])
  const clip = await add('a', now)
  expect((await findTimeline(env.DB, job.jobId))?.timeline.at(-1)).toMatchObject({ type: 'job.divided', parts: 3 })
  const attempt = await start(part(job, 0))
  expect(await savePlan(env.DB, part(job, 0), attempt, '{}', false, now)).toBeNull()
  expect(await savePlan(env.DB, clip.main, await start(clip.main), '{}', false, now)).not.toBeNull()
})

test('the current attempt of a part reads the source, whichever number it has, until the part or the job ends', async () => {
  const job = await divide(2)
  const of = (task: string, attempt: number) => jobOfAttempt(env, { jobId: job.jobId, task, attempt })
  const task = part(job, 0)
  const lost = await start(task)
  expect(await of(task, lost)).toMatchObject({ job_id: job.jobId })
  await apply(task, { type: 'lost', attempt: lost, ranMs: 1, share: 0 })
  const attempt = await start(task)
  expect(await of(task, attempt)).toMatchObject({ job_id: job.jobId })
  const other = await divide(2)
  await start(part(other, 0))
  const refusals = async () =>
    Promise.all(
      [of(task, lost), of(part(job, 7), 1), of(part(other, 0), 1)].map((asked) => asked.then(() => null, String)),
    )
  expect(await refusals()).not.toContain(null)
  await apply(task, { type: 'delivered', attempt })
  await expect(of(task, attempt)).rejects.toMatchObject({ code: 'stale_attempt' })
  const second = await start(part(job, 1))
  await apply(job.main, { type: 'cancel' })
  await expect(of(part(job, 1), second)).rejects.toMatchObject({ code: 'stale_attempt' })
})

test('metrics have the tasks that could start, by kind, how long they could, and the work that was predicted', async () => {
  const now = Date.now()
  const waits = async () => (await readGauges(env.DB, Date.now() + 1000)).waiting
  const job = await add('a', now - 60_000)
  expect(await waits()).toEqual([{ kind: 'job', n: 1, since: now - 60_000, seconds: null }])
  const first = await start(job.main)
  const plan = { division: { seconds: 90, samplingSeconds: 40 } }
  await savePlan(env.DB, job.main, first, JSON.stringify(plan), false, now)
  await apply(job.main, { type: 'divide', attempt: first, parts: 2, survey: true })
  const dividedAt = async () => (await findTask(env.DB, job.main))!.updated_at
  expect(await waits()).toEqual([{ kind: 'survey', n: 2, since: await dividedAt(), seconds: 40 }])
  await deliver(job, 0)
  await deliver(job, 1)
  expect(await waits()).toEqual([{ kind: 'assembly', n: 1, since: await dividedAt(), seconds: null }])
  await apply(job.main, { type: 'divide', attempt: await start(job.main), parts: 5 })
  // The rest cannot start yet.
  expect(await waits()).toEqual([{ kind: 'part', n: 2, since: await dividedAt(), seconds: 60 }])
  const text = await (await apiRequest('/metrics', { key: ADMIN_KEY })).text()
  for (const line of ['tasks_waiting{kind="part"} 2', 'tasks_waiting{kind="job"} 0', 'work_waiting_seconds 60'])
    expect(text).toContain(`splicepoint_${line}\n`)
  // What an account may not run cannot start: a further transcoder would have nothing to do.
  await env.DB.prepare(`INSERT INTO accounts (account, max_running) VALUES ('a', 1)`).run()
  expect(await waits()).toMatchObject([{ kind: 'part', n: 1, seconds: 30 }])
  await start(part(job, 2))
  expect(await waits()).toEqual([])
})

test('what every attempt used is counted; the job once', async () => {
  const job = await add('payer')
  const used = { cpuSeconds: 1, bytesRead: 10 }
  await apply(job.main, { type: 'divide', attempt: await start(job.main), parts: 2 }, used)
  await apply(part(job, 0), { type: 'lost', attempt: await start(part(job, 0)), ranMs: 1, share: 0 }, used)
  await deliver(job, 0, used)
  await deliver(job, 1, used)
  const attempt = await start(job.main)
  await apply(job.main, { type: 'finish', attempt })
  await apply(job.main, { type: 'committed', attempt }, used)
  const rows = await listUsage(env.DB, 'payer', monthOf(Date.now()))
  expect(Object.fromEntries(rows.map((row) => [`${row.item} ${row.class}`.trim(), row.quantity]))).toEqual({
    cpu_hours: 4000,
    'cpu_hours lost attempts': 1000,
    gb_in: 40,
    'gb_in lost attempts': 10,
    'jobs completed': 1,
  })
  const lines = (await (await apiRequest('/metrics', { key: ADMIN_KEY })).text()).split('\n')
  const counted = lines
    .filter((line) => /^splicepoint_(jobs_ended|attempts_(started|lost)|job_\w+_count)/.test(line))
    .map((line) => line.slice('splicepoint_'.length).split(/ (?=\d+$)/))
    .filter(([, value]) => value !== '0')
  expect(Object.fromEntries(counted.map(([name, value]) => [name, Number(value)]))).toEqual({
    'attempts_started_total{kind="transcode"}': 2,
    'attempts_started_total{kind="part"}': 3,
    'attempts_lost_total{cause="transcoder_lost"}': 1,
    'jobs_ended_total{kind="transcode",state="completed",code=""}': 1,
    'job_queue_seconds_count{kind="transcode"}': 2,
    'job_duration_seconds_count{kind="transcode",state="completed"}': 1,
    'job_phase_seconds_count{phase="start"}': 5,
    'job_phase_seconds_count{phase="encoding"}': 1,
    'job_phase_seconds_count{phase="upload"}': 1,
    'job_phase_seconds_count{phase="commit"}': 1,
  })
  expect(transcoders.runs).toEqual([])
})

test('whichever of a cancellation and another event is first, no part stays behind', async () => {
  const happened = new Set<string>()
  for (const [name, race] of [
    ['divide', (job: Added) => apply(job.main, { type: 'divide', attempt: 1, parts: 3 })],
    ['claim', (job: Added) => transitionTask(env, part(job, 0), { type: 'claim' }, { slot: nextSlot++ })],
    ['delivered', (job: Added) => apply(part(job, 1), { type: 'delivered', attempt: 1 })],
    ['evicted', (job: Added) => apply(part(job, 0), { type: 'evicted', attempt: 1 })],
    ['failed', (job: Added) => apply(part(job, 0), { type: 'attempt_failed', attempt: 1, error: permanent })],
  ] as const)
    for (const isCancelFirst of [true, false]) {
      const job = name === 'divide' ? await add() : await divide(3)
      if (name === 'divide') await start(job.main)
      else if (name === 'delivered') for (const index of [0, 2]) await deliver(job, index)
      else if (name !== 'claim') await start(part(job, 0))
      if (name === 'delivered') await start(part(job, 1))
      const cancel = () => apply(job.main, { type: 'cancel' })
      const both = isCancelFirst ? [cancel(), race(job)] : [race(job), cancel()]
      const results = await Promise.all(both)
      happened.add(`${name} ${results.map(({ ok }) => ok).join()}`)
      await reconcile(env, Infinity)
      expect(['cancelled', 'failed'], name).toContain((await rowOf(job))?.state)
      const states = await statesOf(job)
      expect(
        states.filter((state) => !['completed', 'failed', 'cancelled'].includes(state)),
        name,
      ).toEqual([])
      expect(await busySlots(), name).toEqual([])
    }
  expect(happened.size).toBeGreaterThan(4)
})

test('the largest division is one statement, and ends as one', async () => {
  const job = await divide(400)
  expect(await statesOf(job)).toHaveLength(400)
  await apply(job.main, { type: 'cancel' })
  expect(new Set(await statesOf(job))).toEqual(new Set(['cancelled']))
})
