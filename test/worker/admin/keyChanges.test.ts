// In charge of: changing and replacing an API key, and webhook addresses that can no longer be decrypted.
import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { resealSecrets } from '../../../worker/admin/resealSecrets.ts'
import { unseal } from '../../../worker/secrets/vault.ts'
import { requestWithEnv } from '../support/appRequest.ts'
import { apiRequest, jobBody, ADMIN_KEY, errorCode, createKey, postJson } from '../support/apiClient.ts'
import { runBefore } from '../support/raceBefore.ts'

const HOOK = 'https://hooks.test/in?token=HOOKSECRET'
const NEWER = 'k2:YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXowMTIzNDU='
const other = (change: Partial<Env>): Env => ({ ...env, ...change })

const rowOf = (id: string) => env.DB.prepare('SELECT * FROM api_keys WHERE id = ?').bind(id).first<any>()

test('a change of a key undoes neither another one nor a new sealing that come in between', async () => {
  const { id } = await createKey({ account: 'race', webhook_url: HOOK })
  const meanwhile = async () => {
    await resealSecrets(other({ VAULT_KEYS: `${NEWER},${env.VAULT_KEYS}` }), { job: 0, key: '' }, 100)
    await requestWithEnv(env, 'PATCH', `/api/v0/keys/${id}`, { priority: 4 })
  }
  const raced = other({ DB: runBefore(env.DB, 'UPDATE api_keys SET', meanwhile) })
  const [status, answer] = await requestWithEnv(raced, 'PATCH', `/api/v0/keys/${id}`, { label: 'late' })
  expect([status, answer.label, answer.priority]).toEqual([200, 'late', 4])
  const row = await rowOf(id)
  expect([row.label, row.priority]).toEqual(['late', 4])
  expect(await unseal(other({ VAULT_KEYS: NEWER }), 'race', id, 'webhook_url', row.webhook_sealed)).toBe(HOOK)
  // An empty change is not an error.
  expect(await requestWithEnv(env, 'PATCH', `/api/v0/keys/${id}`, {})).toMatchObject([200, { id, label: 'late' }])
  await apiRequest(`/api/v0/keys/${id}`, { method: 'DELETE', key: ADMIN_KEY })
})

test('a job of a key whose address is lost is made without it, and says so', async () => {
  const { key } = await createKey({ account: 'lost', webhook_url: HOOK })
  const ringless = other({ VAULT_KEYS: NEWER })
  const [status, answer] = await requestWithEnv(ringless, 'POST', '/api/v0/job', jobBody(), key)
  expect([status, answer.warnings]).toEqual([
    200,
    [{ code: 'webhook_left_out', field: 'webhook_url', message: expect.stringContaining('no webhook will be sent') }],
  ])
  const stored = env.DB.prepare('SELECT config, webhook FROM jobs WHERE id = ?').bind(answer._auto_generated_id_)
  const { config, webhook } = (await stored.first<any>())!
  expect([JSON.parse(config).webhook_url, webhook]).toEqual([undefined, 0])
  // A job that has its own webhook address, or none, gives no warning.
  for (const webhook_url of ['', 'https://hooks.test/own']) {
    expect(await requestWithEnv(ringless, 'POST', '/api/v0/job', jobBody({ webhook_url }), key)).toMatchObject([
      200,
      { warnings: [] },
    ])
  }
})

test('a key whose webhook address cannot be decrypted can be replaced: the new one has none, and the response says so', async () => {
  const { id } = await createKey({ account: 'lost', label: 'x', webhook_url: HOOK })
  const [status, made] = await requestWithEnv(other({ VAULT_KEYS: NEWER }), 'POST', `/api/v0/keys/${id}/rotate`, {})
  expect([status, made.webhook_url, made.label]).toEqual([201, null, 'x'])
  expect(made.warnings).toMatchObject([{ code: 'webhook_left_out', field: 'webhook_url' }])
  expect((await rowOf(id)).revoked_at).not.toBeNull()
  // A key whose address can be decrypted is rotated without a warning.
  const whole = await createKey({ account: 'lost', webhook_url: HOOK })
  expect(await requestWithEnv(env, 'POST', `/api/v0/keys/${whole.id}/rotate`, {})).toMatchObject([
    201,
    { webhook_url: 'https://hooks.test/in?…', warnings: [] },
  ])
})

test('an empty VAULT_KEYS does not remove a key’s webhook address', async () => {
  const { id } = await createKey({ account: 'lost', webhook_url: HOOK })
  expect((await requestWithEnv(other({ VAULT_KEYS: '' }), 'POST', `/api/v0/keys/${id}/rotate`, {}))[0]).toBe(500)
  expect(await rowOf(id)).toMatchObject({ revoked_at: null, webhook_url: 'https://hooks.test/in?…' })
})

