import { env } from 'cloudflare:workers'
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { retryDelayMs } from '#contract/api/webhookMessage.ts'
import { STEP_TIMEOUT_MS } from '../../support/timeouts.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { apiRequest, jobBody, postJson, ADMIN_KEY, readJson, createKey, createJob } from '../support/apiClient.ts'
import type { FakeAttempt } from '../support/fakeTranscoder.ts'
import { clockOffsetMs, advanceClock, startNextAttempt } from '../support/jobFixture.ts'

const HOOK = 'https://hooks.test/in?token=TOPSECRET'
const HOUR = 3600_000

interface Received {
  url: string
  headers: Record<string, string>
  body: string
  redirect: string | undefined
}

let received: Received[]
let answer: () => Response | Promise<Response>

beforeEach(() => {
  received = []
  answer = () => new Response('ok')
  const others = globalThis.fetch
  vi.stubGlobal('fetch', async (input: string, init?: RequestInit) => {
    if (new URL(new Request(input, init).url).hostname !== 'hooks.test') return others(input, init)
    received.push({
      url: input,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: await new Response(init?.body).text(),
      redirect: init?.redirect,
    })
    return answer()
  })
})
afterEach(async () => void (await env.DB.prepare('DELETE FROM webhooks').run()))

const create = (change: Record<string, unknown> = { webhook_url: HOOK }) => createJob(change)

async function finished(change?: Record<string, unknown>): Promise<[number, FakeAttempt]> {
  const id = await create(change)
  const attempt = await startNextAttempt()
  await attempt.complete()
  return [id, attempt]
}

const deliveries = async (id: number) => (await readJson(`/api/v0/job/${id}/webhooks`)).deliveries
const webhookScheduler = (attempt: FakeAttempt) => env.COURIER.get(env.COURIER.idFromName(attempt.job))
const settled = (id: number, tries: number) =>
  vi.waitUntil(async () => (await deliveries(id))[0]?.attempts.length === tries, {
    timeout: STEP_TIMEOUT_MS,
    interval: 20,
  })

async function rotate(): Promise<string> {
  const response = await postJson('/api/v0/webhooks/secret/rotate', {})
  expect(response.status).toBe(201)
  return (await response.json<any>()).secret
}

