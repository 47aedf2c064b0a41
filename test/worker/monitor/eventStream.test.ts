import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { expect, test, vi } from 'vitest'
import { publicEvent } from '#contract/api/answers.ts'
import { MAX_FOLLOWERS } from '#contract/limits.ts'
import { STEP_TIMEOUT_MS } from '../../support/timeouts.ts'
import type { JobMonitor } from '../../../worker/monitor/jobMonitor.ts'
import { apiRequest, jobBody, postJson, readJson } from '../support/apiClient.ts'
import type { FakeAttempt } from '../support/fakeTranscoder.ts'
import { taskPlan } from '../support/taskPlan.ts'
import { startNextAttempt, startJob } from '../support/jobFixture.ts'

function follow(id: number, lastEventId?: number): Promise<Response> {
  return apiRequest(`/api/v0/job/${id}/events`, {
    headers: {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
    },
  })
}

/** Reads a stream of events event by event. */
class Stream {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>
  #text = ''
  constructor(response: Response) {
    const type = response.headers.get('content-type')
    if (response.status !== 200 || !type?.startsWith('text/event-stream')) throw new Error(`${response.status} ${type}`)
    this.reader = response.body!.getReader()
  }

  /** The next event; null at the end of the stream. */
  async next(): Promise<{ id: string | null; event: string; data: any } | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        const data = /^data: (.*)$/m.exec(block)?.[1]
        if (data === undefined) continue
        return {
          id: /^id: (.*)$/m.exec(block)?.[1] ?? null,
          event: /^event: (.*)$/m.exec(block)?.[1] ?? '',
          data: JSON.parse(data),
        }
      }
      const { done, value } = await this.reader.read()
      if (done) return null
      this.#text += new TextDecoder().decode(value)
    }
  }

  async until(event: string) {
    for (;;) {
      const next = await this.next()
      if (!next || next.event === event) return next
    }
  }
}

const listenersOf = (attempt: FakeAttempt) =>
  runInDurableObject(attempt.monitor, (monitor: JobMonitor) => Promise.resolve(monitor.listeners.clientCount))

test('an event stream sends past events, new events and the end, then closes', async () => {
  const { id, attempt } = await startJob()
  const stream = new Stream(await follow(id))
  expect(await stream.next()).toMatchObject({ id: '1', event: 'job.created' })
  expect(await stream.next()).toMatchObject({ id: '2', event: 'attempt.started', data: { attempt: 1 } })
  await attempt.taskApi('POST', '/plan', { plan: taskPlan(), warnings: [] })
  expect(await stream.next()).toMatchObject({ id: '3', event: 'job.planned' })
  await attempt.heartbeat({ transcoded: 0.42, speed: 2 })
  expect(await stream.next()).toEqual({
    id: null,
    event: 'progress',
    data: {
      phase: 'transcoding',
      attempt: 1,
      tcode_progress: '42',
      tcode_time: null,
      tcode_speed: '2',
      xfer_progress: '0',
      xfer_time: '0',
      xfer_speed: '-1.0',
    },
  })
  await attempt.complete()
  expect(await stream.until('job.committing')).toMatchObject({ id: '4' })
  expect(await stream.until('job.completed')).toMatchObject({ id: '5', data: { type: 'job.completed', attempt: 1 } })
  expect(await stream.next()).toBeNull()
  expect(await listenersOf(attempt)).toBe(0)
})

test('the timeline of a finished job is there as JSON, in its published shape, with every lost attempt', async () => {
  const { id, attempt: first } = await startJob()
  await first.giveBack()
  await env.DB.prepare('UPDATE tasks SET not_before = 0').run()
  await postJson('/api/v0/job', jobBody())
  await startNextAttempt()
  const timeline = await readJson(`/api/v0/job/${id}/events`)
  expect(timeline.job_completed).toBe(false)
  await postJson(`/api/v0/job/${id}/cancel`, {})
  const { events, job_completed } = await readJson(`/api/v0/job/${id}/events`)
  expect(job_completed).toBe(true)
  const types = events.map((event: any) => event.type)
  expect(types.slice(0, 3)).toEqual(['job.created', 'attempt.started', 'attempt.evicted'])
  expect(types.at(-1)).toBe('job.cancelled')
  for (const [n, event] of events.entries()) {
    expect(publicEvent.safeParse(event).success, JSON.stringify(event)).toBe(true)
    expect(event.id).toBe(n + 1)
  }
})

test('a reconnect with Last-Event-ID gets later events only, also of a finished job, and 204 when there are none', async () => {
  const { id, attempt } = await startJob()
  const stream = new Stream(await follow(id, 1))
  expect(await stream.next()).toMatchObject({ id: '2', event: 'attempt.started' })
  await stream.reader.cancel()
  await attempt.taskApi('POST', '/fail', {
    reason: 'failed',
    error: { code: 'source_not_media', message: 'No media.' },
  })
  const late = new Stream(await follow(id, 2))
  expect(await late.next()).toMatchObject({
    id: '3',
    event: 'job.failed',
    data: { error: { code: 'source_not_media' } },
  })
  expect(await late.next()).toBeNull()
  expect((await follow(id, 3)).status).toBe(204)
})

test('a disconnected client is detected, and the number of streams per job is limited', async () => {
  const { id, attempt } = await startJob()
  const streams = await Promise.all(Array.from({ length: MAX_FOLLOWERS }, async () => new Stream(await follow(id))))
  expect(await listenersOf(attempt)).toBe(MAX_FOLLOWERS)
  const refused = await follow(id)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '15'])
  expect((await refused.json<any>()).error.code).toBe('quota_exceeded')
  await Promise.all(streams.map((stream) => stream.reader.cancel()))
  await vi.waitUntil(async () => (await listenersOf(attempt)) === 0, { timeout: STEP_TIMEOUT_MS, interval: 20 })
})
