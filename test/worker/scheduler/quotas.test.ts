import { env } from 'cloudflare:workers'
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import { assignSlots } from '../../../worker/scheduler/assignSlots.ts'
import { transitionTask } from '../../../worker/scheduler/transitionTask.ts'
import { app } from '../../../worker/app.ts'
import { insertJob, insertTask } from '../../../worker/db/jobs.ts'
import { listWaitingTasks } from '../../../worker/db/tasks.ts'
import { resealSecrets } from '../../../worker/admin/resealSecrets.ts'
import { boundAddresses } from '../../../worker/storage/jobStores.ts'
import { unseal, seal } from '../../../worker/secrets/vault.ts'
import { BASE_URL, basicAuth, apiRequest, jobBody, postJson, ADMIN_KEY, createKey } from '../support/apiClient.ts'
import { FakeTranscoders } from '../support/fakeTranscoder.ts'
import { newJobRow } from '../support/newJobRow.ts'

beforeEach(async () => {
  const transcoders = new FakeTranscoders()
  transcoders.runStatus = () => 503
  await env.DB.batch([
    env.DB.prepare('DELETE FROM slots'),
    env.DB.prepare('DELETE FROM jobs'),
    env.DB.prepare('DELETE FROM accounts'),
    env.DB.prepare('DELETE FROM uploads'),
  ])
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

function put(account: string, body: unknown): Promise<Response> {
  return apiRequest(`/api/v0/accounts/${account}`, {
    method: 'PUT',
    key: ADMIN_KEY,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

const issue = async (terms: Record<string, unknown>): Promise<string> => (await createKey(terms)).key

let made = 0
/** Only rows, as job creation inserts them. */
async function insert(
  account: string,
  count: number,
  priority = 0,
  kind: 'transcode' | 'plan' = 'transcode',
): Promise<void> {
  const statements: D1PreparedStatement[] = []
  for (let n = 0; n < count; n++) {
    const row = newJobRow(`simulated-${made++}`, { account, priority, now: 1, deadlineAt: Date.now() + 1e9 })
    statements.push(insertJob(env.DB, row, null), insertTask(env.DB, row, `${row.jobId}-0`, kind))
  }
  await env.DB.batch(statements)
}

/** Assigns `slots` slots as the scheduler does; returns how many each account runs. */
async function dispatch(slots: number): Promise<Record<string, number>> {
  const busy = await env.DB.prepare('SELECT COUNT(*) AS n FROM slots').first<number>('n')
  for (let k = busy ?? 0; k < slots; k++) {
    const [task] = await listWaitingTasks(env.DB, Date.now(), 1)
    if (!task) break
    expect((await transitionTask(env, task.id, { type: 'claim' }, { slot: k })).ok).toBe(true)
  }
  const { results } = await env.DB.prepare('SELECT account, COUNT(*) AS n FROM slots GROUP BY account').all<any>()
  return Object.fromEntries(results.map((row) => [row.account, row.n]))
}

test('an account with 1,000 waiting jobs does not keep one with a single job waiting', async () => {
  await insert('many', 1000)
  expect(await dispatch(4)).toEqual({ many: 4 })
  await insert('one', 1)
  expect(await dispatch(5)).toEqual({ many: 4, one: 1 })
})

test('a dry run comes first in its account, and does not take the turn of another', async () => {
  await insert('a', 3)
  await insert('a', 2, 0, 'plan')
  await insert('b', 1)
  const waiting = await listWaitingTasks(env.DB, Date.now(), 10)
  expect(waiting.map(({ account, kind }) => `${account} ${kind}`)).toEqual([
    'a plan',
    'b transcode',
    'a plan',
    ...Array.from({ length: 3 }, () => 'a transcode'),
  ])
})

test('a slot for dry runs takes nothing else, and takes one of an account that may run no more', async () => {
  const kept = { ...env, DRY_RUN_SLOTS: '1', QUEUE: { sendBatch: async () => undefined } as unknown as Queue }
  const held = async () => {
    await assignSlots(kept)
    const { results } = await env.DB.prepare(
      'SELECT k, kind FROM slots JOIN tasks ON tasks.id = slots.task ORDER BY k',
    ).all()
    return results
  }
  await put('a', { max_running: 1 })
  await insert('a', 3)
  expect(await held()).toEqual([{ k: 0, kind: 'transcode' }])
  await insert('a', 2, 0, 'plan')
  expect(await held()).toEqual([
    { k: 0, kind: 'transcode' },
    { k: 1, kind: 'plan' },
  ])
  const health = await (await app.request('/health', {}, kept)).json<any>()
  expect(health.slots).toBe(1)
})

/** Assigns the only slot as the scheduler does; returns the task that gets it. */
async function serveOne(): Promise<{ id: string; account: string; attempt: number }> {
  const [task] = await listWaitingTasks(env.DB, Date.now(), 1)
  if (!task) throw new Error('nothing waits')
  const claimed = await transitionTask(env, task.id, { type: 'claim' }, { slot: 0 })
  if (!claimed.ok) throw new Error(`not claimed: ${claimed.refusal}`)
  const { attempt } = claimed.next
  expect((await transitionTask(env, task.id, { type: 'started', attempt })).ok).toBe(true)
  return { id: task.id, account: task.account, attempt }
}

/** The transcoder's final report frees the slot. */
async function end(task: { id: string; attempt: number }, well: boolean): Promise<void> {
  const { attempt } = task
  const error = { code: 'output_unreachable', message: 'x' } as const
  const event = well ? ({ type: 'finish', attempt } as const) : ({ type: 'attempt_failed', attempt, error } as const)
  expect((await transitionTask(env, task.id, event)).ok).toBe(true)
}

/** Each step advances the clock: what happened first has the earlier time. */
function steps(): () => void {
  let now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  return () => void (now += 120_000)
}

test('with one slot, jobs that are lost repeatedly do not delay another account’s first job', async () => {
  const pass = steps()
  await insert('lossy', 3)
  await insert('other', 1)
  const served: string[] = []
  for (let n = 0; n < 5; n++) {
    const task = await serveOne()
    served.push(task.account)
    // While the lost task waits for its retry, the next task of its account does not take its turn.
    pass()
    await end(task, task.account === 'other')
  }
  expect(served).toEqual(['lossy', 'other', 'lossy', 'lossy', 'lossy'])
})

test('with one slot, accounts take turns, however many jobs one of them sent before', async () => {
  const pass = steps()
  await insert('many', 6)
  await insert('some', 2)
  await insert('one', 1)
  const served: string[] = []
  for (let n = 0; n < 7; n++) {
    const task = await serveOne()
    served.push(task.account)
    pass()
    await end(task, true)
  }
  expect(served).toEqual(['many', 'some', 'one', 'many', 'some', 'many', 'many'])
})

test('a lost job waits until accounts without a turn had theirs', async () => {
  const pass = steps()
  await insert('a', 1)
  await insert('b', 1)
  const lost = await serveOne()
  pass()
  await end(lost, false)
  pass()
  await insert('c', 1)
  const served: string[] = []
  for (let n = 0; n < 3; n++) {
    const task = await serveOne()
    served.push(task.account)
    pass()
    await end(task, true)
  }
  expect([lost.account, ...served]).toEqual(['a', 'b', 'c', 'a'])
})

test('slots are shared by weight, priority goes before, and max_running bounds an account', async () => {
  await insert('a', 50)
  await insert('b', 50)
  expect((await put('b', { weight: 3 })).status).toBe(200)
  expect(await dispatch(8)).toEqual({ a: 2, b: 6 })
  await insert('c', 3, 5)
  expect((await put('c', { max_running: 2 })).status).toBe(200)
  // Two of c first, by priority; its third waits without blocking the others.
  expect(await dispatch(12)).toMatchObject({ c: 2 })
  expect((await dispatch(14))['c']).toBe(2)
  // A claim that was selected before the limit was reached does not exceed it either.
  const third = await env.DB.prepare(`SELECT id FROM tasks WHERE account = 'c' AND state = 'queued'`).first<string>(
    'id',
  )
  expect((await transitionTask(env, third!, { type: 'claim' }, { slot: 90 })).ok).toBe(false)
})

test('active jobs are limited by one statement, also in a race; an end frees a place; a repeated idempotency key is always answered', async () => {
  const key = await issue({ account: 'bounded' })
  await put('bounded', { max_active_jobs: 3 })
  const headers = { 'idempotency-key': 'first' }
  const first = await (await postJson('/api/v0/job', jobBody(), { key, headers })).json<any>()
  const raced = await Promise.all(Array.from({ length: 20 }, () => postJson('/api/v0/job', jobBody(), { key })))
  expect(raced.filter((response) => response.status === 200)).toHaveLength(2)
  const refused = raced.find((response) => response.status !== 200)!
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
  expect((await refused.json<any>()).error.code).toBe('quota_exceeded')
  const other = await postJson('/api/v0/job', jobBody(), { key, headers: { 'idempotency-key': 'second' } })
  expect(other.status).toBe(429)
  expect(await (await postJson('/api/v0/job', jobBody(), { key, headers })).json()).toEqual(first)
  await postJson(`/api/v0/job/${first._auto_generated_id_}/cancel`, {}, { key })
  // The refused request did not use up the idempotency key.
  expect((await postJson('/api/v0/job', jobBody(), { key, headers: { 'idempotency-key': 'second' } })).status).toBe(200)
})

test('a key may send its requests per minute, then gets 429 with Retry-After', async () => {
  const key = await issue({ account: 'slow', requests_per_minute: 5 })
  const now = Date.now()
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now)
  for (let n = 0; n < 5; n++) expect((await apiRequest('/api/v0/job', { key })).status).toBe(200)
  const refused = await apiRequest('/api/v0/job', { key })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '12'])
  expect((await refused.json<any>()).error.code).toBe('rate_limited')
  clock.mockReturnValue(now + 12_000)
  expect((await apiRequest('/api/v0/job', { key })).status).toBe(200)
  expect((await apiRequest('/api/v0/job', { key })).status).toBe(429)
})

test('stored upload bytes of an account and of a key are limited by one statement, also in a race; a deletion frees bytes', async () => {
  const admin = { key: ADMIN_KEY }
  const first = await createKey({ account: 'films', max_stored_upload_bytes: 30 })
  const second = await issue({ account: 'films' })
  await put('films', { max_stored_upload_bytes: 100 })
  const send = (key: string, bytes: number) =>
    apiRequest('/uploads', {
      method: 'POST',
      key,
      body: new Uint8Array(bytes),
      headers: { 'content-length': String(bytes) },
    })
  const raced = await Promise.all(Array.from({ length: 8 }, () => send(first.key, 10)))
  expect(raced.filter(({ status }) => status === 201)).toHaveLength(3)
  const refused = raced.find(({ status }) => status !== 201)!
  // Waiting does not help, so there is no Retry-After.
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null])
  expect((await refused.json<any>()).error).toMatchObject({
    code: 'quota_exceeded',
    message: expect.stringContaining('The uploads of this key use 30 of at most 30 bytes, and this one has 10.'),
    details: { scope: 'key', stored_bytes: 30, maximum: 30, announced_bytes: 10 },
  })
  // The account's other key has no limit of its own but shares the account's; a resumable upload counts from its start.
  const tus = (length: number) =>
    apiRequest('/uploads', {
      method: 'POST',
      key: second,
      headers: { 'tus-resumable': '1.0.0', 'upload-length': String(length) },
    })
  const begun = await tus(60)
  expect(begun.status).toBe(201)
  const full = await tus(11)
  expect([full.status, (await full.json<any>()).error.details]).toEqual([
    429,
    { scope: 'account', stored_bytes: 90, maximum: 100, announced_bytes: 11 },
  ])
  expect((await tus(10)).status).toBe(201)
  const { uploaded_file_number: number } = await raced.find(({ status }) => status === 201)!.json<any>()
  expect((await apiRequest(`/uploads/${number}`, { method: 'DELETE', key: first.key })).status).toBe(204)
  // What a key uploaded counts for the key that replaces it.
  const { key: next } = await (await postJson(`/api/v0/keys/${first.id}/rotate`, {}, admin)).json<any>()
  expect((await send(next, 11)).status).toBe(429)
  expect((await send(next, 10)).status).toBe(201)
  // Another account does not share this limit.
  expect((await send(await issue({ account: 'other' }), 200)).status).toBe(201)
})

