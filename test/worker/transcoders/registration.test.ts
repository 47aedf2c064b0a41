// In charge of: transcoders that register themselves: who may, whose id it is, which slots exist, when one is forgotten.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import { FORGOTTEN_MS, SILENT_MS, WITHOUT_FIXES, type Registration } from '#contract/task/registration.ts'
import { app } from '../../../worker/app.ts'
import { findTask } from '../../../worker/db/tasks.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { assignSlots, type StartMessage } from '../../../worker/scheduler/assignSlots.ts'
import { cancelAttempt, dispatchAttempt } from '../../../worker/scheduler/dispatch.ts'
import { requestWithEnv } from '../support/appRequest.ts'
import { ADMIN_KEY, API_KEY, BASE_URL, basicAuth, jobBody } from '../support/apiClient.ts'

const SECRET = 'a-secret-for-tests-of-32-letters'
const FIRST = 'process-number-one'
const SECOND = 'process-number-two'

/** What answers at an address: the process, or nothing. */
const answering = new Map<string, string>()
const asked: Request[] = []
let started: StartMessage[] = []
let clock = 0

const where = {
  ...env,
  TRANSCODER_URLS: '',
  TRANSCODER_REGISTRATION: '1',
  TRANSCODER_SECRET: SECRET,
  QUEUE: { sendBatch: async (batch: { body: StartMessage }[]) => void started.push(...batch.map(({ body }) => body)) },
} as unknown as Env

