// In charge of: which attempts may finish when the process is told to stop, and when one is returned to the queue.
import { expect, test } from 'vitest'
import { decideDrain, drain, type DrainableAttempt } from '../../../../transcoder/server/drain.ts'
import type { AttemptAbort } from '../../../../transcoder/errors.ts'
import { createLog } from '../../../../transcoder/log.ts'

const view = {
  isCommitting: false,
  remainingSeconds: 100 as number | null,
  secondsUntilDeadline: 840,
  unknownForSeconds: 0,
  maxUnknownSeconds: 15,
  wasGranted: false,
}

test.each([
  ['a short rest', {}, 'finish'],
  ['a rest that just fits', { remainingSeconds: 762 }, 'finish'],
  ['a rest that would fit without a margin', { remainingSeconds: 800 }, 'give_back'],
  ['a rest that does not fit', { remainingSeconds: 5000 }, 'give_back'],
  ['the same once it was let go on: a small miss', { remainingSeconds: 900, wasGranted: true }, 'finish'],
  ['a clear miss', { remainingSeconds: 1100, wasGranted: true }, 'give_back'],
  ['a rest that is not known yet', { remainingSeconds: null, unknownForSeconds: 14 }, 'wait'],
  ['a rest that stays unknown', { remainingSeconds: null, unknownForSeconds: 15 }, 'give_back'],
  [
    'nothing that goes on, though it was let go on',
    { remainingSeconds: null, unknownForSeconds: 15, wasGranted: true },
    'give_back',
  ],
  ['an end that is being told', { remainingSeconds: null, unknownForSeconds: 100, isCommitting: true }, 'finish'],
  ['the end of the time', { remainingSeconds: 1, secondsUntilDeadline: 0, wasGranted: true }, 'give_back'],
  [
    'the end of the time, its end being told',
    { secondsUntilDeadline: -1, isCommitting: true, wasGranted: true },
    'give_back',
  ],
  ['no time at all', { remainingSeconds: 0, secondsUntilDeadline: 0 }, 'give_back'],
] as const)('%s', (_name, change, verdict) => {
  expect(decideDrain({ ...view, ...change }).verdict).toBe(verdict)
})

/**
 * Simulates a drain of 840 s with a check every second; `rest` returns the predicted remaining time, null = unknown.
 */
async function play(rest: (second: number) => number | null, endsAt = Infinity) {
  const lines: Record<string, unknown>[] = []
  const done = Promise.withResolvers<void>()
  let second = 0
  let haltedAt: number | null = null
  const attempt: DrainableAttempt = {
    controller: new AbortController(),
    isCommitting: false,
    remainingSeconds: () => {
      // Called once per check.
      if (++second >= endsAt) done.resolve()
      return rest(second)
    },
    done: done.promise,
  }
  attempt.controller.signal.addEventListener('abort', () => {
    haltedAt = second
    done.resolve()
  })
  const log = createLog((line) => void lines.push(JSON.parse(line) as Record<string, unknown>))
  const urgentSignal = new AbortController().signal
  await drain(attempt, { seconds: 840, urgentSignal, log, everyMs: 0, now: () => second * 1000 })
  const abort = attempt.controller.signal.reason as AttemptAbort | undefined
  return { haltedAt, reason: abort?.kind, why: abort?.why, lines }
}

test('an attempt that goes on as predicted ends by itself, which is logged once', async () => {
  const { haltedAt, lines } = await play((second) => 300 - second, 300)
  expect(haltedAt).toBeNull()
  expect(lines).toMatchObject([
    { msg: 'draining', decision: 'finish', why: 'the rest fits', rest_seconds: 299, left_seconds: 839 },
  ])
})

test('one that becomes too slow is given back long before the end of the time', async () => {
  const { haltedAt, reason, why, lines } = await play((second) => (second < 100 ? 500 : 2000))
  expect([haltedAt, reason]).toEqual([100, 'interrupted'])
  expect(why).toBe('it became slower, and the rest no longer fits: about 2000 s of work, 740 s until it has to end')
  expect(lines.map((line) => line['decision'])).toEqual(['finish', 'give_back'])
})

test('an attempt that starts to report progress is judged by it', async () => {
  expect(await play((second) => (second < 10 ? null : 5000))).toMatchObject({ haltedAt: 10, reason: 'interrupted' })
  expect(await play((second) => (second < 10 ? null : 50), 60)).toMatchObject({ haltedAt: null })
})

test('an attempt that pauses briefly continues, one that stalls is returned', async () => {
  expect(await play((second) => (second % 20 < 10 ? 50 : null), 90)).toMatchObject({ haltedAt: null })
  expect(await play((second) => (second < 30 ? 50 : null))).toMatchObject({ haltedAt: 44, reason: 'interrupted' })
})

test('a dry run, expected to take as long again as so far, gets half of the time', async () => {
  expect(await play((second) => 10 + second)).toMatchObject({ haltedAt: 465, reason: 'interrupted' })
})
