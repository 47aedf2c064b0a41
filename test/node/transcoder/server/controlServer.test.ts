// In charge of: one attempt at a time, each started once, and every refusal with its reason.
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { AttemptOutlook } from '../../../../transcoder/attempt.ts'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ControlServer, type EngineInfo } from '../../../../transcoder/server/controlServer.ts'
import { whyUnreachable } from '../../../../transcoder/server/startup.ts'
import type { AttemptAbort } from '../../../../transcoder/errors.ts'
import { createLog } from '../../../../transcoder/log.ts'

interface Started {
  key: string
  halt: AbortController
  outlook: AttemptOutlook
  end: () => void
}
let started: Started[]
let control: ControlServer
let url: string

/** What identifies it. */
const process = { version: '1.2.3', instance: 'the-process-of-this-test' }

async function open(
  options: { secret?: string; handoverMs?: number; engine?: Promise<EngineInfo>; isCutOff?: boolean } = {},
): Promise<void> {
  started = []
  control = new ControlServer({
    port: 0,
    secret: options.secret ?? null,
    ...process,
    engine: options.engine ?? Promise.resolve({ version: 'n7.0' }),
    log: createLog(() => undefined),
    handoverMs: options.handoverMs ?? 5000,
    whyUnreachable: (request) => (options.isCutOff ? whyUnreachable(request.task_api_url) : Promise.resolve(null)),
    run: (request, halt, outlook) =>
      new Promise((end) => started.push({ key: `${request.task_id} ${request.attempt}`, halt, outlook, end })),
  })
  url = await control.listen('127.0.0.1')
}
beforeEach(() => open())
afterEach(async () => {
  for (const one of started) one.end()
  await control.stop(0)
})

const request = (task: string, attempt = 1) => ({
  protocol: TASK_PROTOCOL,
  task_id: task,
  attempt,
  token: 'secret-token',
  task_api_url: 'http://127.0.0.1:1',
})
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers })
const health = async () => (await (await fetch(`${url}/health`)).json()) as Record<string, unknown>

describe('POST /run', () => {
  test('an attempt that could not reach its service is refused with the address and the reason', async () => {
    await control.stop(0)
    await open({ isCutOff: true })
    const listener = createServer()
    await once(listener.listen(0, '127.0.0.1'), 'listening')
    const address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
    expect((await post('/run', { ...request('a'), task_api_url: address })).status).toBe(202)
    started[0]?.end()
    listener.close()
    await once(listener, 'close')
    const refused = await post('/run', { ...request('b'), task_api_url: address })
    const message = `This transcoder cannot reach the service at ${address} (ECONNREFUSED).`
    expect([refused.status, await refused.json()]).toEqual([503, { error: { code: 'service_unreachable', message } }])
    expect(started).toHaveLength(1)
  })

  test('starts an attempt; the same one again changes nothing, also after its end', async () => {
    const first = await post('/run', request('a'))
    expect([first.status, await first.json()]).toEqual([202, { task_id: 'a', attempt: 1 }])
    expect((await post('/run', request('a'))).status).toBe(202)
    expect(await health()).toEqual({ state: 'busy', task_id: 'a', attempt: 1, ...process, ffmpeg: 'n7.0' })
    started[0]!.end()
    await expect.poll(health).toMatchObject({ state: 'idle' })
    expect((await post('/run', request('a'))).status).toBe(202)
    expect(started).toHaveLength(1)
  })

  test('another task is refused while one runs', async () => {
    await post('/run', request('a'))
    const second = await post('/run', request('b'))
    expect(second.status).toBe(503)
    expect(await second.json()).toMatchObject({ error: { code: 'unavailable' } })
    expect(started).toHaveLength(1)
  })

  test('another task waits for one that was cancelled', async () => {
    await post('/run', request('a'))
    expect((await post('/cancel', { task_id: 'a', attempt: 1 })).status).toBe(202)
    const second = post('/run', request('b'))
    started[0]!.end()
    expect((await second).status).toBe(202)
    expect(started.map((one) => one.key)).toEqual(['a 1', 'b 1'])
  })

  test('a new task waits while the end of the previous one is being reported, because the Worker frees the slot before it answers', async () => {
    await post('/run', request('a'))
    started[0]!.outlook.onCommitting()
    const [second, again] = [post('/run', request('b')), post('/run', request('b'))]
    // Enough time for a refusal to arrive.
    for (let n = 0; n < 5; n++) expect(await health()).toMatchObject({ task_id: 'a' })
    started[0]!.end()
    expect([(await second).status, (await again).status]).toEqual([202, 202])
    expect(started.map((one) => one.key)).toEqual(['a 1', 'b 1'])
  })

  test('it does not wait for ever', async () => {
    await control.stop(0)
    await open({ handoverMs: 5 })
    await post('/run', request('a'))
    await post('/cancel', { task_id: 'a', attempt: 1 })
    expect((await post('/run', request('b'))).status).toBe(503)
  })

  test('a newer attempt of the same task ends the older one', async () => {
    await post('/run', request('a', 1))
    const newer = post('/run', request('a', 2))
    started[0]!.halt.signal.addEventListener('abort', () => started[0]!.end())
    expect((await newer).status).toBe(202)
    expect((started[0]!.halt.signal.reason as AttemptAbort).kind).toBe('stopped')
    expect(started.map((one) => one.key)).toEqual(['a 1', 'a 2'])
  })

  test('two tasks raced: one runs', async () => {
    const answers = await Promise.all([post('/run', request('a')), post('/run', request('b'))])
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202, 503]))
    expect(started).toHaveLength(1)
  })

  test.each([
    ['no JSON', '{', 'invalid_request'],
    ['no token', { ...request('a'), token: '' }, 'invalid_request'],
    ['a bad task id', request('../a'), 'invalid_request'],
    ['a newer protocol', { ...request('a'), protocol: TASK_PROTOCOL + 1 }, 'protocol_mismatch'],
    ['an older protocol', { ...request('a'), protocol: TASK_PROTOCOL - 1 }, 'protocol_mismatch'],
    ['far too much', 'x'.repeat(100_000), 'invalid_request'],
  ])('%s is 400', async (_name, body, code) => {
    const answer = await post('/run', body)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { code } })
    expect(started).toEqual([])
  })
})