beforeEach(async () => {
  answering.clear()
  asked.length = 0
  started = []
  clock = 0
  const now = Date.now.bind(Date)
  vi.spyOn(Date, 'now').mockImplementation(() => now() + clock)
  vi.stubGlobal('fetch', async (input: RequestInfo, init?: RequestInit) => {
    const request = new Request(input, init)
    asked.push(request)
    const { origin, pathname } = new URL(request.url)
    const instance = answering.get(origin)
    if (instance === undefined) throw new Error('connection refused')
    if (pathname === '/run' || pathname === '/cancel') return new Response(null, { status: 202 })
    return Response.json({ state: 'idle', version: '1.2.3', ffmpeg: '7.1', instance })
  })
  // Before it looks for a free slot again.
  vi.spyOn(scheduler, 'wait').mockResolvedValue()
  await env.DB.batch(
    ['transcoders', 'slots', 'tasks', 'jobs', 'idempotency'].map((name) => env.DB.prepare(`DELETE FROM ${name}`)),
  )
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

async function send(method: string, path: string, body: unknown, authorization: string, at: Env = where) {
  const context = createExecutionContext()
  const headers = { authorization, 'content-type': 'application/json' }
  const text = body === undefined ? null : JSON.stringify(body)
  const answer = await app.fetch(new Request(BASE_URL + path, { method, headers, body: text }), at, context)
  await waitOnExecutionContext(context)
  const answered = await answer.text()
  return { status: answer.status, body: answered === '' ? null : JSON.parse(answered) }
}

const post = (change: Partial<Registration> = {}): Registration => ({
  instance: FIRST,
  url: 'http://10.0.0.5:8788',
  protocol: TASK_PROTOCOL,
  version: '1.2.3',
  ffmpeg: '7.1',
  state: 'ready',
  ...change,
})

/** A transcoder that answers at its address registers. */
async function register(id: string, change: Partial<Registration> = {}, answers = true) {
  const sent = post(change)
  if (answers) answering.set(new URL(sent.url).origin, sent.instance)
  return send('PUT', `/task/transcoders/${id}`, sent, `Bearer ${SECRET}`)
}

const createJob = async () =>
  expect((await requestWithEnv(where, 'POST', '/api/v0/job', jobBody(), API_KEY))[0]).toBe(200)
const list = async () => (await send('GET', '/api/v0/transcoders', undefined, basicAuth(ADMIN_KEY))).body.transcoders
const health = async () => (await send('GET', '/health', undefined, '')).body
const rows = async () => (await env.DB.prepare('SELECT * FROM transcoders ORDER BY slot').all<any>()).results
const slotsTaken = async () => {
  for (let n = 0; n < 4; n++) await createJob()
  await assignSlots(where)
  const found = await env.DB.prepare('SELECT k FROM slots WHERE task IS NOT NULL ORDER BY k').all<{ k: number }>()
  return found.results.map(({ k }) => k)
}

test('each one has a slot, is listed, and gets its attempts at the address that it named', async () => {
  expect(await health()).toMatchObject({ status: 'degraded', slots: 0, transcoders: 'registered' })
  expect(await register('one')).toEqual({
    status: 200,
    body: { slot: 0, state: 'ready', problem: null, next_ms: 10_000 },
  })
  await register('two', { instance: SECOND, url: 'https://Encoder-2.example.com' })
  expect(await list()).toMatchObject([
    { id: 'one', slot: 0, url: 'http://10.0.0.5:8788', state: 'ready', problem: null, job: null },
    { id: 'two', slot: 1, url: 'https://encoder-2.example.com', state: 'ready' },
  ])
  expect(await health()).toMatchObject({ status: 'ok', slots: 2, transcoders_silent: 0 })
  expect(await slotsTaken()).toEqual([0, 1])
  expect(started).toHaveLength(2)
  for (const { task: id } of started) {
    asked.length = 0
    const task = await findTask(env.DB, id)
    expect(await dispatchAttempt(where, task!)).toBeNull()
    const [run] = asked
    const base = ['http://10.0.0.5:8788', 'https://encoder-2.example.com'][task!.slot!]
    expect(run!.url).toBe(`${base}/run`)
    expect(run!.headers.get('x-splicepoint-transcoder')).toBe(SECRET)
    expect((await list())[task!.slot!].job).toBe(task!.job)
    await cancelAttempt(where, task!.slot, id, 1)
    expect(asked.at(-1)!.url).toBe(`${base}/cancel`)
  }
})

test('a job that waits starts when a transcoder registers', async () => {
  await createJob()
  await assignSlots(where)
  expect(started).toEqual([])
  await register('one')
  expect(started).toHaveLength(1)
  // Its next registrations change nothing.
  asked.length = 0
  await register('one')
  expect([started.length, asked.length]).toEqual([1, 0])
})

test.each([
  ['nothing', ''],
  ['another secret', `Bearer ${SECRET.replace('a', 'b')}`],
  ['a part of the secret', `Bearer ${SECRET.slice(0, -1)}`],
  ['an empty secret', 'Bearer '],
  ['the secret as a user name', basicAuth(SECRET)],
  ['the admin key', basicAuth(ADMIN_KEY)],
])('%s opens nothing: no row, no request to the address', async (_, authorization) => {
  answering.set('http://10.0.0.5:8788', FIRST)
  for (const method of ['PUT', 'DELETE']) {
    const refused = await send(method, '/task/transcoders/one', post(), authorization)
    expect([refused.status, refused.body.error.code]).toEqual([401, 'unauthorized'])
  }
  expect([await rows(), asked]).toEqual([[], []])
})

test('without the secret, nobody can remove or take over a transcoder', async () => {
  await register('one')
  expect((await send('DELETE', '/task/transcoders/one', { instance: FIRST }, 'Bearer x')).status).toBe(401)
  expect((await send('GET', '/api/v0/transcoders', undefined, `Bearer ${SECRET}`)).status).toBe(401)
  expect((await send('GET', '/task/transcoders/one', undefined, `Bearer ${SECRET}`)).status).toBe(401)
  expect(await rows()).toHaveLength(1)
})

test('a service that does not use it refuses everyone, also with a secret that is short or missing', async () => {
  answering.set('http://10.0.0.5:8788', FIRST)
  const off = { ...where, TRANSCODER_REGISTRATION: '' }
  const refused = await send('PUT', '/task/transcoders/one', post(), `Bearer ${SECRET}`, off)
  expect([refused.status, refused.body.error.code]).toEqual([404, 'not_found'])
  vi.spyOn(console, 'error').mockReturnValue()
  for (const secret of ['', 'short']) {
    const weak = { ...where, TRANSCODER_SECRET: secret }
    const answer = await send('PUT', '/task/transcoders/one', post(), `Bearer ${secret}`, weak)
    expect([answer.status, answer.body.error.code]).toEqual([503, 'unavailable'])
    expect((await send('GET', '/health', undefined, '', weak)).body.missing).toEqual([
      expect.stringContaining('TRANSCODER_SECRET must have 32 characters'),
    ])
  }
  expect(await rows()).toEqual([])
})

test.each([
  ['url', 'ftp://10.0.0.5'],
  ['url', 'http://user:password@10.0.0.5:8788'],
  ['url', 'http://10.0.0.5:8788/admin'],
  ['url', 'http://10.0.0.5:8788/?a=b'],
  ['url', 'http://10.0.0.5:99999'],
  ['url', 'http://'],
  ['url', 7],
  ['instance', 'short'],
  ['protocol', '5'],
  ['version', ''],
  ['state', 'asleep'],
])('%s = %j is refused and leaves nothing', async (name, value) => {
  const answer = await send('PUT', '/task/transcoders/one', { ...post(), [name]: value }, `Bearer ${SECRET}`)
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request'])
  expect(answer.body.error.message).toContain(name)
  expect([await rows(), asked]).toEqual([[], []])
})

test('an id has only letters, digits, dots, underscores and hyphens', async () => {
  for (const id of ['-one', 'a%20b', 'ü', 'x'.repeat(65)]) expect((await register(id)).status, id).toBe(400)
  expect((await register('encoder-1.example_8788')).status).toBe(200)
})

test('without a registration it gets no job, comes back with its slot, and is forgotten in the end', async () => {
  await register('one')
  await register('two', { instance: SECOND, url: 'http://10.0.0.6:8788' })
  clock += SILENT_MS + 1000
  await register('two', { instance: SECOND, url: 'http://10.0.0.6:8788' })
  expect(await list()).toMatchObject([
    { id: 'one', state: 'lost' },
    { id: 'two', state: 'ready' },
  ])
  expect(await health()).toMatchObject({ status: 'degraded', slots: 1, transcoders_silent: 1 })
  expect(await slotsTaken()).toEqual([1])
  // It was cut off and returns: the same slot, and the jobs that wait.
  await register('one')
  expect(await list()).toMatchObject([{ id: 'one', slot: 0, state: 'ready' }, { id: 'two' }])
  expect((await env.DB.prepare('SELECT COUNT(*) AS n FROM slots WHERE task IS NOT NULL').first<any>()).n).toBe(2)
  clock += FORGOTTEN_MS + 1000
  const spoken = vi.spyOn(console, 'error').mockReturnValue()
  await reconcile(where)
  expect(spoken.mock.calls.map(([line]) => JSON.parse(String(line)))).toContainEqual(
    expect.objectContaining({ msg: 'transcoder forgotten', transcoder: 'one' }),
  )
  expect(await list()).toEqual([])
})

test('a service that no longer uses them lists none', async () => {
  await register('one')
  const off = { ...where, TRANSCODER_REGISTRATION: '', TRANSCODER_URLS: 'http://transcoder-0.test' }
  const { body } = await send('GET', '/api/v0/transcoders', undefined, basicAuth(ADMIN_KEY), off)
  expect(body.transcoders).toEqual([])
})

test('a slot that an attempt still occupies belongs to no newcomer', async () => {
  await register('one')
  expect(await slotsTaken()).toEqual([0])
  expect(await send('DELETE', '/task/transcoders/one', { instance: FIRST }, `Bearer ${SECRET}`)).toMatchObject({
    status: 204,
  })
  expect(await list()).toEqual([])
  expect((await register('two', { instance: SECOND })).body.slot).toBe(1)
})

test('two processes with one id: the second is refused while the first answers, and has the id once it does not', async () => {
  await register('one')
  const second = { instance: SECOND, url: 'http://10.0.0.6:8788' }
  const refused = await register('one', second)
  expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
  expect(refused.body.error.message).toBe(
    'The transcoder at http://10.0.0.5:8788 is registered with the id "one" and answers. Set TRANSCODER_ID to another one.',
  )
  expect((await rows())[0]).toMatchObject({ instance: FIRST, url: 'http://10.0.0.5:8788' })
  // The first one was killed, and starts again at another address: at once, not after it was forgotten.
  answering.delete('http://10.0.0.5:8788')
  expect((await register('one', second)).body).toMatchObject({ slot: 0, state: 'ready' })
  expect((await rows())[0]).toMatchObject({ instance: SECOND, url: 'http://10.0.0.6:8788' })
  // The first one was only cut off.
  expect((await register('one')).status).toBe(409)
  // It can neither remove the other one.
  await send('DELETE', '/task/transcoders/one', { instance: FIRST }, `Bearer ${SECRET}`)
  expect(await rows()).toHaveLength(1)
})

test('a process that claims the address of another one is told so', async () => {
  await register('one')
  const refused = await register('one', { instance: SECOND }, false)
  expect(refused.body.error.message).toContain('Set TRANSCODER_ADVERTISE_URL')
  vi.spyOn(console, 'error').mockReturnValue()
  const other = await register('two', { instance: SECOND }, false)
  expect(other.body).toMatchObject({
    state: 'unreachable',
    problem:
      'Another program answers at http://10.0.0.5:8788. Open the port for the service, or set TRANSCODER_ADVERTISE_URL.',
  })
})

test('many that register at once get a slot each', async () => {
  const ids = Array.from({ length: 8 }, (_, n) => n)
  const answers = await Promise.all(
    ids.map((n) => register(`t${n}`, { instance: `process-number-${n}-of-8`, url: `http://10.0.0.${n}:8788` })),
  )
  expect(new Set(answers.map(({ body }) => body.slot))).toEqual(new Set(ids))
})

test('the secret is sent to no address before the process there has shown that it registered', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  await register('one', { url: 'http://169.254.169.254' }, false)
  answering.set('http://127.0.0.1:6379', 'another-program-here')
  await register('two', { instance: SECOND, url: 'http://127.0.0.1:6379' }, false)
  expect(await slotsTaken()).toEqual([])
  expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET http://169.254.169.254/health',
    'GET http://127.0.0.1:6379/health',
  ])
  for (const { headers } of asked) expect(JSON.stringify([...headers])).not.toContain(SECRET)
})