test('a form is counted by its length while it comes, and by its file when it is there', async () => {
  const key = await issue({ account: 'forms', max_stored_upload_bytes: 1000 })
  const form = () => {
    const body = `--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp4"\r\n\r\n${'x'.repeat(400)}\r\n--b--\r\n`
    return apiRequest('/uploads', {
      method: 'POST',
      key,
      body,
      headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(body.length) },
    })
  }
  expect([(await form()).status, (await form()).status]).toEqual([201, 201])
  const bytes = env.DB.prepare(`SELECT SUM(size) AS n FROM uploads WHERE account = 'forms'`)
  expect(await bytes.first('n')).toBe(800)
})

test('where the platform’s rate limit is bound, it is asked for each key', async () => {
  const [one, other] = [await issue({ account: 'one' }), await issue({ account: 'other' })]
  const bound = { ...env, RATE_LIMIT: env.TEST_RATE_LIMIT } as unknown as Env
  const ask = async (key: string): Promise<Response> => {
    const context = createExecutionContext()
    const request = new Request('https://service.test/api/v0/job', { headers: { authorization: basicAuth(key) } })
    const response = await app.fetch(request, bound, context)
    await waitOnExecutionContext(context)
    return response
  }
  for (let n = 0; n < 3; n++) expect((await ask(one)).status).toBe(200)
  const refused = await ask(one)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  expect((await refused.json<any>()).error.code).toBe('rate_limited')
  expect((await ask(other)).status).toBe(200)
  // Without a limit of its own, the service's default applies to each account.
  expect((await apiRequest('/api/v0/job', { key: one })).status).toBe(200)
})