test('keys that cannot be decrypted do not block a vault rotation of the others', async () => {
  await env.DB.prepare('UPDATE api_keys SET webhook_sealed = NULL').run()
  const create = async (): Promise<string> => (await createKey({ account: 'many', webhook_url: HOOK })).id
  const ids = await Promise.all(Array.from({ length: 5 }, create))
  const [a = '', b = '', c = '', d = '', last = ''] = ids.toSorted()
  for (const id of [a, b, d]) {
    await env.DB.prepare(`UPDATE api_keys SET webhook_sealed = json_set(webhook_sealed, '$.kid', 'gone') WHERE id = ?`)
      .bind(id)
      .run()
  }
  const both = other({ VAULT_KEYS: `${NEWER},${env.VAULT_KEYS}` })
  const first = await resealSecrets(both, { job: 0, key: '' }, 2)
  expect(first).toMatchObject({ resealed: 0, done: false, unreadable_keys: [a, b], next_key: b })
  const second = await resealSecrets(both, { job: first.next, key: first.next_key }, 2)
  expect(second).toMatchObject({ resealed: 1, done: false, unreadable_keys: [d], next_key: d })
  const third = await resealSecrets(both, { job: second.next, key: second.next_key }, 2)
  expect(third).toMatchObject({ resealed: 1, done: true, unreadable_keys: [], next_key: last })
  for (const id of [c, last]) {
    const { webhook_sealed } = await rowOf(id)
    expect(await unseal(other({ VAULT_KEYS: NEWER }), 'many', id, 'webhook_url', webhook_sealed)).toBe(HOOK)
  }
  // The same through the API, which takes the position to continue from.
  const [status, answer] = await requestWithEnv(env, 'POST', `/api/v0/vault/rotate?after_key=${d}`, {})
  expect([status, answer.resealed, answer.next_key]).toEqual([200, 0, last])
  expect((await requestWithEnv(env, 'POST', '/api/v0/vault/rotate?after_key=x', {}))[1].error.field).toBe('after_key')
  await env.DB.prepare('UPDATE api_keys SET webhook_sealed = NULL').run()
})

test('the key before a replaced one stores nothing more, also where it is still trusted', async () => {
  const send = (key: string, bytes: number, headers: Record<string, string> = {}) => {
    const body = headers['tus-resumable'] === undefined ? { body: new Uint8Array(bytes) } : {}
    return apiRequest('/uploads', {
      method: 'POST',
      key,
      headers: { 'content-length': String(bytes), ...headers },
      ...body,
    })
  }
  for (const end of [
    (id: string) => apiRequest(`/api/v0/keys/${id}/rotate`, { method: 'POST', key: ADMIN_KEY }),
    (id: string) => apiRequest(`/api/v0/keys/${id}`, { method: 'DELETE', key: ADMIN_KEY }),
  ]) {
    const { id, key } = await createKey({ account: 'turn', max_stored_upload_bytes: 10 })
    expect((await send(key, 4)).status).toBe(201)
    expect((await end(id)).ok).toBe(true)
    // Permission to read is cached for a minute; reading uses up no quota.
    expect((await apiRequest('/uploads', { key })).status).toBe(200)
    const refused = await send(key, 4)
    expect(await errorCode(refused)).toBe('401 unauthorized')
    const begun = await send(key, 0, { 'tus-resumable': '1.0.0', 'upload-length': '4' })
    expect(await errorCode(begun)).toBe('401 unauthorized')
  }
  const bytes = env.DB.prepare(`SELECT SUM(COALESCE(size, announced)) AS n FROM uploads WHERE account = 'turn'`)
  expect(await bytes.first('n')).toBe(8)
})

test('an upload that starts while its key is replaced counts for the new key', async () => {
  const { id, key } = await createKey({ account: 'between', max_stored_upload_bytes: 10 })
  const meanwhile = () =>
    apiRequest('/uploads', { method: 'POST', key, headers: { 'content-length': '6' }, body: new Uint8Array(6) })
  const raced = other({ DB: runBefore(env.DB, 'UPDATE api_keys SET revoked_at', meanwhile) })
  const [status, made] = await requestWithEnv(raced, 'POST', `/api/v0/keys/${id}/rotate`, {})
  expect(status).toBe(201)
  const owners = env.DB.prepare(`SELECT DISTINCT key_id FROM uploads WHERE account = 'between'`)
  expect((await owners.all<any>()).results.map((row) => row.key_id)).toEqual([made.id])
})

test('a key that expires is refused afterwards, with its upload tokens; until then it is like any other', async () => {
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
  try {
    const { id, key, expires_at } = await createKey({ account: 'brief', expires_in_seconds: 3600 })
    expect(Date.parse(expires_at)).toBe(Date.now() + 3_600_000)
    // A key that replaces it expires at the same time.
    const rotated = await requestWithEnv(env, 'POST', `/api/v0/keys/${id}/rotate`, {})
    expect(rotated).toMatchObject([201, { expires_at }])
    const successor = rotated[1].key
    const issued = await postJson('/api/v0/uploads/tokens', { expires_in_seconds: 7200 }, { key: successor })
    const { token } = await issued.json<any>()
    const send = (authorization: string) =>
      apiRequest('/uploads', {
        method: 'POST',
        headers: { authorization, 'content-length': '1' },
        body: new Uint8Array(1),
      })
    expect((await send(`Bearer ${token}`)).status).toBe(201)
    vi.setSystemTime(Date.now() + 3_600_000)
    expect(await errorCode(await apiRequest('/uploads', { key: successor }))).toBe('401 unauthorized')
    expect(await errorCode(await send(`Bearer ${token}`))).toBe('401 unauthorized')
    const late = await requestWithEnv(env, 'POST', `/api/v0/keys/${rotated[1].id}/rotate`, {})
    expect(late[0]).toBe(404)
    expect(key).not.toBe(successor)
  } finally {
    vi.useRealTimers()
  }
})

test.each([0, 59, 1.5, 10 * 365 * 86_400 + 1, 'soon'])('a key cannot expire in %j seconds', async (seconds) => {
  const answer = await postJson('/api/v0/keys', { expires_in_seconds: seconds }, { key: ADMIN_KEY })
  expect([answer.status, (await answer.json<any>()).error.field]).toEqual([400, 'expires_in_seconds'])
})
