// In charge of: counters and histograms of /metrics: what each end of a job counts, exactly once, and that they outlive
// the isolate.
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { transition } from '#contract/task/lifecycle.ts'
import { addTotals } from '../../../worker/db/metricTotals.ts'
import { flushCounts } from '../../../worker/metrics/isolateCounts.ts'
import { findTask } from '../../../worker/db/tasks.ts'
import { transitionTask } from '../../../worker/scheduler/transitionTask.ts'
import { ADMIN_KEY, apiRequest, createJob, readJson } from '../support/apiClient.ts'
import { requestWithEnv } from '../support/appRequest.ts'
import { advanceClock, startJob, startNextAttempt, transcoders } from '../support/jobFixture.ts'

async function scrape(): Promise<Map<string, number>> {
  const text = await (await apiRequest('/metrics', { key: ADMIN_KEY })).text()
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice('splicepoint_'.length, end), Number(line.slice(end + 1))]
    }),
  )
}

/** The increments of a piece of work; series that did not change are left out. */
async function increments(work: () => Promise<unknown>, of: RegExp): Promise<Record<string, number>> {
  const before = await scrape()
  await work()
  const after = await scrape()
  return Object.fromEntries(
    [...after]
      .filter(([series]) => of.test(series))
      .map(([series, value]) => [series, value - (before.get(series) ?? 0)] as const)
      .filter(([, value]) => value !== 0),
  )
}

test('a completed job is counted once, with its attempt, its bytes and its CPU time', async () => {
  const counted = await increments(async () => {
    const { attempt } = await startJob()
    const object = await attempt.storeObject('film.mp4', new Uint8Array(6))
    const progress = {
      phase: 'uploading',
      transcoded: 1,
      transcode_seconds: 4,
      speed: 2,
      bytes_produced: 6,
      bytes_stored: 6,
      transfer_seconds: 1,
      eta_seconds: null,
      cpu_seconds: 7.5,
    } as const
    // The transcoder repeats what was not answered in time.
    for (let n = 0; n < 3; n++) expect((await attempt.finish([object], { progress })).status).toBe(200)
  }, /^(jobs_ended|attempts_started|stored_bytes|transcoder_cpu|job_(queue|duration)_seconds_count|job_phase_seconds_count)/)
  expect(counted).toEqual({
    'jobs_ended_total{kind="transcode",state="completed",code=""}': 1,
    'attempts_started_total{kind="transcode"}': 1,
    'stored_bytes_total{store="vendor-store"}': 6,
    'transcoder_cpu_seconds_total{outcome="finished"}': 7.5,
    'job_queue_seconds_count{kind="transcode"}': 1,
    'job_duration_seconds_count{kind="transcode",state="completed"}': 1,
    'job_phase_seconds_count{phase="start"}': 1,
    'job_phase_seconds_count{phase="encoding"}': 1,
    'job_phase_seconds_count{phase="upload"}': 1,
    'job_phase_seconds_count{phase="commit"}': 1,
  })
})

test('two writers of one change: the one that changes the row counts it', async () => {
  const { id, attempt } = await startJob()
  const counted = await increments(async () => {
    const task = await findTask(env.DB, attempt.run.task_id)
    // Both have read the same row; the second write finds it changed, and its event is refused as a repetition.
    const cancelled = transition(task!, { type: 'cancel' })
    expect(cancelled.ok).toBe(true)
    await Promise.all([1, 2, 3].map(() => transitionTask(env, attempt.run.task_id, { type: 'cancel' })))
    expect((await readJson(`/api/v0/job/${id}`)).status.state).toBe('cancelled')
  }, /^jobs_ended/)
  expect(counted).toEqual({ 'jobs_ended_total{kind="transcode",state="cancelled",code=""}': 1 })
})

test('lost attempts by cause, evictions, failed starts by reason, and the error code of the end', async () => {
  const counted = await increments(async () => {
    const { attempt } = await startJob()
    await attempt.heartbeat({ transcoded: 0.1, cpu_seconds: 3 })
    advanceClock(10 * 60_000)
    await attempt.alarm()
    advanceClock(60_000)
    await attempt.alarm()
    const second = await startNextAttempt()
    await second.taskApi('POST', '/fail', { reason: 'interrupted', cpu_seconds: 1.25 })
    advanceClock(60_000)
    await second.alarm()
    const third = await startNextAttempt()
    await third.fail('source_unreachable')
    advanceClock(60_000)
    await third.alarm()
    await (await startNextAttempt()).fail('source_not_found')
  }, /^(attempts_(lost|evicted)|jobs_ended|transcoder_cpu)/)
  expect(counted).toEqual({
    'attempts_lost_total{cause="transcoder_lost"}': 1,
    'attempts_lost_total{cause="source_unreachable"}': 1,
    attempts_evicted_total: 1,
    'jobs_ended_total{kind="transcode",state="failed",code="source_not_found"}': 1,
    'transcoder_cpu_seconds_total{outcome="lost"}': 3,
    'transcoder_cpu_seconds_total{outcome="evicted"}': 1.25,
  })
})

