import { env } from 'cloudflare:workers'
import { runDurableObjectAlarm } from 'cloudflare:test'
import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, test, vi } from 'vitest'
import { retryDelayMs } from '#contract/api/webhookMessage.ts'
import { STEP_TIMEOUT_MS } from '../../support/timeouts.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { applyEvent } from '../../../worker/scheduler/applyEvent.ts'
import { ADMIN_KEY, apiRequest, createJob, createKey, jobBody, postJson, readJson } from '../support/apiClient.ts'
import { requestWithEnv } from '../support/appRequest.ts'
import { advanceClock } from '../support/jobFixture.ts'

const HOOK = 'https://hooks.test/spending'

let accounts = 0
let key: string
let account: string
let received: { headers: Record<string, string>; body: string }[]
let answer: () => Response

beforeEach(async () => {
  account = `capped-${accounts++}`
  key = (await createKey({ account })).key
  received = []
  answer = () => new Response('ok')
  const others = globalThis.fetch
  vi.stubGlobal('fetch', async (input: string, init?: RequestInit) => {
    if (new URL(new Request(input, init).url).hostname !== 'hooks.test') return others(input, init)
    const body = await new Response(init?.body).text()
    received.push({ headers: Object.fromEntries(new Headers(init?.headers)), body })
    return answer()
  })
})

function setCap(cap: number | null, url: string | null = null): Promise<Response> {
  const body = JSON.stringify({ spend_cap: cap, spend_webhook_url: url })
  const headers = { 'content-type': 'application/json' }
  return apiRequest(`/api/v0/accounts/${account}/spend-cap`, { method: 'PUT', body, headers, key: ADMIN_KEY })
}

const create = (query = '', headers = {}) => postJson(`/api/v0/job${query}`, jobBody(), { key, headers })

/** Ends a queued or running job with this cost: an hour of CPU costs 3.60 EUR. */
async function completeWithCost(id: number, amount: number): Promise<void> {
  const { task, jobId } = (await env.DB.prepare(
    `SELECT tasks.id AS task, jobs.job_id AS jobId FROM tasks JOIN jobs ON jobs.id = tasks.job WHERE jobs.id = ?1`,
  )
    .bind(id)
    .first<{ task: string; jobId: string }>())!
  await env.DB.prepare(`UPDATE tasks SET state = 'committing', attempt = 1 WHERE id = ?1`).bind(task).run()
  const options = { cpuSeconds: amount * 1000, delivery: { report: null, stills: 0, bytes: 0 } }
  expect((await applyEvent(env, { id: task, jobId }, { type: 'committed', attempt: 1 }, options)).ok).toBe(true)
}

const notices = async (): Promise<any[]> => (await readJson('/api/v0/usage', { key })).notices
const delivered = (count: number) =>
  vi.waitUntil(async () => (await notices()).filter(({ state }) => state === 'delivered').length === count, {
    timeout: STEP_TIMEOUT_MS,
    interval: 20,
  })
const scheduler = () => env.COURIER.get(env.COURIER.idFromName(`account:${account}`))

test('a job is refused once the cap is spent, and says what, how much and until when', async () => {
  expect((await setCap(10)).status).toBe(200)
  const jobs = [await createJob({}, { key }), await createJob({}, { key })]
  const first = await create('', { 'idempotency-key': account })
  const accepted = await first.json<any>()
  await completeWithCost(jobs[0]!, 10)
  const refused = await create()
  expect(refused.status).toBe(402)
  const { error } = await refused.json<any>()
  const resetsAt = error.details.resets_at
  expect(error).toMatchObject({
    code: 'spend_cap_reached',
    message: `This account has spent 10.00 EUR this month, and its spend cap is 10.00 EUR. The next month begins at ${resetsAt}; an administrator can raise the cap. Accepted jobs continue, and dry runs are allowed.`,
    details: { spend_cap: 10, spent: 10, expected: 20, unfinished_jobs: 2, currency: 'EUR', resets_at: resetsAt },
  })
  expect(new Date(resetsAt).getTime()).toBe(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 1))
  // What was accepted stays accepted: the job runs on, and its key gives the same answer.
  expect((await (await create('', { 'idempotency-key': account })).json<any>()).job_id).toBe(accepted.job_id)
  await completeWithCost(jobs[1]!, 1)
  const number = accepted._auto_generated_id_
  expect((await postJson(`/api/v0/job/${number}/cancel`, {}, { key })).status).toBe(200)
  expect((await postJson(`/api/v0/job/${number}/retry`, {}, { key })).status).toBe(402)
  expect((await create('?dry_run=true')).status).toBe(200)
  // Another account is not affected, and a raised cap helps at once.
  expect((await postJson('/api/v0/job', jobBody())).status).toBe(200)
  await setCap(20)
  expect((await create()).status).toBe(200)
  const { spend_cap: cap } = await readJson('/api/v0/usage', { key })
  expect(cap).toEqual({ amount: 20, spent: 11, currency: 'EUR', resets_at: resetsAt })
})

test('the next month begins with nothing spent', async () => {
  await setCap(1)
  await completeWithCost(await createJob({}, { key }), 5)
  const refusals = async (): Promise<number> => {
    const metrics = await (await apiRequest('/metrics', { key: ADMIN_KEY })).text()
    return Number(/^splicepoint_jobs_refused_total\{reason="spend_cap"\} (\d+)$/m.exec(metrics)?.[1])
  }
  const before = await refusals()
  expect((await create()).status).toBe(402)
  expect(await refusals()).toBe(before + 1)
  const { resets_at: resetsAt } = (await readJson('/api/v0/usage', { key })).spend_cap
  advanceClock(Date.parse(resetsAt) - Date.now() + 1000)
  expect((await create()).status).toBe(200)
})

