// Failed starts: they back off, and the operator and the client of the job are informed.
import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { STEP_TIMEOUT_MS } from '../../support/timeouts.ts'
import { consumeQueue } from '../../../worker/scheduler/queueConsumer.ts'
import { applyEvent } from '../../../worker/scheduler/applyEvent.ts'
import { START_LEASE_MS } from '../../../worker/scheduler/transitionTask.ts'
import { reconcile } from '../../../worker/reconciler.ts'
import { apiRequest, postJson, readJson, createJob } from '../support/apiClient.ts'
import { advanceClock, startNextAttempt, readStatus, transcoders } from '../support/jobFixture.ts'

const admin = { headers: { authorization: `Basic ${btoa('test-only-admin-key:')}` } }
const health = async () => readJson('/health')
const failing = async () =>
  /splicepoint_starts_failing (\d+)/.exec(await (await apiRequest('/metrics', admin)).text())?.[1]
const counted = async () =>
  /splicepoint_starts_failed_total\{reason="refused"\} (\d+)/.exec(
    await (await apiRequest('/metrics', admin)).text(),
  )?.[1]
const task = (id: number) => env.DB.prepare('SELECT * FROM tasks WHERE job = ?1').bind(id).first<any>()

/** Waits for one more failed start, and makes the next one due. */
async function fails(id: number, count: number): Promise<void> {
  await vi.waitUntil(async () => (await task(id)).starts_failed >= count, { timeout: STEP_TIMEOUT_MS, interval: 20 })
}

test('starts that go on failing show in events, status, metrics and health, and are over with the first that succeeds', async () => {
  transcoders.runStatus = () => 503
  const id = await createJob()
  await fails(id, 1)
  expect((await readStatus(id)).failed_starts).toBeNull()
  expect(await health()).toMatchObject({ status: 'ok', starts_failing: 0 })
  for (const count of [2, 3, 4]) {
    advanceClock(120_000)
    await reconcile(env, Infinity)
    await fails(id, count)
  }
  const { failed_starts: shown, phase } = await readStatus(id)
  expect([phase, shown]).toEqual([
    'queued',
    {
      count: 4,
      code: 'refused',
      message: 'A transcoder could not be started because it refused the task.',
      next_try_at: expect.any(String),
    },
  ])
  expect(Date.parse(shown.next_try_at) - (await task(id)).updated_at).toBe(16_000)
  expect(await health()).toMatchObject({ status: 'degraded', starts_failing: 1 })
  expect((await apiRequest('/health')).status).toBe(200)
  expect(await failing()).toBe('1')
  const { events } = await readJson(`/api/v0/job/${id}/events`)
  expect(events.map((event: any) => event.type)).toEqual([
    'job.created',
    'attempt.start_failed',
    'attempt.start_failed',
    'attempt.start_failed',
  ])
  expect([events[1].message, events.at(-1).message]).toEqual([
    'A transcoder could not be started because it refused the task; retrying in 2 s. This does not count as a lost attempt.',
    'A transcoder could not be started 4 times in a row, most recently because it refused the task; retrying in 16 s. This does not count as a lost attempt.',
  ])
  transcoders.runStatus = () => 202
  advanceClock(120_000)
  await reconcile(env, Infinity)
  const attempt = await startNextAttempt()
  expect((await readStatus(id)).failed_starts).toBeNull()
  expect(await health()).toMatchObject({ status: 'ok', starts_failing: 0 })
  expect(await failing()).toBe('0')
  expect((await task(id)).lost).toBe(0)
  expect(await counted()).toBe('4')
  await attempt.finish([await attempt.storeObject('film.mp4', new Uint8Array(1))])
  expect(await counted()).toBe('4')
})

test('a retry gets another slot than the start that failed, as long as one is free', async () => {
  const slots: number[] = []
  for (let n = 0; n < 12; n++) {
    await env.DB.batch([
      env.DB.prepare('DELETE FROM slots'),
      // Its last start failed; its rest is over.
      env.DB.prepare('INSERT INTO slots (k, free_at) VALUES (0, 1)'),
    ])
    const id = await createJob()
    await transcoders.nextAttempt()
    slots.push((await task(id)).slot)
  }
  expect(slots).not.toContain(0)
  // The only one that is left.
  await env.DB.prepare("INSERT OR REPLACE INTO slots (k, task, free_at) VALUES (1, 'another', 0)").run()
  await env.DB.prepare('INSERT OR REPLACE INTO slots (k, free_at) VALUES (0, 1)').run()
  const id = await createJob()
  await transcoders.nextAttempt()
  expect((await task(id)).slot).toBe(0)
})

test('a container that ends before its transcoder asks for the task is a failed start, not a lost attempt', async () => {
  const id = await createJob()
  await transcoders.nextAttempt()
  const { id: name, attempt } = await task(id)
  const jobId = name.slice(0, name.lastIndexOf('-'))
  expect(await applyEvent(env, { id: name, jobId }, { type: 'lost', attempt, ranMs: 0, share: 0 })).toMatchObject({
    ok: true,
  })
  expect(await task(id)).toMatchObject({ state: 'queued', lost: 0, starts_failed: 1, starts_failed_total: 1 })
  const { events } = await (await apiRequest(`/api/v0/job/${id}/events`)).json<any>()
  expect(events.at(-1)).toMatchObject({
    type: 'attempt.start_failed',
    message: expect.stringContaining('because it ended before it asked for the task; retrying in 2 s.'),
  })
})

test('a transcoder that accepted its task and never fetched it is given up after 30 s, which is not a lost attempt', async () => {
  const id = await createJob()
  await transcoders.nextAttempt()
  advanceClock(25_000)
  await reconcile(env, Infinity)
  expect((await task(id)).state).toBe('starting')
  advanceClock(6000)
  await reconcile(env, Infinity)
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
  const waits: number[] = []
  vi.stubGlobal('scheduler', { wait: async (ms: number) => void waits.push(ms) })
  const message = { body: { task: name, attempt }, ack: vi.fn<() => void>(), retry: vi.fn<() => void>() }
  await consumeQueue({ messages: [message] } as never, containers)
  expect(message.ack).toHaveBeenCalledOnce()
  expect(await task(id)).toMatchObject({ state: 'queued', starts_failed: 1, lost: 0 })
  // The first start is given up early; later ones have more time, still less than the lease of a start.
  await env.DB.prepare("UPDATE tasks SET state = 'starting', slot = 0 WHERE id = ?1").bind(name).run()
  await consumeQueue({ messages: [message] } as never, containers)
  expect(waits).toEqual([18_000, 28_000])
  expect(Math.max(...waits)).toBeLessThan(START_LEASE_MS)
  expect(await task(id)).toMatchObject({ state: 'queued', starts_failed: 2, lost: 0 })
})
