// In charge of: which attempts may finish when the process is told to stop, and when one is returned to the queue.
import { expect, test } from 'vitest'
import { decideDrain, drain, type DrainableAttempt } from '../../../../transcoder/server/drain.ts'
import type { AttemptAbort } from '../../../../transcoder/errors.ts'
import { createLog } from '../../../../transcoder/log.ts'

const view = {
  ending: false,
  restSeconds: 100 as number | null,
  leftSeconds: 840,
  unknownSeconds: 0,
  patienceSeconds: 15,
  promised: false,
}

test.each([
  ['a short rest', {}, 'finish'],
  ['a rest that just fits', { restSeconds: 762 }, 'finish'],
  ['a rest that would fit without a margin', { restSeconds: 800 }, 'give_back'],
  ['a rest that does not fit', { restSeconds: 5000 }, 'give_back'],
  ['the same once it was let go on: a small miss', { restSeconds: 900, promised: true }, 'finish'],
  ['a clear miss', { restSeconds: 1100, promised: true }, 'give_back'],
  ['a rest that is not known yet', { restSeconds: null, unknownSeconds: 14 }, 'wait'],
  ['a rest that stays unknown', { restSeconds: null, unknownSeconds: 15 }, 'give_back'],
  [
    'nothing that goes on, though it was let go on',
    { restSeconds: null, unknownSeconds: 15, promised: true },
    'give_back',
  ],
  ['an end that is being told', { restSeconds: null, unknownSeconds: 100, ending: true }, 'finish'],
  ['the end of the time', { restSeconds: 1, leftSeconds: 0, promised: true }, 'give_back'],
  ['the end of the time, its end being told', { leftSeconds: -1, ending: true, promised: true }, 'give_back'],
  ['no time at all', { restSeconds: 0, leftSeconds: 0 }, 'give_back'],
] as const)('%s', (_name, change, verdict) => {
  expect(decideDrain({ ...view, ...change }).verdict).toBe(verdict)
})

/**
 * Simulates a drain of 840 s with a check every second; `rest` returns the predicted remaining time, null = unknown.
 */
async function play(rest: (second: number) => number | null, endsAt = Infinity) {
  const lines: Record<string, unknown>[] = []
  const ended = Promise.withResolvers<void>()
  let second = 0
  let haltedAt: number | null = null
  const attempt: DrainableAttempt = {
    halt: new AbortController(),
    ending: false,
    rest: () => {
      // Called once per check.
      if (++second >= endsAt) ended.resolve()
      return rest(second)
    },
    ended: ended.promise,
  }
  attempt.halt.signal.addEventListener('abort', () => {
    haltedAt = second
    ended.resolve()
  })
  const log = createLog((line) => void lines.push(JSON.parse(line) as Record<string, unknown>))
  const hurry = new AbortController().signal
  await drain(attempt, { seconds: 840, hurry, log, everyMs: 0, now: () => second * 1000 })
  const abort = attempt.halt.signal.reason as AttemptAbort | undefined
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