test('the priority of a key is that of its jobs, and survives its rotation', async () => {
  const { id } = await createKey({ account: 'urgent', priority: 7 })
  const { key, priority } = await (await postJson(`/api/v0/keys/${id}/rotate`, {}, { key: ADMIN_KEY })).json<any>()
  expect(priority).toBe(7)
  await postJson('/api/v0/job', jobBody(), { key })
  const row = env.DB.prepare(`SELECT priority FROM tasks WHERE account = 'urgent'`)
  expect(await row.first('priority')).toBe(7)
})

test('accounts need the admin scope, and only known quotas are accepted', async () => {
  expect((await apiRequest('/api/v0/accounts')).status).toBe(403)
  expect((await put('x', { weight: 0 })).status).toBe(400)
  expect((await put('x', { slots: 3 })).status).toBe(400)
  expect((await put('Not-A-Name', {})).status).toBe(404)
  expect(await (await put('x', { max_running: 2 })).json()).toEqual({
    account: 'x',
    max_active_jobs: 10_000,
    max_running: 2,
    max_stored_upload_bytes: null,
    weight: 1,
    spend_cap: null,
    spend_webhook_url: null,
  })
})

test('metrics are for admins, in the text format of Prometheus', async () => {
  expect((await apiRequest('/metrics')).status).toBe(403)
  await insert('m', 2)
  const response = await apiRequest('/metrics', { key: ADMIN_KEY })
  expect(response.headers.get('content-type')).toContain('version=0.0.4')
  const text = await response.text()
  expect(text).toContain('splicepoint_jobs_active{state="queued"} 2\n')
  expect(text).toMatch(/^splicepoint_queue_age_seconds\{kind="job"\} [1-9]/m)
  for (const line of text.trim().split('\n')) {
    expect(line).toMatch(/^(# (HELP|TYPE) splicepoint_\w+ .+|splicepoint_\w+(\{(\w+="[^"\\]*",?)+\})? [\d.e+-]+)$/)
  }
})

function checkedConfig(): JobConfig {
  const checked = validateJob(jobBody(), { baseUrl: BASE_URL })
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems))
  return checked.config
}

