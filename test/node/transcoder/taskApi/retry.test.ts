// In charge of: how long each kind of failure is retried, with a clock controlled by the test.
import { expect, test } from 'vitest'
import type { JobErrorCode } from '#contract/errorCodes.ts'
import { TaskError } from '#contract/taskError.ts'
import { retry, TransientError, RetryState, type RetryPolicy } from '../../../../transcoder/taskApi/retry.ts'

const patience: RetryPolicy = { totalMs: 60_000, upstreamMs: 8000, backoff: { baseMs: 1000, maxMs: 1000 } }

function failure(code: JobErrorCode, elsewhere = true, retryAfterMs: number | null = null): TransientError {
  return new TransientError(new TaskError(code, `It is ${code}.`), retryAfterMs, elsewhere)
}

/**
 * Fails every second with this failure, from second 0 on. @returns the second in which it gave up; null = it did not
 */
function givenUp(
  codes: (second: number) => TransientError | null,
  change: Partial<RetryPolicy> = {},
  seconds = 200,
): number | null {
  let second = 0
  const trouble = new RetryState({ ...patience, ...change }, () => second * 1000)
  for (; second < seconds; second++) {
    const error = codes(second)
    if (error === null) trouble.reset()
    else if (trouble.nextDelay(error) === null) return second
  }
  return null
}

test('what the service says is away elsewhere is given back soon, before there is work to lose', () => {
  expect(givenUp(() => failure('source_unreachable'))).toBeLessThanOrEqual(8)
  expect(givenUp(() => failure('source_unreachable'))).toBeGreaterThan(3)
  // With work that would be lost, and if the service itself is unavailable, it waits a minute.
  expect(givenUp(() => failure('source_unreachable'), { upstreamMs: undefined })).toBeGreaterThan(55)
  expect(givenUp(() => failure('source_unreachable', false))).toBeGreaterThan(55)
})

test.each(['host_not_found', 'connection_refused', 'tls_failed'] as const)(
  '%s is believed after a minute, not before, and not much later',
  (code) => {
    const second = givenUp(() => failure(code))
    expect(second).toBeGreaterThanOrEqual(59)
    expect(second).toBeLessThanOrEqual(60)
    expect(givenUp(() => failure(code), { totalMs: 120_000, upstreamMs: undefined })).toBe(second)
    expect(givenUp((at) => (at < 50 ? failure(code) : null))).toBe(null)
  },
)

test('only the same cause without a break counts: who comes up in between begins anew', () => {
  const refused = failure('connection_refused')
  expect(givenUp((at) => (at === 40 ? null : refused))).toBeGreaterThanOrEqual(100)
  const other = failure('host_not_found')
  expect(givenUp((at) => (at < 40 ? other : refused))).toBeGreaterThanOrEqual(99)
  // The service answers again, but with a refusal: that is another failure, and its own time is over.
  expect(givenUp((at) => (at < 40 ? refused : failure('source_unreachable')))).toBe(40)
})

test('who asks for more time than there is gets none of it here', () => {
  expect(givenUp(() => failure('source_unreachable', true, 30_000))).toBe(0)
  expect(givenUp(() => failure('source_unreachable', false, 30_000))).toBe(31)
})

test('one try stays one try', async () => {
  let tries = 0
  const limits = { ...patience, totalMs: 0, signal: new AbortController().signal }
  const failing = retry(limits, async () => {
    tries++
    throw failure('connection_refused')
  })
  await expect(failing).rejects.toMatchObject({ code: 'connection_refused' })
  expect(tries).toBe(1)
})
