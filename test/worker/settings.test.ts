// In charge of: what the Worker does with settings that are numbers: 0 is one, and what is none is told, not replaced.
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { settings } from '../../worker/env.ts'
import { ask } from './ask.ts'
import { KEY } from './client.ts'

const other = (change: Record<string, unknown>): Env => ({ ...env, ...change })
const spoken = vi.spyOn(console, 'error')
afterEach(() => spoken.mockClear())

test.each([
  ['MAX_STORED_UPLOAD_BYTES', '50GB', 'a whole number of at least 0'],
  ['MAX_STORED_UPLOAD_BYTES', '-1', 'a whole number of at least 0'],
  ['REQUESTS_PER_MINUTE', 'many', 'a whole number of at least 1'],
  ['REQUESTS_PER_MINUTE', '0', 'a whole number of at least 1'],
  ['MAX_ACTIVE_JOBS', '1.5', 'a whole number of at least 0'],
  ['MAX_SLOTS', 'none', 'a whole number of at least 1'],
  ['LEASE_SECONDS', '0', 'a number above 0'],
  ['EGRESS', 'Listed', 'platform, pinned or listed'],
])('%s = %j is refused: no request of a key is taken, /health and the log say why', async (name, value, expects) => {
  const where = other({ TRANSCODER_URLS: '', [name]: value })
  const sentence = `${name} must be ${expects}`
  const [status, health] = await ask(where, 'GET', '/health')
  expect([status, health.status]).toEqual([503, 'not_ready'])
  expect(health.missing).toEqual([expect.stringContaining(sentence)])
  const [refused, answer] = await ask(where, 'GET', '/api/v0/job', undefined, KEY)
  expect([refused, answer.error.code]).toEqual([503, 'unavailable'])
  expect(answer.error.message).toContain(sentence)
  // Once, not with every request.
  expect(spoken.mock.calls.filter(([line]) => String(line).includes(sentence))).toHaveLength(1)
})

test('0 bytes of uploads are a bound, and so are 0 jobs', async () => {
  const where = other({ MAX_STORED_UPLOAD_BYTES: '0', MAX_ACTIVE_JOBS: '0' })
  expect((await ask(where, 'GET', '/health'))[0]).toBe(200)
  const [, limits] = await ask(where, 'GET', '/api/v0/limits')
  expect(limits.quotas).toMatchObject({ stored_upload_bytes: 0, active_jobs: 0 })
  const [status, answer] = await ask(where, 'POST', '/uploads', 'x', KEY)
  expect([status, answer.error.code]).toEqual([429, 'quota_exceeded'])
})

test('what is empty is the default, and a number may be one of TOML', () => {
  const empty = {
    MAX_SLOTS: '',
    LEASE_SECONDS: '',
    MAX_ACTIVE_JOBS: '',
    MAX_STORED_UPLOAD_BYTES: '',
    REQUESTS_PER_MINUTE: '',
  }
  const bare = { TRANSCODER_URLS: '', EGRESS: '' }
  expect(settings(other({ ...bare, ...empty }))).toMatchObject({
    problems: [],
    egress: 'platform',
    maxSlots: 1,
    leaseMs: 30_000,
    maxActiveJobs: 10_000,
    maxStoredUploadBytes: null,
    requestsPerMinute: null,
  })
  const given = { MAX_SLOTS: 3, LEASE_SECONDS: '0.5', MAX_STORED_UPLOAD_BYTES: '1e12', REQUESTS_PER_MINUTE: ' 60 ' }
  expect(settings(other({ ...bare, ...given }))).toMatchObject({
    problems: [],
    maxSlots: 3,
    leaseMs: 500,
    maxStoredUploadBytes: 1e12,
    requestsPerMinute: 60,
  })
})
