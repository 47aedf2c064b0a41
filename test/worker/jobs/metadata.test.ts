// In charge of: `metadata` of a job: what is refused, which answers contain it, finding jobs by it, and deleting it
// with the job.
import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { listJobs } from '../../../worker/db/jobList.ts'
import { deleteJob } from '../../../worker/db/jobRetention.ts'
import { apiRequest, jobBody, postJson, readJson, createKey, createJob } from '../support/apiClient.ts'

beforeEach(async () => {
  await env.DB.batch(['slots', 'jobs'].map((table) => env.DB.prepare(`DELETE FROM ${table}`)))
})

async function create(metadata: Record<string, string>, key?: string): Promise<number> {
  return createJob({ metadata }, key === undefined ? {} : { key })
}

async function found(query: Record<string, string> | [string, string][], key?: string): Promise<number[]> {
  const response = await apiRequest(
    `/api/v0/job?${new URLSearchParams(query).toString()}`,
    key === undefined ? {} : { key },
  )
  expect(response.status, JSON.stringify(query)).toBe(200)
  return (await response.json<any>()).jobs.map((entry: any) => entry._auto_generated_id_)
}

test('it is returned as sent: in the configuration, in lists and in a retry; without it lists have {}', async () => {
  const metadata = { customer: '42', 'ticket.id': 'ABC-7', note: '', constructor: 'x' }
  const id = await create(metadata)
  const plain = await createJob()
  expect((await readJson(`/api/v0/job/${id}`)).config.metadata).toEqual(metadata)
  const { jobs } = await readJson('/api/v0/job')
  expect(jobs.map((each: any) => [each._auto_generated_id_, each.metadata])).toEqual([
    [plain, {}],
    [id, metadata],
  ])
  await postJson(`/api/v0/job/${id}/cancel`, {})
  const again = await (await postJson(`/api/v0/job/${id}/retry`, {})).json<any>()
  expect(await found({ metadata: 'customer:42' })).toEqual([again._auto_generated_id_, id])
})

test('every mistake is named, with its path', async () => {
  const metadata = {
    'a b': 'x',
    [`n${'x'.repeat(40)}`]: 'x',
    number: 42,
    long: 'x'.repeat(501),
    bell: '\u0007',
    half: '\ud800',
  }
  const refused = await (await postJson('/api/v0/job', jobBody({ metadata }))).json<any>()
  expect(refused.error.details.map(({ code, field }: any) => `${code} ${field}`)).toEqual([
    'invalid_value metadata.a b',
    `invalid_value metadata.n${'x'.repeat(40)}`,
    'invalid_type metadata.number',
    'invalid_length metadata.long',
    'invalid_value metadata.bell',
    'invalid_value metadata.half',
  ])
  const text = JSON.stringify(jobBody()).replace(/^\{/, '{"metadata":{"__proto__":"polluted"},')
  const headers = { 'content-type': 'application/json' }
  const polluting = await readJson('/api/v0/job', { method: 'POST', body: text, headers })
  expect(polluting.error.details).toMatchObject([{ code: 'invalid_value', field: 'metadata.__proto__' }])
  expect(({} as any).polluted).toBeUndefined()
})

test('a search finds any part of a value, and never across two', async () => {
  const id = await create({ title: 'Große Übung', customer: 'acme' })
  await create({ title: 'another' })
  for (const text of ['übung', 'ACME', 'ße üb']) expect(await found({ search: text }), text).toEqual([id])
  for (const text of ['Übung acme', 'übungacme', 'customer']) expect(await found({ search: text }), text).toEqual([])
})

test('the filter is exact, accepts several values, and is limited to the account', async () => {
  const first = await create({ customer: '42', batch: 'a:b' })
  const second = await create({ customer: '42', batch: 'c' })
  await create({ customer: '421' })
  const { key } = await createKey()
  const foreign = await create({ customer: '42' }, key)
  expect(await found({ metadata: 'customer:42' })).toEqual([second, first])
  expect(await found({ metadata: 'customer:42', limit: '1' })).toEqual([second])
  expect(await found({ metadata: 'customer:42', cursor: String(second) })).toEqual([first])
  expect(
    await found([
      ['metadata', 'customer:42'],
      ['metadata', 'batch:a:b'],
    ]),
  ).toEqual([first])
  expect(
    await found([
      ['metadata', 'customer:42'],
      ['metadata', 'customer:421'],
    ]),
  ).toEqual([])
  for (const pair of ['customer:4', 'customer:', 'Customer:42', "customer:42' OR '1'='1", 'customer:%'])
    expect(await found({ metadata: pair }), pair).toEqual([])
  expect(await found({ metadata: 'customer:42' }, key)).toEqual([foreign])
  for (const odd of ['customer', ':42', '__proto__:x', 'a b:c', `n:${'x'.repeat(501)}`, 'n:\0']) {
    const response = await apiRequest(`/api/v0/job?metadata=${encodeURIComponent(odd)}`)
    expect(response.status, odd).toBe(400)
    expect((await response.json<any>()).error).toMatchObject({ field: 'metadata' })
  }
  const many = Array.from({ length: 21 }, (_, n): [string, string] => ['metadata', `n${n}:x`])
  expect((await apiRequest(`/api/v0/job?${new URLSearchParams(many).toString()}`)).status).toBe(400)
  expect(await found(many.slice(1))).toEqual([])
})

test('the filter is answered from its index', async () => {
  let sql = ''
  const spy = { prepare: (text: string) => ((sql = text), env.DB.prepare(text)) } as unknown as D1Database
  const all = { states: [], before: null, createdFrom: null, createdTo: null, search: null, limit: 1 }
  await listJobs(spy, 'a', { ...all, metadata: [{ name: 'customer', value: '42' }] })
  const plan = env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`).bind('a', 9, null, null, '[]', 1, null, 'customer', '42')
  const steps = (await plan.all<{ detail: string }>()).results.map(({ detail }) => detail).join('\n')
  expect(steps).toContain('job_metadata_by_value (account=? AND name=? AND value=?)')
  expect(steps).not.toMatch(/SCAN (jobs|tasks|job_metadata)/)
})

test('it goes with the job’s record', async () => {
  const id = await create({ customer: '42' })
  const rows = () => env.DB.prepare('SELECT name FROM job_metadata WHERE job = ?').bind(id).all()
  expect((await rows()).results).toHaveLength(1)
  await postJson(`/api/v0/job/${id}/cancel`, {})
  await env.DB.prepare('UPDATE jobs SET deleted_at = 1 WHERE id = ?').bind(id).run()
  await deleteJob(env.DB, id)
  expect((await rows()).results).toEqual([])
})
