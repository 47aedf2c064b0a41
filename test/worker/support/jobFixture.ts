// In charge of: the setup of tests that run jobs: fake transcoders, a clock that tests can advance, and cleaning up
// after each test. Importing this file installs it.
// Not in charge of: what a transcoder does (fakeTranscoder.ts), requests (apiClient.ts).
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { createJob, readJson } from './apiClient.ts'
import type { FakeAttempt } from './fakeTranscoder.ts'
import { FakeTranscoders } from './fakeTranscoder.ts'

export let transcoders: FakeTranscoders
/** Milliseconds by which the service's clock is ahead; tests advance it instead of waiting. */
export let clockOffsetMs = 0
const realNow = Date.now.bind(Date)

beforeEach(() => resetTranscoders())
afterEach(async () => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  clockOffsetMs = 0
  // Storage is isolated per file: ends the tasks that a test left open, so that their slots are free for the next test.
  await env.DB.batch([
    env.DB.prepare('DELETE FROM slots'),
    env.DB.prepare(`DELETE FROM tasks WHERE state IN ('queued', 'starting', 'running', 'divided', 'committing')`),
  ])
})

/** Replaces the transcoders by new ones without attempts. */
export function resetTranscoders(): void {
  transcoders = new FakeTranscoders()
}

export function advanceClock(ms: number): void {
  clockOffsetMs += ms
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + clockOffsetMs)
}

export async function readStatus(id: number): Promise<any> {
  return (await readJson(`/api/v0/job/${id}`)).status
}

/** The next attempt, after it has asked for its task. */
export async function startNextAttempt(): Promise<FakeAttempt> {
  const attempt = await transcoders.nextAttempt()
  expect((await attempt.taskApi('GET', '')).status).toBe(200)
  return attempt
}

interface StartedJob {
  id: number
  attempt: FakeAttempt
}

/** A new job, and its first attempt. */
export async function startJob(change: Record<string, unknown> = {}): Promise<StartedJob> {
  const id = await createJob(change)
  return { id, attempt: await startNextAttempt() }
}