test('the same process at a new address keeps its slot', async () => {
  await register('zero', { instance: SECOND, url: 'http://10.0.0.4:1' })
  await register('one')
  expect((await register('one', { url: 'http://10.9.9.9:8788' })).body).toMatchObject({ slot: 1, state: 'ready' })
  expect((await rows())[1]).toMatchObject({ id: 'one', url: 'http://10.9.9.9:8788' })
})

test('one that the service does not reach gets no job until it is reached', async () => {
  const spoken = vi.spyOn(console, 'error').mockReturnValue()
  const first = await register('one', {}, false)
  expect(first.body).toMatchObject({
    slot: 0,
    state: 'unreachable',
    problem:
      'The service does not reach http://10.0.0.5:8788: connection refused. Open the port for the service, or set TRANSCODER_ADVERTISE_URL.',
  })
  await register('one', {}, false)
  // Once, not with every repetition.
  expect(spoken.mock.calls.filter(([line]) => String(line).includes('transcoder not used'))).toHaveLength(1)
  expect(await slotsTaken()).toEqual([])
  expect((await register('one')).body.state).toBe('ready')
  expect(started).toHaveLength(1)
  // The port is closed later: the start of an attempt notices.
  answering.clear()
  const task = await findTask(env.DB, started[0]!.task)
  expect(await dispatchAttempt(where, task!)).toMatchObject({ reason: 'no_answer' })
  expect(await list()).toMatchObject([{ state: 'unreachable', problem: expect.stringContaining('could not start') }])
  expect(await health()).toMatchObject({ slots: 0, transcoders_silent: 1 })
  expect((await register('one')).body.state).toBe('ready')
})

