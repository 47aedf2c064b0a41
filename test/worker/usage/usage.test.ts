import { env } from 'cloudflare:workers'
import { beforeEach, expect, test, vi } from 'vitest'
import type { UsageReport } from '#contract/task/protocol.ts'
import { applyEvent } from '../../../worker/scheduler/applyEvent.ts'
import { ADMIN_KEY, apiRequest, createJob, createKey, postJson, readJson } from '../support/apiClient.ts'
import { noProgress, type FakeAttempt } from '../support/fakeTranscoder.ts'
import { advanceClock, startJob, startNextAttempt } from '../support/jobFixture.ts'
import { requestWithEnv } from '../support/appRequest.ts'
import { cell, usageCsv } from '../../../worker/usage/usageRoutes.ts'

const video = { width: 1920, height: 1080 }
/** Ten minutes of source; two renditions of it, and its audio as it was. */
const report: UsageReport = {
  source_seconds: 600,
  renditions: [
    { codec: 'h264', video, copied: false, seconds: 600 },
    { codec: 'hevc', video: { width: 360, height: 640 }, copied: false, seconds: 600.5 },
    { codec: 'aac', video: null, copied: true, seconds: 600 },
  ],
}
const progress = { ...noProgress, phase: 'uploading', bytes_stored: 3_000_000, bytes_produced: 3_000_000 } as const

let accounts = 0
let key: string
let account: string

beforeEach(async () => {
  account = `usage-${accounts++}`
  key = (await createKey({ account })).key
})

const readUsage = (month?: string): Promise<any> =>
  readJson(`/api/v0/usage${month === undefined ? '' : `?month=${month}`}`, { key })

/** Quantities by item and class. */
async function quantities(month?: string): Promise<Record<string, number>> {
  const { lines } = await readUsage(month)
  return Object.fromEntries(
    lines.map((line: any) => [[line.item, line.class].filter(Boolean).join(' '), line.quantity]),
  )
}

async function startOwn(change: Record<string, unknown> = {}): Promise<FakeAttempt> {
  await createJob(change, { key })
  return startNextAttempt()
}

async function finish(attempt: FakeAttempt, usage: UsageReport | undefined = report): Promise<Response> {
  const object = await attempt.storeObject('film.mp4', new Uint8Array(6))
  return attempt.finish([object], {
    progress: { ...progress, cpu_seconds: 90, bytes_read: 2_000_000 },
    ...(usage === undefined ? {} : { usage }),
  })
}

test('a completed job is counted once: source, outputs by class, CPU, bytes, with their prices', async () => {
  const attempt = await startOwn()
  const object = await attempt.storeObject('film.mp4', new Uint8Array(6))
  const all = { progress: { ...progress, cpu_seconds: 90, bytes_read: 2_000_000 }, usage: report }
  // A transcoder that did not get the answer repeats its message.
  for (let n = 0; n < 2; n++) expect((await attempt.finish([object], all)).status).toBe(200)
  const { costs, months, ...used } = await readUsage()
  expect(used).toMatchObject({ account, month: new Date().toISOString().slice(0, 7), spend_cap: null, notices: [] })
  expect(used.lines.map((line: any) => [line.item, line.class, line.quantity, line.unit_price, line.cost])).toEqual([
    ['jobs', 'completed', 1, 0, 0],
    ['source_hours', '', 0.166667, 0, 0],
    ['output_hours', '1080p h264', 0.166667, 0.9, 0.15],
    ['output_hours', '360p hevc', 0.166806, 0.36, 0.06005],
    ['output_hours', 'copy', 0.166667, 0.05, 0.008333],
    ['cpu_hours', '', 0.025, 3.6, 0.09],
    ['gb_in', '', 0.002, 1, 0.002],
    ['gb_out', '', 0.003, 2, 0.006],
  ])
  expect(costs).toEqual([{ currency: 'EUR', amount: 0.316383 }])
  expect(months).toEqual([used.month])
})