test('what an older key sealed is sealed again by the newest, in batches, and opens without the older one', async () => {
  const older = 'k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE='
  const newer = 'k2:YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXowMTIzNDU='
  await insert('v', 5)
  const config = checkedConfig()
  await env.DB.prepare('UPDATE jobs SET config = ?').bind(JSON.stringify(config)).run()
  const addresses = boundAddresses(config)
  const { results } = await env.DB.prepare('SELECT id, job_id FROM jobs ORDER BY id').all<any>()
  for (const row of results) {
    const sealed = await seal(env, 'v', row.job_id, 'secrets', { of: row.job_id }, addresses)
    await env.DB.prepare('UPDATE jobs SET sealed = ? WHERE id = ?').bind(sealed, row.id).run()
  }
  const both = { ...env, VAULT_KEYS: `${newer},${older}` } as Env
  const start = { job: 0, key: '' }
  const first = await resealSecrets(both, start, 3)
  expect(first).toMatchObject({ key_id: 'k2', resealed: 3, done: false, unreadable: [] })
  expect(await resealSecrets(both, { ...start, job: first.next }, 3)).toMatchObject({ resealed: 2, done: true })
  expect(await resealSecrets(both, start, 3)).toMatchObject({ resealed: 0, done: true })
  // Webhook addresses of keys are encrypted with the same key ring.
  const hooked = await issue({ account: 'v', webhook_url: 'https://hooks.test/in?token=HOOKSECRET' })
  const id = hooked.split('.')[0]!
  expect(await resealSecrets(both, start, 3)).toMatchObject({ resealed: 1, done: true, unreadable_keys: [] })
  const row = (await env.DB.prepare('SELECT * FROM api_keys WHERE id = ?').bind(id).first<any>())!
  expect(JSON.stringify(row)).not.toContain('HOOKSECRET')
  const alone = { ...env, VAULT_KEYS: newer } as Env
  expect(await unseal(alone, 'v', id, 'webhook_url', row.webhook_sealed)).toBe('https://hooks.test/in?token=HOOKSECRET')
  await env.DB.prepare('UPDATE api_keys SET webhook_sealed = NULL WHERE id = ?').bind(id).run()
  for (const row of results) {
    const sealed = await env.DB.prepare('SELECT sealed FROM jobs WHERE id = ?').bind(row.id).first<string>('sealed')
    expect(await unseal(alone, 'v', row.job_id, 'secrets', sealed!, addresses)).toEqual({ of: row.job_id })
  }
  expect((await postJson('/api/v0/vault/rotate', {})).status).toBe(403)
  expect(await (await postJson('/api/v0/vault/rotate', {}, { key: ADMIN_KEY })).json()).toMatchObject({ key_id: 'k1' })
})