test('a start that no transcoder accepts is counted by its reason', async () => {
  const counted = await increments(async () => {
    transcoders.runStatus = () => 503
    await createJob()
    await expect.poll(() => transcoders.refusedStarts).toBeGreaterThan(0)
    await expect.poll(async () => (await scrape()).get('starts_failed_total{reason="refused"}')).toBeGreaterThan(0)
  }, /^starts_failed_total/)
  expect(Object.keys(counted)).toEqual(['starts_failed_total{reason="refused"}'])
})

test('totals of several scopes are added up, also from nothing', async () => {
  const series = { source_seconds_total: 1500 }
  const counted = await increments(async () => {
    await addTotals(env.DB, { one: series, two: { 'stored_bytes_total{store="aws"}': 5 } }).run()
    await addTotals(env.DB, { one: series }).run()
  }, /^(source_seconds_total|stored_bytes_total\{store="aws"\})/)
  expect(counted).toEqual({ source_seconds_total: 3, 'stored_bytes_total{store="aws"}': 5 })
})

test('requests are counted by template and class of status: no id becomes a label', async () => {
  const counted = await increments(async () => {
    await apiRequest('/api/v0/job/123456')
    await apiRequest('/api/v0/job/123457')
    await apiRequest('/api/v0/job/not-a-number')
    await apiRequest('/no/such/route')
    await apiRequest('/health')
  }, /^http_requests_total/)
  expect(counted).toMatchObject({
    'http_requests_total{method="GET",route="/api/v0/job/:id",status="4xx"}': 2,
    'http_requests_total{method="GET",route="/health",status="2xx"}': 1,
  })
  expect(Object.keys(counted).join()).not.toMatch(/1234|not-a-number|no.such/)
  const histogram = [...(await scrape())].filter(([series]) =>
    series.startsWith('http_request_duration_seconds_bucket{method="GET",route="/api/v0/job/:id"'),
  )
  const counts = histogram.map(([, value]) => value)
  expect(counts).toEqual(counts.toSorted((a, b) => a - b))
  expect(histogram.at(-1)?.[0]).toContain('le="+Inf"')
})

test('the disk of a busy transcoder is a gauge, and gone with the job', async () => {
  const { attempt } = await startJob()
  await attempt.heartbeat({ disk_free_bytes: 12_345 })
  const disks = async () => [...(await scrape())].filter(([series]) => series.startsWith('transcoder_disk_free_bytes'))
  expect(await disks()).toEqual([[expect.stringMatching(/^transcoder_disk_free_bytes\{slot="[01]"\}$/), 12_345]])
  await attempt.complete()
  expect(await disks()).toEqual([])
})

/** A database that counts writes of totals, and fails while `isAway`. */
function watchedDatabase(state: { writes: number; isAway: boolean }): D1Database {
  return new Proxy(env.DB, {
    get: (db, name: keyof D1Database) => {
      if (name !== 'prepare') return db[name].bind(db as never)
      return (sql: string) => {
        if (!sql.startsWith('INSERT INTO metric_totals')) return db.prepare(sql)
        state.writes++
        if (state.isAway) throw new Error('D1_ERROR: away')
        return db.prepare(sql)
      }
    },
  })
}

test('requests do not write to D1, and their counts outlive a write that fails', async () => {
  await scrape()
  const state = { writes: 0, isAway: false }
  const where = { ...env, DB: watchedDatabase(state) }
  const counted = await increments(async () => {
    const began = performance.now()
    for (let n = 0; n < 40; n++) await requestWithEnv(where, 'GET', '/api/v0/limits')
    // One in ten seconds.
    expect(state.writes).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / 10_000))
    state.isAway = true
    await flushCounts(where)
  }, /^http_requests_total\{method="GET",route="\/api\/v0\/limits"/)
  expect(counted).toEqual({ 'http_requests_total{method="GET",route="/api/v0/limits",status="2xx"}': 40 })
  expect(state.writes).toBeGreaterThan(0)
})

test('uploads are counted by their bytes', async () => {
  const counted = await increments(
    () => apiRequest('/uploads', { method: 'POST', body: 'x'.repeat(321), headers: { 'content-length': '321' } }),
    /^uploaded_bytes_total/,
  )
  expect(counted).toEqual({ uploaded_bytes_total: 321 })
})
