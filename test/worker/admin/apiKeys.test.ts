import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { apiRequest, postJson, ADMIN_KEY, createKey } from '../support/apiClient.ts'

test('a key is issued once, works, and is stored only as a keyed hash', async () => {
  const { id, key, scopes } = await createKey({ account: 'films', label: 'ingest' })
  expect(key).toMatch(/^sp_[\w-]{12}\.[\w-]{43}$/)
  expect(scopes).toEqual(['jobs'])
  expect((await apiRequest('/api/v0/job', { key })).status).toBe(200)
  const listed = await (await apiRequest('/api/v0/keys', { key: ADMIN_KEY })).text()
  expect(listed).toContain(id)
  const secret = key.split('.')[1]
  expect(listed).not.toContain(secret)
  expect(JSON.stringify((await env.DB.prepare('SELECT * FROM api_keys').all()).results)).not.toContain(secret)
})

test('a right id with a wrong secret is refused like an unknown key', async () => {
  const { id } = await createKey()
  for (const key of [`${id}.${'A'.repeat(43)}`, `sp_AAAAAAAAAAAA.${'A'.repeat(43)}`, id]) {
    expect((await apiRequest('/api/v0/job', { key })).status, key).toBe(401)
  }
})

test('a rotated key is replaced by one of the same account', async () => {
  const { id } = await createKey({ account: 'films' })
  const rotated = await postJson(`/api/v0/keys/${id}/rotate`, {}, { key: ADMIN_KEY })
  expect(rotated.status).toBe(201)
  const { account, key, id: next } = await rotated.json<any>()
  expect(account).toBe('films')
  expect(next).not.toBe(id)
  expect((await apiRequest('/api/v0/job', { key })).status).toBe(200)
  expect((await postJson(`/api/v0/keys/${id}/rotate`, {}, { key: ADMIN_KEY })).status).toBe(404)
})

test('a revoked key that was never looked up before does not work', async () => {
  const { id, key } = await createKey()
  expect((await apiRequest(`/api/v0/keys/${id}`, { method: 'DELETE', key: ADMIN_KEY })).status).toBe(204)
  expect((await apiRequest('/api/v0/job', { key })).status).toBe(401)
})

test('a revoked key and a rotated one stop within a minute, also where they were in use', async () => {
  const clock = vi.spyOn(Date, 'now')
  const now = Date.now()
  for (const end of [
    (id: string) => apiRequest(`/api/v0/keys/${id}`, { method: 'DELETE', key: ADMIN_KEY }),
    (id: string) => postJson(`/api/v0/keys/${id}/rotate`, {}, { key: ADMIN_KEY }),
  ]) {
    clock.mockReturnValue(now)
    const { id, key } = await createKey()
    expect((await apiRequest('/api/v0/job', { key })).status).toBe(200)
    await end(id)
    clock.mockReturnValue(now + 60_001)
    expect((await apiRequest('/api/v0/job', { key })).status).toBe(401)
  }
  clock.mockRestore()
})

test('keys are for admins, jobs are not', async () => {
  expect((await apiRequest('/api/v0/keys')).status).toBe(403)
  expect((await apiRequest('/api/v0/job', { key: ADMIN_KEY })).status).toBe(403)
  for (const body of [{ account: 'Not A Name' }, { scopes: [] }, { scopes: ['root'] }, { extra: 1 }]) {
    expect((await postJson('/api/v0/keys', body, { key: ADMIN_KEY })).status, JSON.stringify(body)).toBe(400)
  }
})
