// In charge of: searching jobs, listing uploads, isolation between accounts, and that both lists use their indexes.
import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { listJobs } from '../../../worker/db/jobList.ts'
import { apiRequest, jobBody, postJson, readJson, createKey } from '../support/apiClient.ts'

beforeEach(async () => {
  await env.DB.batch(['slots', 'jobs', 'uploads'].map((table) => env.DB.prepare(`DELETE FROM ${table}`)))
})

async function create(change: Record<string, unknown> = {}): Promise<{ id: number; jobId: string }> {
  const made = await (await postJson('/api/v0/job', jobBody(change))).json<any>()
  return { id: made._auto_generated_id_, jobId: made.job_id }
}

async function upload(name: string): Promise<number> {
  const init = { method: 'POST', body: 'abc', headers: { 'content-length': '3' } }
  return (await readJson(`/uploads?name=${encodeURIComponent(name)}`, init)).uploaded_file_number
}

async function found(query: string, key?: string): Promise<number[]> {
  const response = await apiRequest(`/api/v0/job?${query}`, key === undefined ? {} : { key })
  expect(response.status, query).toBe(200)
  return (await response.json<any>()).jobs.map((entry: any) => entry._auto_generated_id_)
}
const search = (text: string) => found(new URLSearchParams({ search: text }).toString())

test('a job is found by its number, its job_id, and by any part of the name and the address of its source', async () => {
  const number = await upload('Große Übung (2).mov')
  const fromFile = await create({ input: `${number}`, cloud_credentials: { input: { cloud_provider: 'file-upload' } } })
  const fromWeb = await create({ input: 'https://Media.test/2026/Holiday%20Film.mp4?token=SECRET' })
  const plain = await create()
  expect(await search('übung')).toEqual([fromFile.id])
  expect(await search(' GROSSE ')).toEqual([])
  expect(await search('GROßE üBUNG (2).MOV')).toEqual([fromFile.id])
  expect(await search('holiday film')).toEqual([fromWeb.id])
  expect(await search('media.test/2026')).toEqual([fromWeb.id])
  expect(await search('MEDIA.test')).toEqual([plain.id, fromWeb.id])
  expect(await search(String(plain.id))).toContain(plain.id)
  expect(await search(fromWeb.jobId)).toEqual([fromWeb.id])
  expect(await search(fromWeb.jobId.slice(0, 8).toUpperCase())).toEqual([fromWeb.id])
  expect(await search(fromWeb.jobId.slice(0, 7))).toEqual([])
  expect(await search('%')).toEqual([fromWeb.id])
  for (const odd of ['SECRET', '_', '*', "' OR 1=1 --", 'film.mp4https']) expect(await search(odd), odd).toEqual([])
  const { jobs } = await readJson('/api/v0/job')
  expect(jobs.map((each: any) => each.status.input_name)).toEqual(['a.mp4', 'Holiday Film.mp4', 'Große Übung (2).mov'])
})

test('counts=true counts the account’s queued and running jobs, by their index, whatever the other conditions', async () => {
  const [running, cancelled] = [await create(), await create(), await create(), await create()]
  await env.DB.prepare(`UPDATE jobs SET state = 'committing' WHERE id = ?1`).bind(running.id).run()
  await postJson(`/api/v0/job/${cancelled.id}/cancel`, {})
  const asked = '/api/v0/job?counts=true&search=nothing'
  expect(await readJson(asked)).toEqual({ jobs: [], next_cursor: null, counts: { queued: 2, running: 1 } })
  const { key } = await createKey()
  expect((await readJson(asked, { key })).counts).toEqual({ queued: 0, running: 0 })
  expect(await readJson('/api/v0/job')).not.toHaveProperty('counts')
})

test('the name of an upload outlives the upload, and a repetition has it too', async () => {
  const number = await upload('film.mp4')
  const { id } = await create({ input: `${number}`, cloud_credentials: { input: { cloud_provider: 'file-upload' } } })
  expect((await apiRequest(`/uploads/${number}`, { method: 'DELETE' })).status).toBe(204)
  expect((await readJson(`/api/v0/job/${id}`)).status.input_name).toBe('film.mp4')
  expect(await search('film.mp4')).toEqual([id])
})

test('a search goes on page by page, with the other conditions, and never leaves the account', async () => {
  const ids: number[] = []
  for (let n = 0; n < 5; n++) ids.push((await create({ input: `https://media.test/part-${n % 2}.mp4` })).id)
  await postJson(`/api/v0/job/${ids[4]}/cancel`, {})
  const first = await readJson('/api/v0/job?search=part-0&limit=2')
  expect(first.jobs.map((entry: any) => entry._auto_generated_id_)).toEqual([ids[4], ids[2]])
  // Created between two pages, at the other end of the list.
  await create({ input: 'https://media.test/part-0.mp4' })
  expect(await found(`search=part-0&limit=2&cursor=${first.next_cursor}`)).toEqual([ids[0]])
  expect(await found('search=part-0&state=cancelled')).toEqual([ids[4]])
  expect(await found('search=part-0&created_to=2020-01-01T00:00:00Z')).toEqual([])
  const { key } = await createKey()
  expect(await found('search=part', key)).toEqual([])
  expect(await found(`search=${ids[0]}`, key)).toEqual([])
  await postJson(`/api/v0/job/${ids[3]}/cancel`, {})
  await apiRequest(`/api/v0/job/${ids[3]}`, { method: 'DELETE' })
  expect(await found('search=part-1')).toEqual([ids[1]])
  for (const query of ['search=', 'search=%20', `search=${'x'.repeat(201)}`]) {
    expect((await apiRequest(`/api/v0/job?${query}`)).status, query).toBe(400)
  }
})

