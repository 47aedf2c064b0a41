import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { MAX_LOST_ATTEMPTS } from '#contract/task/lifecycle.ts'
import { applyEvent } from '../../../worker/scheduler/applyEvent.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { apiRequest, jobBody, postJson, readJson } from '../support/apiClient.ts'
import { estimate as found } from '../support/taskPlan.ts'
import type { FakeAttempt } from '../support/fakeTranscoder.ts'
import { noProgress } from '../support/fakeTranscoder.ts'
import { advanceClock, startNextAttempt, readStatus, transcoders } from '../support/jobFixture.ts'

const DRY = '/api/v0/job?dry_run=true'

async function create(path = DRY, init: { headers?: Record<string, string> } = {}): Promise<any> {
  const response = await postJson(path, jobBody(), init)
  return { http: response.status, ...(await response.json<any>()) }
}

function estimate(attempt: FakeAttempt, change: Record<string, unknown> = {}): Promise<Response> {
  const warnings = [{ code: 'deinterlaced', field: 'videoProfiles[0]', message: 'so it is' }]
  const progress = { ...noProgress, phase: 'probing' }
  return attempt.taskApi('POST', '/estimate', { estimate: found, warnings, progress, ...change })
}

async function objects(): Promise<string[]> {
  return (await env.BUCKET.list()).objects.map((object) => `${object.key} ${object.etag}`)
}