test('the end of a job is delivered once, signed as an independent verifier expects, without secrets', async () => {
  const secret = await rotate()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const [id, attempt] = await finished({ webhook_url: HOOK, metadata: { customer: '42' } })
  await settled(id, 1)
  expect(received).toHaveLength(1)
  const [message] = received
  expect(message?.url).toBe(HOOK)
  const payload = new Webhook(secret).verify(message!.body, message!.headers) as any
  expect(payload).toMatchObject({
    type: 'job.completed',
    data: { _auto_generated_id_: id, job_id: attempt.job, state: 'completed', error: null, outputs_total: 1 },
  })
  expect(payload.data.metadata).toEqual({ customer: '42' })
  expect(payload.data.outputs[0]).toMatchObject({ path: 'film.mp4', size: 6 })
  expect(message?.body).not.toMatch(/TOPSECRET|url|\/o\//)
  expect(() => new Webhook(secret).verify(message!.body.replace('completed', 'failed'), message!.headers)).toThrow()
  expect(await deliveries(id)).toMatchObject([
    {
      event: 'job.completed',
      state: 'delivered',
      tries: 1,
      next_try_at: null,
      attempts: [{ status: 200, error: null }],
    },
  ])
  // The address is shown without its query; the secret is not stored in plain text in the database.
  expect(await (await apiRequest(`/api/v0/job/${id}`)).text()).not.toContain('TOPSECRET')
  expect(JSON.stringify((await env.DB.prepare('SELECT * FROM accounts').all()).results)).not.toContain(secret.slice(6))
})

test('after a rotation both secrets verify for a day, then only the new one', async () => {
  const old = await rotate()
  const now = await rotate()
  expect(now).not.toBe(old)
  const [id, attempt] = await finished()
  await settled(id, 1)
  for (const secret of [old, now]) new Webhook(secret).verify(received[0]!.body, received[0]!.headers)
  advanceClock(25 * HOUR)
  await postJson(`/api/v0/job/${id}/webhooks/${received[0]!.headers['webhook-id']}/replay`, {})
  await runDurableObjectAlarm(webhookScheduler(attempt))
  await settled(id, 2)
  expect(received[1]?.headers['webhook-id']).toBe(received[0]?.headers['webhook-id'])
  expect(received[1]?.headers['webhook-signature']?.split(' ')).toHaveLength(1)
})

test('what is not answered with success is tried again with back-off for a day, then given up; a replay starts over', async () => {
  answer = () => new Response('no', { status: 500 })
  const [id, attempt] = await finished()
  await settled(id, 1)
  for (let n = 2; n <= 11; n++) {
    expect((await deliveries(id))[0]).toMatchObject({ state: 'pending', tries: n - 1 })
    // Not before its time.
    await runDurableObjectAlarm(webhookScheduler(attempt))
    expect(received).toHaveLength(n - 1)
    advanceClock(retryDelayMs(n - 1, 500)! + 1000)
    await runDurableObjectAlarm(webhookScheduler(attempt))
    expect(received).toHaveLength(n)
  }
  const [failed] = await deliveries(id)
  expect(failed).toMatchObject({ state: 'failed', tries: 11 })
  expect(failed.attempts.at(-1)).toMatchObject({ status: 500, error: 'The receiver answered 500.' })
  expect(clockOffsetMs).toBeGreaterThan(23 * HOUR)
  expect(new Set(received.map((message) => message.headers['webhook-id'])).size).toBe(1)
  answer = () => new Response(null, { status: 204 })
  const replayed = await postJson(`/api/v0/job/${id}/webhooks/${failed.id}/replay`, {})
  expect(replayed.status).toBe(202)
  await runDurableObjectAlarm(webhookScheduler(attempt))
  await settled(id, 12)
  expect((await deliveries(id))[0]).toMatchObject({ state: 'delivered', tries: 1 })
  expect((await postJson(`/api/v0/job/${id}/webhooks/msg_other/replay`, {})).status).toBe(404)
})

test('a redirect is not followed, and an address that is not public is not called', async () => {
  answer = () => new Response(null, { status: 302, headers: { location: 'https://hooks.test/elsewhere' } })
  const [id] = await finished()
  await settled(id, 1)
  expect((await deliveries(id))[0]).toMatchObject({ state: 'pending', attempts: [{ status: null }] })
  for (const address of ['http://127.0.0.1/x', 'http://[::1]/', 'https://metadata.internal/']) {
    const hidden = await create()
    // As if a deployment with other settings had accepted it.
    await env.DB.prepare(`UPDATE jobs SET config = json_set(config, '$.webhook_url', ?2) WHERE id = ?1`)
      .bind(hidden, address)
      .run()
    await postJson(`/api/v0/job/${hidden}/cancel`, {})
    await settled(hidden, 1)
    expect((await deliveries(hidden))[0].attempts[0]).toMatchObject({ status: null })
  }
  // It may have been tried again meanwhile.
  expect(new Set(received.map(({ url }) => url))).toEqual(new Set([HOOK]))
  expect((await postJson('/api/v0/job', jobBody({ webhook_url: 'https://u:p@hooks.test/' }))).status).toBe(400)
})

test('an address that is not public is refused when the job is created, behind a query and with a retry too', async () => {
  for (const address of [
    'http://127.0.0.1/x?y',
    'http://[::1]/',
    'https://metadata.internal/',
    'http://10.1.2.3:8080/',
  ]) {
    const refused = await postJson('/api/v0/job', jobBody({ webhook_url: address }))
    expect(refused.status).toBe(400)
    expect((await refused.json<any>()).error).toMatchObject({
      code: 'invalid_request',
      field: 'webhook_url',
      details: [{ code: 'address_refused', field: 'webhook_url' }],
    })
  }
  for (const none of [null, '']) {
    expect((await postJson('/api/v0/job', jobBody({ webhook_url: none }))).status).toBe(200)
  }
  const id = await create({})
  await postJson(`/api/v0/job/${id}/cancel`, {})
  const again = await postJson(`/api/v0/job/${id}/retry`, { webhook_url: 'http://192.168.0.1/' })
  expect([again.status, (await again.json<any>()).error.field]).toEqual([400, 'webhook_url'])
  // A private address that the deployment allows is accepted.
  await create({ webhook_url: 'https://logo.test/hook' })
})

test('a job without webhook_url uses the key’s; null means none given; an empty one disables it; the address is sealed, changed by admins, and deleted with its key', async () => {
  const admin = { key: ADMIN_KEY }
  const { id: keyId, key, webhook_url } = await createKey({ account: 'default', webhook_url: HOOK })
  expect(webhook_url).toBe('https://hooks.test/in?…')
  expect(JSON.stringify((await env.DB.prepare('SELECT * FROM api_keys').all()).results)).not.toContain('TOPSECRET')
  const cancelled = async (change: Record<string, unknown>, by = key): Promise<number> => {
    const id = await createJob(change, { key: by })
    await postJson(`/api/v0/job/${id}/cancel`, {})
    return id
  }
  const notified = await cancelled({})
  await settled(notified, 1)
  expect(received.map(({ url }) => url)).toEqual([HOOK])
  const { config } = await readJson(`/api/v0/job/${notified}`)
  expect(config.webhook_url).toBe('https://hooks.test/in?…')
  expect(await deliveries(await cancelled({ webhook_url: null }))).toHaveLength(1)
  expect(await deliveries(await cancelled({ webhook_url: '' }))).toEqual([])
  const own = await cancelled({ webhook_url: 'https://hooks.test/own' })
  await settled(own, 1)
  expect(received.at(-1)?.url).toBe('https://hooks.test/own')

  // A rotated key keeps it; nothing of a revoked key can be decrypted.
  const rotated = await (await postJson(`/api/v0/keys/${keyId}/rotate`, {}, admin)).json<any>()
  expect(rotated.webhook_url).toBe(webhook_url)
  const sealed = env.DB.prepare('SELECT webhook_sealed FROM api_keys WHERE id = ?')
  expect(await sealed.bind(keyId).first('webhook_sealed')).toBeNull()
  await settled(await cancelled({}, rotated.key), 1)
  expect(received.at(-1)?.url).toBe(HOOK)

  const patch = (id: string, body: unknown, who = admin) =>
    apiRequest(`/api/v0/keys/${id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...who,
    })
  const changed = await (await patch(rotated.id, { webhook_url: null, label: 'quiet', priority: 3 })).json<any>()
  expect(changed).toMatchObject({ webhook_url: null, label: 'quiet', priority: 3, account: 'default' })
  expect(await sealed.bind(rotated.id).first('webhook_sealed')).toBeNull()
  expect((await (await patch(rotated.id, { max_stored_upload_bytes: 5 })).json<any>()).label).toBe('quiet')
  for (const bad of [
    { webhook_url: 'http://127.0.0.1/' },
    { webhook_url: 'https://u:p@hooks.test/' },
    { webhook_url: 'x' },
    // As in answers.
    { webhook_url: 'https://hooks.test/in?…' },
  ]) {
    const refused = await patch(rotated.id, bad)
    expect([refused.status, (await refused.json<any>()).error.field]).toEqual([400, 'webhook_url'])
    expect((await postJson('/api/v0/keys', bad, admin)).status).toBe(400)
  }
  for (const bad of [{ account: 'x' }, { scopes: ['admin'] }, { priority: 11 }, { max_stored_upload_bytes: -1 }]) {
    expect((await patch(rotated.id, bad)).status, JSON.stringify(bad)).toBe(400)
  }
  expect((await patch(keyId, { label: 'revoked' })).status).toBe(404)
  expect((await patch(rotated.id, {}, { key: rotated.key })).status).toBe(403)
})

test('410 ends the retries, the end of a cancelled job is delivered, and racing ends deliver once', async () => {
  answer = () => new Response(null, { status: 410 })
  const id = await create()
  await startNextAttempt()
  await Promise.all(Array.from({ length: 5 }, () => postJson(`/api/v0/job/${id}/cancel`, {})))
  await settled(id, 1)
  expect(await deliveries(id)).toMatchObject([{ event: 'job.cancelled', state: 'failed', tries: 1 }])
})

test('a webhook scheduler that could not be woken is woken by the reconciler', async () => {
  const id = await create()
  const attempt = await startNextAttempt()
  vi.spyOn(env.COURIER, 'get').mockImplementation(() => {
    throw new Error('lost')
  })
  await attempt.fail('source_not_media')
  vi.restoreAllMocks()
  expect(await deliveries(id)).toMatchObject([{ event: 'job.failed', state: 'pending', tries: 0 }])
  advanceClock(3 * 60_000)
  await reconcile(env, Infinity)
  await runDurableObjectAlarm(webhookScheduler(attempt))
  await settled(id, 1)
  expect(JSON.parse(received[0]!.body).data.error).toEqual({ code: 'source_not_media', message: 'x' })
})

test('a webhook scheduler that is woken while it finishes still sends the delivery, without the reconciler', async () => {
  // The alarm's last read before it would go to sleep; it has not seen anything that happens after it.
  let reads = 0
  let of = 0
  let afterLast: (() => Promise<void>) | null = null
  const prototype = Object.getPrototypeOf(env.DB) as D1Database
  // oxlint-disable-next-line typescript/unbound-method -- called with the database of the caller below
  const prepare = prototype.prepare
  vi.spyOn(prototype, 'prepare').mockImplementation(function (this: D1Database, sql) {
    const statement = prepare.call(this, sql)
    if (!sql.startsWith('SELECT * FROM webhooks WHERE job') || afterLast === null) return statement
    const bound = statement.bind.bind(statement)
    return Object.assign(statement, {
      bind(...values: unknown[]) {
        const made = bound(...values)
        const all = made.all.bind(made)
        return Object.assign(made, {
          async all() {
            const answer = await all()
            // Webhook schedulers of other jobs read as well.
            const then = values[0] === of && ++reads === 2 ? afterLast : null
            if (then) afterLast = null
            await then?.()
            return answer
          },
        })
      },
    })
  })
  const id = await create()
  of = id
  const attempt = await startNextAttempt()
  afterLast = async () => {
    const { results } = await env.DB.prepare('SELECT id FROM webhooks WHERE job = ?').bind(id).all<{ id: string }>()
    expect((await postJson(`/api/v0/job/${id}/webhooks/${results[0]!.id}/replay`, {})).status).toBe(202)
  }
  await attempt.complete()
  // No other read may happen until then.
  await vi.waitUntil(() => afterLast === null, { timeout: STEP_TIMEOUT_MS, interval: 5 })
  await settled(id, 2)
  expect(received).toHaveLength(2)
  await expect
    .poll(() => runInDurableObject(webhookScheduler(attempt), async (_, state) => (await state.storage.list()).size))
    .toBe(0)
})

test('a job without webhook_url makes no delivery', async () => {
  const id = await create({})
  await postJson(`/api/v0/job/${id}/cancel`, {})
  expect(await deliveries(id)).toEqual([])
})