test('a transition that is applied again, or by a second writer, adds nothing', async () => {
  const attempt = await startOwn()
  const job = { id: attempt.run.task_id, jobId: attempt.job }
  const failed = { type: 'attempt_failed', attempt: 1, error: { code: 'no_video', message: 'x' } } as const
  const results = await Promise.all(
    Array.from({ length: 5 }, () => applyEvent(env, job, failed, { cpuSeconds: 36, bytesRead: 1e9 })),
  )
  expect(results.filter(({ ok }) => ok)).toHaveLength(1)
  expect(await quantities()).toEqual({ 'jobs failed': 1, cpu_hours: 0.01, gb_in: 1 })
})

test('a failed or cancelled job has CPU and bytes in, and no outputs; a lost attempt is apart and free', async () => {
  const lost = await startOwn()
  const used = { cpu_seconds: 7.2, bytes_read: 1_000_000 }
  await lost.taskApi('POST', '/fail', { reason: 'interrupted', ...used })
  advanceClock(5000)
  await lost.alarm()
  const second = await startNextAttempt()
  expect(second.run.attempt).toBe(2)
  await second.taskApi('POST', '/fail', { reason: 'failed', error: { code: 'no_video', message: 'x' }, ...used })
  const cancelled = await createJob({}, { key })
  const third = await startNextAttempt()
  await third.heartbeat(used)
  await postJson(`/api/v0/job/${cancelled}/cancel`, {}, { key })
  expect(await quantities()).toEqual({
    'jobs failed': 1,
    'jobs cancelled': 1,
    cpu_hours: 0.004,
    'cpu_hours lost attempts': 0.002,
    gb_in: 0.002,
    'gb_in lost attempts': 0.001,
  })
  const { lines, costs } = await readUsage()
  expect(lines.filter((line: any) => line.class === 'lost attempts').map((line: any) => line.cost)).toEqual([0, 0])
  expect(costs).toEqual([{ currency: 'EUR', amount: 0.0164 }])
})

test('a job belongs to the month in which it ends, in UTC', async () => {
  const midnight = Date.UTC(2030, 0, 1)
  advanceClock(midnight - 60_000 - Date.now())
  const attempt = await startOwn()
  await attempt.heartbeat({ cpu_seconds: 3.6 })
  const object = await attempt.storeObject('film.mp4', new Uint8Array(6))
  expect(new Date(Date.now()).getUTCFullYear()).toBe(2029)
  advanceClock(midnight - Date.now())
  await attempt.finish([object], { progress: { ...progress, cpu_seconds: 3.6 }, usage: report })
  expect(await quantities('2029-12')).toEqual({})
  expect(await quantities('2030-01')).toMatchObject({ 'jobs completed': 1, cpu_hours: 0.001 })
})

test('months stay when their jobs are deleted', async () => {
  const { id, attempt } = await startJob()
  await finish(attempt)
  const before = await readJson('/api/v0/usage')
  expect((await apiRequest(`/api/v0/job/${id}`, { method: 'DELETE' })).status).toBe(204)
  expect(await readJson('/api/v0/usage')).toEqual(before)
})

test('a new price list holds from then on; without one there are quantities and no costs', async () => {
  const first = await startOwn()
  await finish(first)
  const dearer = { ...env, USAGE_PRICES: '{"currency":"USD","output_hour":{"1080p":2}}' }
  for (const where of [dearer, { ...env, USAGE_PRICES: '' }]) {
    const attempt = await startOwn()
    const job = { id: attempt.run.task_id, jobId: attempt.job }
    await env.DB.prepare(`UPDATE tasks SET state = 'committing' WHERE id = ?1`).bind(job.id).run()
    const delivery = { report, stills: 3, bytes: 1e9 }
    await applyEvent(where, job, { type: 'committed', attempt: 1 }, { delivery })
  }
  const { lines, costs } = await readUsage()
  const hours = lines.filter((line: any) => line.class === '1080p h264')
  expect(hours.map((line: any) => [line.currency, line.unit_price, line.quantity])).toEqual([
    [null, null, 0.166667],
    ['EUR', 0.9, 0.166667],
    ['USD', 2, 0.166667],
  ])
  expect(costs).toEqual([
    { currency: 'EUR', amount: 0.316383 },
    { currency: 'USD', amount: 0.333333 },
  ])
  expect(lines.filter((line: any) => line.item === 'stills')).toHaveLength(2)
})

