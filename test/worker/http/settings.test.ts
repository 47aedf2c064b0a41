// In charge of: settings of the Worker: 0 is valid, and an invalid value is reported, not replaced.
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { settings } from '../../../worker/env.ts'
import { requestWithEnv } from '../support/appRequest.ts'
import { jobBody, API_KEY } from '../support/apiClient.ts'

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
  ['DIVIDE_ABOVE_SECONDS', '0', 'a whole number of at least 1, or off'],
  ['DIVIDE_ABOVE_SECONDS', 'never', 'a whole number of at least 1, or off'],
  ['KEEP_UPLOADS_DAYS', '0', 'a whole number of days from 1 to 36500'],
  ['KEEP_OUTPUTS_DAYS', '36501', 'a whole number of days from 1 to 36500'],
  ['KEEP_JOBS_DAYS', 'always', 'a whole number of days from 1 to 36500'],
  ['EGRESS', 'Listed', 'platform, pinned or listed'],
  ['BASE_URL', 'transcode.example.com', 'an http or https address without a path'],
  ['BASE_URL', 'https://example.com/transcode', 'an http or https address without a path'],
  ['TASK_API_URL', 'ftp://10.0.0.5', 'an http or https address without a path'],
  ['TRUST_PROXY', 'yes', '1'],
  ['ALLOW_PRIVATE_HOSTS', 'files.internal', 'pairs of host and port'],
])('%s = %j is refused: requests with a key fail, /health and the log say why', async (name, value, expects) => {
  const where = other({ TRANSCODER_URLS: '', [name]: value })
  const sentence = `${name} must be ${expects}`
  const [status, health] = await requestWithEnv(where, 'GET', '/health')
  expect([status, health.status]).toEqual([503, 'not_ready'])
  expect(health.missing).toEqual([expect.stringContaining(sentence)])
  const [refused, answer] = await requestWithEnv(where, 'GET', '/api/v0/job', undefined, API_KEY)
  expect([refused, answer.error.code]).toEqual([503, 'unavailable'])
  expect(answer.error.message).toContain(sentence)
  // Once, not with every request.
  expect(spoken.mock.calls.filter(([line]) => String(line).includes(sentence))).toHaveLength(1)
})

/** A database whose statements all fail with this message. */
function failing(message: string): D1Database {
  const answer = async (): Promise<never> => {
    throw new Error(message)
  }
  const statement = { bind: () => statement, first: answer, all: answer, run: answer, raw: answer }
  return { prepare: () => statement, batch: answer, exec: answer } as unknown as D1Database
}

/**
 * D1's message when the disk is full (tried with workerd on a full tmpfs), and possible messages for other failures.
 */
test.each([
  'internal error; reference = qtcqjs9h4600hmenpbg4nfg6',
  'D1_ERROR: database or disk is full: SQLITE_FULL',
  'D1_ERROR: disk I/O error: SQLITE_IOERR',
  'D1_ERROR: unable to open database file: SQLITE_CANTOPEN',
  'D1_ERROR: Failed to get session commit token',
  'D1_ERROR: Network connection lost.',
])('a database that says “%s” is away: 503 for reads and writes, and /health says so', async (message) => {
  const where = other({ DB: failing(message) })
  const read = await requestWithEnv(where, 'GET', '/api/v0/job/1', undefined, API_KEY)
  const list = await requestWithEnv(where, 'GET', '/api/v0/job', undefined, API_KEY)
  const written = await requestWithEnv(where, 'POST', '/api/v0/job', jobBody(), API_KEY)
  for (const [status, answer] of [read, list, written])
    expect([status, answer.error.code]).toEqual([503, 'unavailable'])
  const [status, health] = await requestWithEnv(where, 'GET', '/health')
  expect([status, health.missing]).toEqual([
    503,
    ['the database cannot be read or written now (is its disk full?); the error is in the log'],
  ])
  expect(spoken.mock.calls.some(([line]) => String(line).includes(message))).toBe(true)
})

test('a database without tables has its own error', async () => {
  const where = other({ DB: failing('D1_ERROR: no such table: jobs: SQLITE_ERROR') })
  const [status, health] = await requestWithEnv(where, 'GET', '/health')
  expect([status, health.missing]).toEqual([
    503,
    [
      expect.stringContaining(
        'lacks tables or columns; apply the migrations (npx wrangler d1 migrations apply DB --local',
      ),
    ],
  ])
})

test('0 bytes of uploads are a bound, and so are 0 jobs', async () => {
  const where = other({ MAX_STORED_UPLOAD_BYTES: '0', MAX_ACTIVE_JOBS: '0' })
  expect((await requestWithEnv(where, 'GET', '/health'))[0]).toBe(200)
  const [, limits] = await requestWithEnv(where, 'GET', '/api/v0/limits')
  expect(limits.quotas).toMatchObject({ stored_upload_bytes: 0, active_jobs: 0 })
  const [status, answer] = await requestWithEnv(where, 'POST', '/uploads', 'x', API_KEY)
  expect([status, answer.error.code]).toEqual([429, 'quota_exceeded'])
})

test('what is empty is the default, and a number may be one of TOML', () => {
  const empty = {
    MAX_SLOTS: '',
    LEASE_SECONDS: '',
    DIVIDE_ABOVE_SECONDS: '',
    MAX_ACTIVE_JOBS: '',
    MAX_STORED_UPLOAD_BYTES: '',
    MAX_SOURCE_SECONDS: '',
    REQUESTS_PER_MINUTE: '',
  }
  const bare = { TRANSCODER_URLS: '', EGRESS: '' }
  expect(settings(other({ ...bare, ...empty }))).toMatchObject({
    problems: [],
    egress: 'platform',
    maxSlots: 1,
    leaseMs: 30_000,
    divideAboveSeconds: 600,
    maxActiveJobs: 10_000,
    maxStoredUploadBytes: null,
    maxSourceSeconds: null,
    requestsPerMinute: null,
  })
  const given = {
    DIVIDE_ABOVE_SECONDS: 'off',
    MAX_SLOTS: 3,
    LEASE_SECONDS: '0.5',
    MAX_STORED_UPLOAD_BYTES: '1e12',
    MAX_SOURCE_SECONDS: '3600',
    REQUESTS_PER_MINUTE: ' 60 ',
  }
  expect(settings(other({ ...bare, ...given }))).toMatchObject({
    problems: [],
    divideAboveSeconds: null,
    maxSlots: 3,
    leaseMs: 500,
    maxStoredUploadBytes: 1e12,
    maxSourceSeconds: 3600,
    requestsPerMinute: 60,
  })
})