test('the page of a list is chosen from one index, without the rows', async () => {
  let sql = ''
  const spy = { prepare: (text: string) => ((sql = text), env.DB.prepare(text)) } as unknown as D1Database
  const all = { states: [], before: null, createdFrom: null, createdTo: null, search: 'x', limit: 1 }
  await listJobs(spy, 'a', { ...all, metadata: [] })
  const plan = env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`).bind('a', 9, null, null, '[]', 1, 'x')
  const steps = (await plan.all<{ detail: string }>()).results.map(({ detail }) => detail).join('\n')
  expect(steps).toContain('USING COVERING INDEX jobs_listed (account=? AND id<?')
  expect(steps).not.toMatch(/SCAN jobs|SCAN tasks/)
})

test('uploads are listed newest first, in pages, with what is stored of unfinished ones; others’ and expired ones are not', async () => {
  const small = await upload('a.mp4')
  const begun = await apiRequest('/uploads', {
    method: 'POST',
    headers: { 'tus-resumable': '1.0.0', 'upload-length': '10', 'upload-metadata': `filename ${btoa('large.mov')}` },
  })
  const { uploaded_file_number: large } = await begun.json<any>()
  const chunk = { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
  const sent = await apiRequest(`/uploads/${large}`, { method: 'PATCH', headers: chunk, body: 'abcd' })
  expect(sent.status).toBe(204)
  const expired = await upload('gone.mp4')
  await env.DB.prepare('UPDATE uploads SET expires_at = 1 WHERE number = ?').bind(expired).run()

  const list = async (query: string, key?: string) => readJson(`/uploads?${query}`, key === undefined ? {} : { key })
  const first = await list('limit=1')
  expect(first).toEqual({
    uploads: [
      {
        uploaded_file_number: large,
        input: `https://service.test/uploads/${large}`,
        name: 'large.mov',
        content_type: 'application/octet-stream',
        size: 10,
        received: 4,
        state: 'receiving',
        token: null,
        last_job: null,
        created_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ],
    next_cursor: String(large),
  })
  const second = await list(`limit=1&cursor=${first.next_cursor}`)
  expect(second).toMatchObject({
    uploads: [{ uploaded_file_number: small, name: 'a.mp4', size: 3, received: 3, state: 'ready' }],
    next_cursor: null,
  })
  expect((await list('state=ready')).uploads).toHaveLength(1)
  expect((await list('', (await createKey()).key)).uploads).toEqual([])
  expect((await apiRequest('/uploads?state=odd')).status).toBe(400)
  expect((await apiRequest('/uploads', { key: 'wrong' })).status).toBe(401)

  const remove = { method: 'DELETE', headers: { 'tus-resumable': '1.0.0' } }
  for (const number of [large, small]) expect((await apiRequest(`/uploads/${number}`, remove)).status).toBe(204)
  expect((await list('')).uploads).toEqual([])
})

test('an upload is found by any part of its name, and names the newest job that reads it', async () => {
  const film = await upload('Große Übung (2).mov')
  const other = await upload('a.mp4')
  const found = async (text: string) =>
    (await readJson(`/uploads?search=${encodeURIComponent(text)}`)).uploads.map((each: any) => each.name)
  expect(await found(' übung (2)')).toEqual(['Große Übung (2).mov'])
  expect(await found('m')).toEqual(['a.mp4', 'Große Übung (2).mov'])
  expect(await found('%')).toEqual([])
  expect((await apiRequest('/uploads?search=+')).status).toBe(400)

  const ofFile = { cloud_credentials: { input: { cloud_provider: 'file-upload' } } }
  await create({ ...ofFile, input: `${film}` })
  const newest = await create({ ...ofFile, input: undefined, inputs: [{ input: `${other}` }, { input: `${film}` }] })
  // A dry run of the dashboard's form is in no list.
  await postJson('/api/v0/job?dry_run=unlisted', jobBody({ ...ofFile, input: `${other}` }))
  const last = async () => (await readJson('/uploads')).uploads.map((each: any) => each.last_job)
  const job = { id: newest.id, state: 'queued', poster_url: null }
  expect(await last()).toEqual([job, job])
  await env.DB.prepare(`UPDATE jobs SET state = 'completed', poster = ? WHERE id = ?`)
    .bind(JSON.stringify({ attempt: 1, width: 16, height: 9 }), newest.id)
    .run()
  expect((await last())[0]).toEqual({
    id: newest.id,
    state: 'completed',
    poster_url: expect.stringContaining('/1.jpg'),
  })
  await env.DB.prepare('UPDATE jobs SET deleted_at = 1 WHERE id = ?').bind(newest.id).run()
  expect(await last()).toEqual([null, null])
})