test('without a report of renditions everything else is counted', async () => {
  const attempt = await startOwn()
  expect((await finish(attempt, undefined)).status).toBe(200)
  expect(await quantities()).toMatchObject({ 'jobs completed': 1, cpu_hours: 0.025, gb_out: 0.003 })
})

test('an account reads its own usage, the administrator that of all', async () => {
  await finish(await startOwn())
  const other = (await createKey({ account: `${account}-other` })).key
  expect((await readJson('/api/v0/usage', { key: other })).lines).toEqual([])
  expect((await apiRequest('/api/v0/usage/accounts', { key })).status).toBe(403)
  const all = await readJson('/api/v0/usage/accounts', { key: ADMIN_KEY })
  const own = await readUsage()
  expect(all.accounts.find((each: any) => each.account === account)).toEqual({
    account,
    lines: own.lines,
    costs: own.costs,
  })
})

test('CSV by parameter or by Accept, with the numbers of the JSON', async () => {
  await finish(await startOwn())
  const asked = await apiRequest('/api/v0/usage?format=csv', { key })
  expect(asked.headers.get('content-type')).toMatch(/^text\/csv/)
  expect(asked.headers.get('content-disposition')).toMatch(/^attachment; filename="usage-\d{4}-\d\d\.csv"$/)
  const csv = await asked.text()
  const accepted = await apiRequest('/api/v0/usage', { key, headers: { accept: 'text/csv' } })
  expect(await accepted.text()).toBe(csv)
  const { lines, month } = await readUsage()
  const [head, ...rows] = csv.trimEnd().split('\r\n')
  expect(head).toBe('month,account,item,class,quantity,unit_price,currency,cost')
  expect(rows).toEqual(
    lines.map((line: any) =>
      [month, account, line.item, line.class, line.quantity, line.unit_price, line.currency, line.cost].join(','),
    ),
  )
})

test('a text that a spreadsheet would run is none in CSV, and quotes are doubled (RFC 4180)', () => {
  for (const first of ['=', '+', '-', '@', '\t', '\r']) expect(cell(`${first}1+1`)).toMatch(/^"?'/)
  expect(cell('=HYPERLINK("http://x","y")')).toBe(`"'=HYPERLINK(""http://x"",""y"")"`)
  expect(cell('a "b", c\r\nd')).toBe('"a ""b"", c\r\nd"')
  expect(cell('1080p h264')).toBe('1080p h264')
  const line = { item: 'stills', class: '=1+1', quantity: 0.000001, unit_price: 1e6, currency: 'EUR', cost: 1 } as const
  expect(usageCsv('2026-11', [{ account: 'a', lines: [line], costs: [] }]).split('\r\n')[1]).toBe(
    `2026-11,a,stills,'=1+1,0.000001,1000000,EUR,1`,
  )
})

test('a wrong query is refused by name', async () => {
  for (const [query, field] of [
    ['month=2026-13', 'month'],
    ['month=11', 'month'],
    ['format=xml', 'format'],
    ['year=2026', 'year'],
  ]) {
    const refused = await apiRequest(`/api/v0/usage?${query}`, { key })
    expect([refused.status, (await refused.json<any>()).error.field]).toEqual([400, field])
  }
})

test('a price list that is not valid is refused by name', async () => {
  const problem = async (text: string) => (await requestWithEnv({ ...env, USAGE_PRICES: text }, 'GET', '/health'))[1]
  vi.spyOn(console, 'error').mockReturnValue(undefined)
  for (const [text, message] of [
    ['{"currency":"eur"}', 'USAGE_PRICES: currency must be three capital letters (ISO 4217), like EUR (docs/usage.md)'],
    ['5', 'USAGE_PRICES must be a JSON object (docs/usage.md)'],
    [
      '{"currency":"EUR","gb_out":-1}',
      'USAGE_PRICES: gb_out must be a number from 0 to 1000000 with at most 6 decimals (docs/usage.md)',
    ],
  ]) {
    expect((await problem(text!)).missing).toEqual([message])
  }
})