test('cancel halts only the attempt that it names', async () => {
  await post('/run', request('a', 2))
  expect((await post('/cancel', { task_id: 'a', attempt: 1 })).status).toBe(202)
  expect((await post('/cancel', { task_id: 'b', attempt: 2 })).status).toBe(202)
  expect(started[0]!.halt.signal.aborted).toBe(false)
  await post('/cancel', { task_id: 'a', attempt: 2 })
  expect((started[0]!.halt.signal.reason as AttemptAbort).kind).toBe('cancelled')
})

test('a shared secret, where one is set, is asked for', async () => {
  await control.stop(0)
  await open({ secret: 'shared' })
  expect((await post('/run', request('a'))).status).toBe(401)
  expect((await post('/cancel', {}, { 'x-splicepoint-transcoder': 'wrong' })).status).toBe(401)
  expect((await post('/run', request('a'), { 'x-splicepoint-transcoder': 'shared' })).status).toBe(202)
  expect((await fetch(`${url}/health`)).status).toBe(200)
})

describe('while stopping', () => {
  test('no task is accepted, and an attempt that cannot finish is returned', async () => {
    await post('/run', request('a'))
    const stopped = control.stop(0)
    expect((started[0]!.halt.signal.reason as AttemptAbort).kind).toBe('interrupted')
    const refused = await post('/run', request('b'))
    expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 'stopping' } }])
    expect((await health())['state']).toBe('draining')
    started[0]!.end()
    await stopped
    expect(started).toHaveLength(1)
  })

  test('an attempt that fits goes on, its repeated message too; a newer one of its task ends it and is refused', async () => {
    await post('/run', request('a'))
    started[0]!.outlook.setEstimator(() => 10)
    const stopped = control.stop(600)
    expect((await post('/run', request('b'))).status).toBe(503)
    expect((await post('/run', request('a'))).status).toBe(202)
    expect(started[0]!.halt.signal.aborted).toBe(false)
    expect((await post('/run', request('a', 2))).status).toBe(503)
    expect((started[0]!.halt.signal.reason as AttemptAbort).kind).toBe('stopped')
    started[0]!.end()
    await stopped
    expect(started).toHaveLength(1)
  })

  test('it can still be cancelled, and is returned on a second signal', async () => {
    await post('/run', request('a'))
    started[0]!.outlook.setEstimator(() => 10)
    const stopped = control.stop(600)
    control.hurry()
    const { promise: halted, resolve } = Promise.withResolvers<void>()
    started[0]!.halt.signal.addEventListener('abort', () => resolve())
    await halted
    expect((started[0]!.halt.signal.reason as AttemptAbort).kind).toBe('interrupted')
    started[0]!.end()
    await stopped
  })
})

describe('before it is known what ffmpeg can do', () => {
  test('a task is accepted', async () => {
    await control.stop(0)
    const engine = Promise.withResolvers<EngineInfo>()
    await open({ engine: engine.promise })
    expect(await health()).toEqual({ state: 'preparing', ...process, ffmpeg: null })
    expect((await post('/run', request('a'))).status).toBe(202)
    expect(await health()).toMatchObject({ state: 'busy', ffmpeg: null })
    engine.resolve({ version: 'n7.0', sandbox: { in_force: ['environment'], missing: {} } })
    await engine.promise
    expect(await health()).toMatchObject({ state: 'busy', ffmpeg: 'n7.0', sandbox: { in_force: ['environment'] } })
  })

  test('when ffmpeg is unusable, that is reported and no task is accepted', async () => {
    await control.stop(0)
    await open({ engine: Promise.reject(new Error('No usable ffmpeg: none was found.')) })
    expect((await fetch(`${url}/health`)).status).toBe(503)
    expect(await health()).toMatchObject({ state: 'unusable', error: 'No usable ffmpeg: none was found.' })
    const refused = await post('/run', request('a'))
    expect(refused.status).toBe(503)
    expect(await refused.json()).toEqual({
      error: {
        code: 'unavailable',
        message: 'This transcoder cannot be used. No usable ffmpeg: none was found.',
      },
    })
    expect(started).toEqual([])
  })
})

test('an unknown address is 404', async () => {
  expect((await fetch(`${url}/elsewhere`)).status).toBe(404)
  expect((await fetch(`${url}/run`)).status).toBe(404)
})