test('another protocol is named to the transcoder, in the log and in the list, and gets no job', async () => {
  const spoken = vi.spyOn(console, 'error').mockReturnValue()
  const problem = `The transcoder (version 0.0.9) speaks protocol ${TASK_PROTOCOL - 1}, the service ${TASK_PROTOCOL}: upgrade the transcoder.`
  const old = { protocol: TASK_PROTOCOL - 1, version: '0.0.9' }
  expect((await register('one', old)).body).toMatchObject({ state: 'incompatible', problem })
  expect(spoken.mock.calls.some(([line]) => String(line).includes(problem))).toBe(true)
  expect(await list()).toMatchObject([{ state: 'incompatible', problem, protocol: TASK_PROTOCOL - 1 }])
  expect(await slotsTaken()).toEqual([])
  // It was ready for the service before this version.
  await env.DB.prepare(`UPDATE transcoders SET state = 'ready'`).run()
  expect(await slotsTaken()).toEqual([])
  expect((await register('one', { protocol: TASK_PROTOCOL + 1 })).body.problem).toContain('upgrade the service')
  expect((await register('one')).body.state).toBe('ready')
})

test('one that drains gets no job, is no fault, and leaves', async () => {
  await register('one')
  expect((await register('one', { state: 'draining' })).body.state).toBe('draining')
  expect(await slotsTaken()).toEqual([])
  expect(await health()).toMatchObject({ slots: 0, transcoders_silent: 0 })
  await send('DELETE', '/task/transcoders/one', { instance: FIRST }, `Bearer ${SECRET}`)
  expect(await list()).toEqual([])
})

