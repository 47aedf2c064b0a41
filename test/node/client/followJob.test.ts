// In charge of: the defaults of `follow`, with a clock controlled by the test.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { JobRead } from '#contract/api/answers.ts'
import { follow } from '../../../client/followJob.ts'
import { NetworkError, ServiceError } from '../../../client/clientErrors.ts'
import { jobRead } from '../../../scripts/openapi/examples.ts'

const running = { ...jobRead, status: { ...jobRead.status, job_completed: false } }

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('without options it reads once a second, shows nothing, and ends with the job', async () => {
  const read = vi.fn<(id: number) => Promise<JobRead>>().mockResolvedValue(running)
  const end = follow({ read }, 1)
  await vi.advanceTimersByTimeAsync(999)
  expect(read).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(9001)
  expect(read).toHaveBeenCalledTimes(11)
  read.mockResolvedValue(jobRead)
  await vi.advanceTimersByTimeAsync(1000)
  expect(await end).toBe(jobRead)
})

test('it is silent for half a minute of failures, and not longer', async () => {
  const read = vi
    .fn<(id: number) => Promise<JobRead>>()
    .mockResolvedValueOnce(running)
    .mockRejectedValue(new NetworkError('away'))
  const end = follow({ read }, 1).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(29_000)
  read.mockResolvedValueOnce(running)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(read).toHaveBeenCalledTimes(60)
  await vi.advanceTimersByTimeAsync(2000)
  expect(await end).toBeInstanceOf(NetworkError)
})

test('a refusal ends it at once, and so does the signal', async () => {
  const refusal = new ServiceError(404, '')
  await expect(follow({ read: vi.fn<(id: number) => Promise<JobRead>>().mockRejectedValue(refusal) }, 1)).rejects.toBe(
    refusal,
  )
  const stop = new AbortController()
  const read = vi.fn<(id: number) => Promise<JobRead>>().mockResolvedValue(running)
  const end = follow({ read }, 1, { signal: stop.signal }).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(10)
  stop.abort()
  expect(await end).toMatchObject({ name: 'AbortError' })
  expect(read).toHaveBeenCalledTimes(1)
})

test('what is no time is refused instead of reading without a pause', async () => {
  const read = vi.fn<(id: number) => Promise<JobRead>>().mockResolvedValue(running)
  await expect(follow({ read }, 1, { pollMs: Number.NaN })).rejects.toThrow(TypeError)
  expect(read).not.toHaveBeenCalled()
})