test('many requests at once are accepted for what is left of the cap, at the average cost of a job', async () => {
  await setCap(10)
  await completeWithCost(await createJob({}, { key }), 2)
  // 8 EUR are left: four jobs at 2 EUR.
  const answers = await Promise.all(Array.from({ length: 20 }, () => create()))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(4)
  const refused = answers.filter(({ status }) => status === 402)
  expect(refused).toHaveLength(16)
  expect((await refused[0]!.json<any>()).error).toMatchObject({
    code: 'spend_cap_reached',
    message: expect.stringContaining('expected to cost 8.00 EUR more, which reaches its spend cap of 10.00 EUR'),
    details: { spent: 2, expected: 8, unfinished_jobs: 4 },
  })
})

test('the quota of active jobs is named where it is the limit', async () => {
  await setCap(1000)
  await completeWithCost(await createJob({}, { key }), 2)
  const body = JSON.stringify({ max_active_jobs: 1 })
  const headers = { 'content-type': 'application/json' }
  await apiRequest(`/api/v0/accounts/${account}`, { method: 'PUT', body, headers, key: ADMIN_KEY })
  expect((await create()).status).toBe(200)
  expect((await create()).status).toBe(429)
  // Quotas do not change the cap.
  const { accounts: all } = await readJson('/api/v0/accounts', { key: ADMIN_KEY })
  expect(all.find((each: any) => each.account === account)).toMatchObject({ max_active_jobs: 1, spend_cap: 1000 })
})

test('a webhook at 80 % and at 100 %, each once a month, signed, also when jobs end at once', async () => {
  const { secret } = await (await postJson('/api/v0/webhooks/secret/rotate', {}, { key })).json<any>()
  await setCap(10, HOOK)
  const jobs = await Promise.all(Array.from({ length: 4 }, () => createJob({}, { key })))
  await completeWithCost(jobs[0]!, 7.9)
  expect(await notices()).toEqual([])
  await Promise.all([completeWithCost(jobs[1]!, 0.1), completeWithCost(jobs[2]!, 0.2)])
  await delivered(1)
  await completeWithCost(jobs[3]!, 2)
  await delivered(2)
  const messages = received.map(({ body, headers }) => new Webhook(secret).verify(body, headers) as any)
  expect(messages.map(({ type, data }) => [type, data.percent, data.spend_cap, data.currency])).toEqual([
    ['spend_cap.warning', 80, 10, 'EUR'],
    ['spend_cap.reached', 100, 10, 'EUR'],
  ])
  expect(messages[0].data.spent).toBeGreaterThanOrEqual(8)
  expect(messages[1].data).toMatchObject({ account, spent: 10.2, resets_at: expect.stringMatching(/-01T00:00:00/) })
  // No more for this month; setting the same cap again tells nothing new, a cap that is lower already reached does.
  await setCap(10, HOOK)
  expect(await notices()).toHaveLength(2)
  await setCap(5, HOOK)
  await delivered(4)
  expect(received).toHaveLength(4)
})

test('a webhook is repeated until it is accepted, and found again when its alarm was lost', async () => {
  answer = () => new Response('no', { status: 503 })
  await setCap(1, HOOK)
  await completeWithCost(await createJob({}, { key }), 0.85)
  await vi.waitUntil(async () => (await notices())[0]?.tries === 1, { timeout: STEP_TIMEOUT_MS, interval: 20 })
  answer = () => new Response('ok')
  advanceClock(retryDelayMs(1, 503)! + 1000)
  await runDurableObjectAlarm(scheduler())
  await delivered(1)
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  await env.DB.prepare(`UPDATE spend_notices SET state = 'pending', next_at = 1 WHERE account = ?1`).bind(account).run()
  await reconcile(env, Infinity)
  await runDurableObjectAlarm(scheduler())
  await delivered(1)
  expect(received).toHaveLength(3)
})

test('a cap needs a price list, an amount, and an address that may be called', async () => {
  const path = `/api/v0/accounts/${account}/spend-cap`
  const put = (body: unknown, where: Env = env) => requestWithEnv(where, 'PUT', path, body)
  for (const [body, field] of [
    [{ spend_cap: -1 }, 'spend_cap'],
    [{ spend_cap: '5' }, 'spend_cap'],
    [{ spend_cap: 0.0000001 }, 'spend_cap'],
    [{}, 'spend_cap'],
    [{ spend_cap: 5, spend_webhook_url: 'ftp://hooks.test/' }, 'spend_webhook_url'],
    [{ spend_cap: 5, spend_webhook_url: 'http://127.0.0.1/' }, 'spend_webhook_url'],
    [{ spend_cap: 5, spend_webhook_url: 'https://hooks.test/?token=SECRET' }, 'spend_webhook_url'],
    [{ spend_cap: 5, cap: 5 }, 'cap'],
  ] as const) {
    const [status, { error }] = await put(body)
    expect([status, error.field], JSON.stringify(body)).toEqual([400, field])
    expect(JSON.stringify(error)).not.toContain('SECRET')
  }
  const [status, { error }] = await put({ spend_cap: 5 }, { ...env, USAGE_PRICES: '' })
  expect([status, error.message]).toEqual([
    400,
    'spend_cap needs a price list: set USAGE_PRICES first (docs/usage.md).',
  ])
  expect((await apiRequest(path, { method: 'PUT', key, body: '{}' })).status).toBe(403)
})
