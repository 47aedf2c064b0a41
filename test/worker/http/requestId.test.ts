// In charge of: the id of a request and its line in the log.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { setLogLevel } from '../../../worker/log.ts'
import { requestWithEnv } from '../support/appRequest.ts'
import { apiRequest, createJob, jobBody, postJson } from '../support/apiClient.ts'
import { startNextAttempt } from '../support/jobFixture.ts'

let text: string[] = []
const lines = (): Record<string, unknown>[] =>
  text.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>)

beforeEach(() => {
  text = []
  for (const stream of ['log', 'error'] as const)
    vi.spyOn(console, stream).mockImplementation((line) => void text.push(String(line)))
})
afterEach(() => vi.restoreAllMocks())

test('each answer has an id; that of the client is taken if it is harmless', async () => {
  const own = (await apiRequest('/health')).headers.get('x-request-id')
  expect(own).toMatch(/^[0-9a-f-]{36}$/)
  expect((await apiRequest('/health')).headers.get('x-request-id')).not.toBe(own)
  const ask = async (id: string) =>
    (await apiRequest('/api/v0/job/1', { headers: { 'x-request-id': id } })).headers.get('x-request-id')
  expect(await ask('trace-4_2')).toBe('trace-4_2')
  for (const id of ['"},{"level":"error', 'a b', 'x'.repeat(65), 'key.secret', '-x'])
    expect(await ask(id), id).toMatch(/^[0-9a-f-]{36}$/)
  // Also errors, redirected pages and answers to other origins, whose scripts may read it.
  const refused = await postJson('/api/v0/job', {}, { headers: { origin: 'https://page.test' } })
  expect([refused.status, refused.headers.get('x-request-id')]).toEqual([400, expect.stringMatching(/^[0-9a-f-]{36}$/)])
  expect(refused.headers.get('access-control-expose-headers')).toContain('X-Request-ID')
})

test.each([
  ['info', ['request']],
  ['warn', []],
])('at the level %s a request that succeeds has these lines: %j', async (level, expected) => {
  await requestWithEnv({ ...env, LOG_LEVEL: level }, 'GET', '/api/v0/keys')
  expect(lines().map(({ msg }) => msg)).toEqual(expected)
})

test('its line has time, level, account, route, status and duration, and no path', async () => {
  setLogLevel('info')
  await requestWithEnv({ ...env, LOG_LEVEL: 'info' }, 'GET', '/api/v0/keys?secret=in-the-query')
  expect(lines()).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: 'info',
      msg: 'request',
      request_id: expect.any(String),
      account: 'admin',
      method: 'GET',
      route: '/api/v0/keys',
      status: 200,
      ms: expect.any(Number),
    },
  ])
})

test('a LOG_LEVEL that does not exist is refused by name', async () => {
  const [status, health] = await requestWithEnv({ ...env, LOG_LEVEL: 'loud' }, 'GET', '/health')
  expect([status, health.missing]).toEqual([
    503,
    ['LOG_LEVEL must be debug, info, warn or error, or empty for its default (docs/operating.md)'],
  ])
})

test('/health names version and commit; a commit that is none is not shown', async () => {
  const health = async (commit: string) =>
    (await requestWithEnv({ ...env, COMMIT: commit }, 'GET', '/health'))[1] as Record<string, unknown>
  expect(await health('0123456789ab')).toMatchObject({
    version: expect.stringMatching(/^\d+\./),
    commit: '0123456789ab',
  })
  expect((await health('"} secret')).commit).toBeNull()
})

test('the lines of a job carry its id, from the request that creates it to the commit', async () => {
  setLogLevel('info')
  const id = await createJob(jobBody())
  const attempt = await startNextAttempt()
  setLogLevel('info')
  await attempt.complete()
  const { job } = attempt
  expect(id).toBeGreaterThan(0)
  const messages = lines()
    .filter((line) => JSON.stringify(line).includes(job))
    .map(({ msg, route, to }) => [msg, route ?? to])
  expect(messages).toEqual(
    expect.arrayContaining([
      ['request', '/api/v0/job'],
      ['started', 'running'],
      ['finish', 'committing'],
      ['committed', 'completed'],
    ]),
  )
})
