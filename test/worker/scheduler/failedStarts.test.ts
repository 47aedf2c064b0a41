// Failed starts: they back off, and the operator and the client of the job are informed.
import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { STEP_TIMEOUT_MS } from '../../support/timeouts.ts'
import { consumeQueue } from '../../../worker/scheduler/queueConsumer.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { apiRequest, postJson, readJson } from '../support/apiClient.ts'
import { createJob, advanceClock, startNextAttempt, readStatus, transcoders } from '../support/jobFixture.ts'

const admin = { headers: { authorization: `Basic ${btoa('test-only-admin-key:')}` } }
const health = async () => readJson('/health')
const failing = async () =>
  /splicepoint_starts_failing (\d+)/.exec(await (await apiRequest('/metrics', admin)).text())?.[1]
const task = (id: number) => env.DB.prepare('SELECT * FROM tasks WHERE job = ?1').bind(id).first<any>()

/** Waits for one more failed start, and makes the next one due. */
async function fails(id: number, count: number): Promise<void> {
  await vi.waitUntil(async () => (await task(id)).starts_failed >= count, { timeout: STEP_TIMEOUT_MS, interval: 20 })
}

test('starts that go on failing show in events, status, metrics and health, and are over with the first that succeeds', async () => {
  transcoders.answer = () => 503
  const id = await createJob()
  await fails(id, 1)
  expect((await readStatus(id)).failed_starts).toBeNull()
  expect(await health()).toMatchObject({ status: 'ok', starts_failing: 0 })
  for (const count of [2, 3, 4]) {
    advanceClock(120_000)
    await reconcile(env)
    await fails(id, count)
  }
  const { failed_starts: shown, phase } = await readStatus(id)
  expect([phase, shown.count]).toEqual(['queued', 4])
  expect(Date.parse(shown.next_try_at) - (await task(id)).updated_at).toBe(16_000)
  expect(await health()).toMatchObject({ status: 'degraded', starts_failing: 1 })
  expect((await apiRequest('/health')).status).toBe(200)
  expect(await failing()).toBe('1')
  const { events } = await readJson(`/api/v0/job/${id}/events`)
  expect(events.map((event: any) => event.type)).toEqual([
    'job.created',
    'attempt.start_failed',
    'attempt.start_failed',
  ])
  expect(events.at(-1).message).toBe(
    'A transcoder could not be started 4 times in a row (most recently because it refused the task); retrying in 16 s.',
  )
  transcoders.answer = () => 202
  advanceClock(120_000)
  await reconcile(env)
  await startNextAttempt()
  expect((await readStatus(id)).failed_starts).toBeNull()
  expect(await health()).toMatchObject({ status: 'ok', starts_failing: 0 })
  expect(await failing()).toBe('0')
  expect((await task(id)).lost).toBe(0)
})

test('a transcoder that accepted its task and never fetched it is given up after 30 s, which is not a lost attempt', async () => {
  const id = await createJob()
  await transcoders.nextAttempt()
  advanceClock(25_000)
  await reconcile(env)
  expect((await task(id)).state).toBe('starting')
  advanceClock(6000)
  await reconcile(env)
  expect(await task(id)).toMatchObject({ state: 'queued', lost: 0, starts_failed: 1 })
})

test('cancel does not wait for a transcoder that does not answer', async () => {
  const id = await createJob()
  await startNextAttempt()
  const stubbed = globalThis.fetch
  let asked = 0
  // A frozen transcoder accepts the connection but never answers.
  vi.stubGlobal('fetch', (input: RequestInfo, init?: RequestInit) => {
    if (!new URL(new Request(input).url).pathname.endsWith('/cancel')) return stubbed(input, init)
    asked++
    return new Promise<Response>((_resolve, reject) =>
      init?.signal?.addEventListener('abort', () => reject(new Error('given up'))),
    )
  })
  const cancelled = await postJson(`/api/v0/job/${id}/cancel`, {})
  // The cancel answer arrives while the request to the transcoder is still unanswered.
  expect([cancelled.status, asked]).toEqual([200, 1])
  expect((await readStatus(id)).state).toBe('cancelled')
})

test('a container whose Durable Object does not answer is given up within its limit', async () => {
  const id = await createJob()
  await transcoders.nextAttempt()
  const { attempt, id: name } = await task(id)
  await env.DB.prepare("UPDATE tasks SET state = 'starting' WHERE id = ?1").bind(name).run()
  const containers = {
    ...env,
    TRANSCODER_URLS: '',
    TRANSCODER: { idFromName: (slot: string) => slot, get: () => ({ run: () => new Promise(() => undefined) }) },
  } as unknown as Env
  vi.stubGlobal('scheduler', { wait: async (ms: number) => expect(ms).toBeLessThan(30_000) })
  const message = { body: { task: name, attempt }, ack: vi.fn<() => void>(), retry: vi.fn<() => void>() }
  await consumeQueue({ messages: [message] } as never, containers)
  expect(message.ack).toHaveBeenCalledOnce()
  expect(await task(id)).toMatchObject({ state: 'queued', starts_failed: 1, lost: 0 })
})
