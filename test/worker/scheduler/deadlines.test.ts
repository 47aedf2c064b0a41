// In charge of: jobs that name an end time: what is stored of it, what their attempts are told, and when they come first.
// Not in charge of: how they are divided (node/transcoder/division/plan/deadlineDivision.test.ts).
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { TaskDescription } from '#contract/task/protocol.ts'
import { findJobByJobId, insertJob, insertTask } from '../../../worker/db/jobs.ts'
import { findTask, listWaitingTasks } from '../../../worker/db/tasks.ts'
import { transitionTask } from '../../../worker/scheduler/transitionTask.ts'
import { describeDeadline } from '../../../worker/taskApi/deadline.ts'
import { ADMIN_KEY, apiRequest, createKey, jobBody, postJson } from '../support/apiClient.ts'
import { HLS_JOB, HLS_PLAN } from '../support/dividedFixture.ts'
import { advanceClock, readStatus, startJob, startNextAttempt, transcoders } from '../support/jobFixture.ts'
import { newJobRow } from '../support/newJobRow.ts'

const HOUR_MS = 3600_000

async function add(jobId: string, change: Parameters<typeof newJobRow>[1] = {}): Promise<string> {
  const row = newJobRow(jobId, change)
  await env.DB.batch([insertJob(env.DB, row, null), insertTask(env.DB, row, `${jobId}-0`, 'transcode')])
  return `${jobId}-0`
}

async function waiting(now: number): Promise<string[]> {
  return (await listWaitingTasks(env.DB, now, 20)).map(({ id }) => id)
}

const hurryAtOf = (task: string) =>
  env.DB.prepare('SELECT hurry_at FROM tasks WHERE id = ?1').bind(task).first<number | null>('hurry_at')

test('once half of the time is over, a job comes before the older ones of its account', async () => {
  await add('old', { now: 0 })
  await add('wanted', { now: 1, hurryAt: 1000 })
  expect(await waiting(999)).toEqual(['old-0', 'wanted-0'])
  expect(await waiting(1000)).toEqual(['wanted-0', 'old-0'])
})

test('it takes no turn of another account, and none of a higher priority', async () => {
  await add('first', { now: 0 })
  await add('mine', { now: 1, hurryAt: 2 })
  await add('theirs', { now: 3, account: 'b' })
  await add('urgent', { now: 4, account: 'c', priority: 1 })
  expect(await waiting(1000)).toEqual(['urgent-0', 'mine-0', 'theirs-0', 'first-0'])
})

test('nobody is overtaken for ever: who has waited for twelve hours hurries as well', async () => {
  await add('patient', { now: 0 })
  for (const hour of [1, 2, 3]) await add(`wanted-${hour}`, { now: hour, hurryAt: hour })
  expect(await waiting(12 * HOUR_MS - 1)).toEqual(['wanted-1-0', 'wanted-2-0', 'wanted-3-0', 'patient-0'])
  expect(await waiting(12 * HOUR_MS)).toEqual(['patient-0', 'wanted-1-0', 'wanted-2-0', 'wanted-3-0'])
})

async function divide(jobId: string, parts: number, change: Parameters<typeof newJobRow>[1]): Promise<void> {
  const main = await add(jobId, change)
  expect((await transitionTask(env, main, { type: 'claim' }, { slot: 900 })).ok).toBe(true)
  await transitionTask(env, main, { type: 'started', attempt: 1 })
  expect((await transitionTask(env, main, { type: 'divide', attempt: 1, parts })).ok).toBe(true)
}

test('its parts come before those of a job with fewer left, and behind jobs that hurry for longer', async () => {
  const before = Date.now() - 1000
  // Of each, the rest (-2) waits for the last chunk (-1).
  await divide('short', 2, { now: 0 })
  await divide('long', 3, { now: 1, hurryAt: 2 })
  expect(await hurryAtOf('long-1')).toBe(2)
  const now = Date.now() + 1000
  expect(await waiting(now)).toEqual(['long-1', 'long-3', 'short-1'])
  await add('whole', { now: before, hurryAt: 4 })
  expect(await waiting(now)).toEqual(['whole-0', 'long-1', 'long-3', 'short-1'])
  await env.DB.prepare(`UPDATE tasks SET hurry_at = NULL`).run()
  expect(await waiting(now)).toEqual(['short-1', 'long-1', 'long-3', 'whole-0'])
})