test('a dry run ends with its estimate, and nothing is in the store', async () => {
  const before = await objects()
  const created = await create()
  expect(created).toMatchObject({ http: 200, dry_run: true, status: { dry_run: true, estimate: null, state: 'ready' } })
  const id = created._auto_generated_id_
  const attempt = await transcoders.nextAttempt()
  expect(await (await attempt.taskApi('GET', '')).json()).toMatchObject({ kind: 'plan', plan: null })
  await attempt.heartbeat({ phase: 'probing' })
  expect(await readStatus(id)).toMatchObject({
    phase: 'probing',
    tcode_progress: '0',
    xfer_progress: '0',
    dry_run: true,
  })

  const answer = await estimate(attempt)
  expect([answer.status, await answer.json()]).toEqual([200, { state: 'completed' }])
  const end = await readStatus(id)
  expect(end).toMatchObject({
    state: 'ready',
    job_completed: true,
    phase: 'done',
    tcode_progress: '100',
    xfer_progress: '100',
    tcode_time: null,
    tcode_speed: '-1',
    xfer_speed: '-1.0',
    error: null,
    outputs: [],
    dry_run: true,
    estimate: found,
    warnings: [{ code: 'deinterlaced' }],
  })
  const { jobs } = await readJson('/api/v0/job?limit=1')
  expect(jobs[0]).toMatchObject({ _auto_generated_id_: id, status: { dry_run: true, estimate: found } })
  expect(await objects()).toEqual(before)
  // Repeated after a lost answer, it is accepted again. With another content, it is refused.
  expect((await estimate(attempt, { estimate: { version: 9 } })).status).toBe(200)
  expect((await readStatus(id)).estimate).toEqual(found)
  expect((await apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' })).status).toBe(409)
  // The slot is free again.
  await create('/api/v0/job')
  await startNextAttempt()
})

test('the task API accepts no output of a dry run, and no estimate of a job', async () => {
  const before = await objects()
  await create()
  const dry = await startNextAttempt()
  const upload = await dry.taskApi('POST', '/uploads', { path: 'a.mp4', content_type: 'video/mp4', expected_size: 5 })
  expect(upload.status).toBe(409)
  const object = { path: 'a.mp4', upload: btoa('["a.mp4","x"]').replaceAll('=', ''), size: 1, sha256: '0'.repeat(64) }
  const finish = await dry.finish([
    { ...object, content_type: 'video/mp4', parts: [{ n: 1, etag: 'e' }], profile: 0, role: 'media' },
  ])
  expect(finish.status).toBe(409)
  expect(await objects()).toEqual(before)
  expect((await estimate(dry)).status).toBe(200)

  const { _auto_generated_id_: id } = await create('/api/v0/job?dry_run=false')
  const real = await startNextAttempt()
  expect((await estimate(real)).status).toBe(409)
  expect(await readStatus(id)).toMatchObject({ state: 'running', dry_run: false, estimate: null })
})

test('an attempt that lost its lease estimates nothing; the next one does', async () => {
  const { _auto_generated_id_: id } = await create()
  const first = await startNextAttempt()
  advanceClock(10 * 60_000)
  await first.alarm()
  advanceClock(2 * 60_000)
  await reconcile(env, Infinity)
  const second = await startNextAttempt()
  expect(second.run).toMatchObject({ attempt: 2 })
  expect((await estimate(first, { estimate: { version: 0 } })).status).toBe(409)
  expect(await readStatus(id)).toMatchObject({ job_completed: false, estimate: null })
  expect((await estimate(second)).status).toBe(200)
  expect(await readStatus(id)).toMatchObject({ job_completed: true, estimate: found })
})

test('a dry run is given up after as many lost attempts as a job', async () => {
  const { _auto_generated_id_: id } = await create()
  for (let n = 1; n <= MAX_LOST_ATTEMPTS; n++) {
    const attempt = await startNextAttempt()
    expect(attempt.run.attempt).toBe(n)
    const task = { id: attempt.run.task_id, jobId: attempt.run.task_id.replace(/-0$/, '') }
    await applyEvent(env, task, { type: 'lost', attempt: n, ranMs: 0, share: 0 })
    advanceClock(2 * 60_000)
    await reconcile(env, Infinity)
  }
  expect(await readStatus(id)).toMatchObject({ state: 'error', error: { code: 'attempts_exhausted' }, estimate: null })
})

test('cancelling a dry run informs its transcoder and stores no estimate', async () => {
  const { _auto_generated_id_: id } = await create()
  const attempt = await startNextAttempt()
  expect((await apiRequest(`/api/v0/job/${id}/cancel`, { method: 'POST' })).status).toBe(200)
  expect(await attempt.heartbeat()).toBe('cancel')
  expect((await estimate(attempt)).status).toBe(409)
  expect(await readStatus(id)).toMatchObject({ state: 'cancelled', job_completed: true, dry_run: true, estimate: null })
})

test('what would end the job ends its dry run, with the same error', async () => {
  const { _auto_generated_id_: id } = await create()
  const attempt = await startNextAttempt()
  await attempt.fail('no_video')
  const end = await readStatus(id)
  expect(end).toMatchObject({ state: 'error', job_completed: true, error: { code: 'no_video' }, estimate: null })
  expect(end.tcode_progress).not.toBe('100')
})

test('an unlisted dry run is in no list, and is ended and deleted by one request, or by the service', async () => {
  const unlisted = '/api/v0/job?dry_run=unlisted'
  const { _auto_generated_id_: id } = await create(unlisted)
  const attempt = await startNextAttempt()
  expect(await readStatus(id)).toMatchObject({ dry_run: true, job_completed: false })
  const listed = async () => (await readJson('/api/v0/job?limit=5')).jobs.map((job: any) => job._auto_generated_id_)
  expect(await listed()).not.toContain(id)
  expect((await apiRequest(`/api/v0/job/${id}`, { method: 'DELETE' })).status).toBe(204)
  await expect.poll(() => transcoders.cancels.map(({ task_id: task }) => task)).toContain(attempt.run.task_id)
  expect((await apiRequest(`/api/v0/job/${id}`)).status).toBe(404)

  // The browser died: one that waits is ended, one that has ended is deleted.
  const { _auto_generated_id_: left } = await create(unlisted)
  await startNextAttempt()
  advanceClock(11 * 60_000)
  await reconcile(env, Infinity)
  expect(await readStatus(left)).toMatchObject({ error: { code: 'deadline_exceeded' } })
  advanceClock(11 * 60_000)
  await reconcile(env, Infinity)
  expect((await apiRequest(`/api/v0/job/${left}`)).status).toBe(404)
})

test('an Idempotency-Key is of a dry run or of a job, not of both', async () => {
  const headers = { 'idempotency-key': 'one' }
  const first = await create(DRY, { headers })
  const again = await create(DRY, { headers })
  expect(again).toEqual(first)
  expect(await create('/api/v0/job', { headers })).toMatchObject({ http: 409, error: { code: 'idempotency_conflict' } })
  const other = { 'idempotency-key': 'two' }
  const real = await create('/api/v0/job?dry_run=false', { headers: other })
  // An explicit false is the same as leaving it out.
  expect(await create('/api/v0/job', { headers: other })).toEqual(real)
  expect(await create(DRY, { headers: other })).toMatchObject({ http: 409 })
})

test.each(['dry_run=', 'dry_run=1', 'dry_run=TRUE', 'dryrun=true', 'dry_run=true&dry_run=false', 'x=1'])(
  'the query %s is refused',
  async (query) => {
    expect(await create(`/api/v0/job?${query}`)).toMatchObject({ http: 400, error: { code: 'invalid_request' } })
  },
)

test('an estimate that is no object, or too large to keep, is refused', async () => {
  await create()
  const attempt = await startNextAttempt()
  expect((await estimate(attempt, { estimate: 'x' })).status).toBe(400)
  expect((await estimate(attempt, { estimate: { text: 'x'.repeat(600_000) } })).status).toBe(413)
  expect((await estimate(attempt)).status).toBe(200)
})