test('metrics and diagnosis know them', async () => {
  const text = async () => {
    const context = createExecutionContext()
    const request = new Request(`${BASE_URL}/metrics`, { headers: { authorization: basicAuth(ADMIN_KEY) } })
    const answer = await app.fetch(request, where, context)
    await waitOnExecutionContext(context)
    return answer.text()
  }
  const transcoders = async () => {
    const { body } = await send('POST', '/api/v0/diagnosis', undefined, basicAuth(ADMIN_KEY))
    return [body, body.checks.find(({ name }: { name: string }) => name === 'transcoders')]
  }
  const [, none] = await transcoders()
  expect(none).toMatchObject({ verdict: 'fault', message: 'No transcoder has registered.' })
  await register('one')
  const [whole, fine] = await transcoders()
  expect(fine).toMatchObject({
    verdict: 'ok',
    message: '1 of 1 registered transcoders can take jobs (version 1.2.3, ffmpeg 7.1).',
  })
  expect(whole).toMatchObject({
    settings: { max_slots: 1, transcoders: 'registered' },
    slots: [{ slot: 0, busy: false, running: true, transcoder: { state: 'ready', version: '1.2.3', ffmpeg: '7.1' } }],
  })
  const free = async () => (await text()).match(/^splicepoint_(slots|transcoders_(idle|draining)) \d+$/gm)
  expect(await free()).toEqual(
    ['slots 1', 'transcoders_idle 1', 'transcoders_draining 0'].map((line) => `splicepoint_${line}`),
  )
  await register('one', { state: 'draining' })
  expect(await free()).toEqual(
    ['slots 0', 'transcoders_idle 0', 'transcoders_draining 1'].map((line) => `splicepoint_${line}`),
  )
  await register('one', { ffmpeg: `n7.0 ${WITHOUT_FIXES}` })
  expect((await transcoders())[1]).toMatchObject({
    verdict: 'warning',
    message: expect.stringContaining('1 of them decode with npm’s ffmpeg, which gets no security fixes.'),
    remedy: expect.stringContaining('FFMPEG_PATH'),
  })
  await register('one')
  await register('two', { instance: SECOND, url: 'http://10.0.0.6:8788' })
  clock += SILENT_MS + 1000
  await register('two', { instance: SECOND, url: 'http://10.0.0.6:8788' })
  expect((await transcoders())[1]).toMatchObject({
    verdict: 'warning',
    message:
      '1 of 2 registered transcoders can take jobs (version 1.2.3, ffmpeg 7.1). one: it has not registered for 30 s',
  })
  expect(await text()).toMatch(/^splicepoint_transcoders_silent 1$/m)
})