test('what only has to be put together comes first, also if it does not hurry', async () => {
  const now = Date.now() + 1000
  await divide('stored', 2, { now: 0 })
  await env.DB.batch([
    env.DB.prepare(`UPDATE tasks SET state = 'completed' WHERE main = 'stored-0'`),
    env.DB.prepare(`UPDATE tasks SET state = 'queued', updated_at = ?1 WHERE id = 'stored-0'`).bind(now),
  ])
  await divide('hasty', 3, { now: 1, hurryAt: 2 })
  expect(await waiting(now)).toEqual(['stored-0', 'hasty-1', 'hasty-3'])
})

test('the attempt that plans is told how much of the time is left, and how many transcoders there are', async () => {
  const { id, attempt } = await startJob({ deadline_seconds: 600 })
  const task = attempt.run.task_id
  const job = await findJobByJobId(env.DB, attempt.job)
  expect(await hurryAtOf(task)).toBe(job!.created_at + 300_000)
  const describe = async () => (await (await attempt.taskApi('GET', '')).json<TaskDescription>()).deadline
  const { seconds_left: left, slots } = (await describe())!
  expect(left).toBeGreaterThan(590)
  expect(left).toBeLessThanOrEqual(600)
  const row = (await findTask(env.DB, task))!
  const at = (now: number) => describeDeadline(env, job!, row, now)
  expect(await at(job!.created_at + 90_000)).toMatchObject({ slots, deadline: { seconds_left: 510, slots } })
  expect(await at(job!.created_at + 900_000)).toMatchObject({ slots, deadline: { seconds_left: 0, slots } })
  await env.DB.prepare(`DELETE FROM slots WHERE task <> ?1`).bind(task).run()
  expect(await at(Date.now())).toMatchObject({ slots: 2, free_slots: 2 })
  await env.DB.prepare(`INSERT INTO slots (k, free_at) VALUES (?1, 8e15)`)
    .bind(1 - row.slot!)
    .run()
  expect(await at(Date.now())).toMatchObject({ slots: 2, free_slots: 1 })
  expect(await describeDeadline(env, job!, { ...row, parts: 3 }, 0)).toEqual({})
  // A job that is late does not fail for it.
  advanceClock(700_000)
  expect(await describe()).toMatchObject({ seconds_left: 0 })
  expect((await readStatus(id)).error).toBeNull()
})

test('no more transcoders than its account may use', async () => {
  const { key } = await createKey({ account: 'narrow' })
  const body = {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ max_running: 1 }),
  }
  const quota = await apiRequest('/api/v0/accounts/narrow', { ...body, key: ADMIN_KEY })
  expect(quota.status).toBe(200)
  await postJson('/api/v0/job', jobBody({ deadline_seconds: 600 }), { key })
  const attempt = await transcoders.nextAttempt()
  const { deadline } = await (await attempt.taskApi('GET', '')).json<TaskDescription>()
  expect(deadline?.slots).toBe(1)
})

test('a dry run has all of the time, and does not hurry itself', async () => {
  await postJson('/api/v0/job?dry_run=true', jobBody({ deadline_seconds: 600 }))
  const attempt = await transcoders.nextAttempt()
  advanceClock(60_000)
  const { deadline, kind } = await (await attempt.taskApi('GET', '')).json<TaskDescription>()
  expect([kind, deadline?.seconds_left]).toEqual(['plan', 600])
  expect(await hurryAtOf(attempt.run.task_id)).toBeNull()
})

test('parts are told nothing, and neither is a job that names no time', async () => {
  const { attempt } = await startJob({ ...HLS_JOB, deadline_seconds: 600 })
  await attempt.taskApi('POST', '/plan', HLS_PLAN)
  expect((await attempt.divide(3)).status).toBe(200)
  const part = await startNextAttempt()
  expect(await (await part.taskApi('GET', '')).json()).not.toHaveProperty('deadline')
  const { attempt: other } = await startJob()
  expect(await (await other.taskApi('GET', '')).json()).not.toHaveProperty('deadline')
})
