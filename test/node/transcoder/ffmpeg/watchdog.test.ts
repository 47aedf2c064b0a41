import { appendFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Watchdog, type SignsOfWork } from '../../../../transcoder/ffmpeg/watchdog.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const MINUTE = 60_000
let stalls = 0

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  stalls = 0
})
afterEach(() => {
  vi.useRealTimers()
})

function watch(signs: Partial<SignsOfWork>): Watchdog {
  return new Watchdog({ pipeBytes: () => 0, files: [], ...signs }, MINUTE, () => (stalls += 1))
}

test.each<[sign: string, (work: () => number) => Partial<SignsOfWork>]>([
  ['bytes of pipes', (work) => ({ pipeBytes: work })],
  ['bytes that are read of the source', (work) => ({ bytesRead: work })],
])('without a report, %s are work, until they stop', (_sign, signs) => {
  let bytes = 1000
  const watchdog = watch(signs(() => bytes))
  for (let minute = 0; minute < 10; minute++) {
    bytes += 1
    vi.advanceTimersByTime(MINUTE)
  }
  expect(stalls).toBe(0)
  vi.advanceTimersByTime(MINUTE)
  expect(stalls).toBe(1)
  watchdog.stop()
})

test('a file that grows is work', () => {
  const file = tempDir.file('growing.mp4')
  const watchdog = watch({ files: [file] })
  writeFileSync(file, 'a')
  vi.advanceTimersByTime(MINUTE)
  appendFileSync(file, 'b')
  vi.advanceTimersByTime(MINUTE)
  expect(stalls).toBe(0)
  vi.advanceTimersByTime(MINUTE)
  expect(stalls).toBe(1)
  watchdog.stop()
})

test('after a report that moved, what was written before it does not count', () => {
  let bytes = 0
  const watchdog = watch({ pipeBytes: () => bytes })
  bytes = 1000
  vi.advanceTimersByTime(MINUTE / 2)
  watchdog.moved()
  vi.advanceTimersByTime(MINUTE - 1)
  expect(stalls).toBe(0)
  vi.advanceTimersByTime(1)
  expect(stalls).toBe(1)
  watchdog.stop()
})

test('a run that is held back does not hang', () => {
  let blocked = true
  const watchdog = watch({ isBlocked: () => blocked })
  vi.advanceTimersByTime(5 * MINUTE)
  expect(stalls).toBe(0)
  blocked = false
  vi.advanceTimersByTime(MINUTE)
  expect(stalls).toBe(1)
  watchdog.stop()
})
