// In charge of: the stage of tests that run jobs: transcoders that are played, the service's clock, and clearing up after each
// test. A file that imports it is on it.
// Not in charge of: what a transcoder does (fakeTranscoder.ts), requests (apiClient.ts).
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { call, job, post } from './apiClient.ts'
import type { Attempt } from './fakeTranscoder.ts'
import { FakeTranscoders } from './fakeTranscoder.ts'

export let transcoders: FakeTranscoders
/** Milliseconds that the service's clock is ahead, as a test moved it. Nothing waits for real. */
export let ahead = 0
const realNow = Date.now.bind(Date)

beforeEach(() => replaceTranscoders())
afterEach(async () => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  ahead = 0
  // Storage is isolated per file: end what a test left open, so that its slot is free for the next.
  await env.DB.batch([
    env.DB.prepare('DELETE FROM slots'),
    env.DB.prepare(`DELETE FROM tasks WHERE state IN ('queued', 'starting', 'running', 'committing')`),
  ])
})

/** Others, that no attempt was given to yet. */
export function replaceTranscoders(): void {
  transcoders = new FakeTranscoders()
}

export function moveClock(ms: number): void {
  ahead += ms
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ahead)
}

export async function create(change: Record<string, unknown> = {}): Promise<number> {
  const response = await post('/api/v0/job', job(change))
  expect(response.status).toBe(200)
  return (await response.json<{ _auto_generated_id_: number }>())._auto_generated_id_
}

export async function status(id: number): Promise<any> {
  return (await (await call(`/api/v0/job/${id}`)).json<any>()).status
}

/** The next attempt, once it has asked for its task. */
export async function started(): Promise<Attempt> {
  const attempt = await transcoders.next()
  expect((await attempt.door('GET', '')).status).toBe(200)
  return attempt
}
