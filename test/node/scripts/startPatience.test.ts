// A start is given up for its silence or for work without end, never for its time.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { processorTime } from '../../../scripts/local/processes/processGroup.ts'
import { StartPatience } from '../../../scripts/local/processes/startPatience.ts'
import { waitFor } from '../../support/service.ts'

const MINUTE = 60_000

test('an hour of slow work is waited for; a minute without work and five minutes of work are not', () => {
  const slow = new StartPatience(0)
  for (let minute = 1; minute <= 60; minute++) expect(slow.judge(minute * MINUTE - 1, minute * 100)).toBeNull()
  // The timers of a process that waits.
  expect(slow.judge(61 * MINUTE, 6040)).toBe('is not ready and has done nothing for 60 s')
  expect(new StartPatience(0).judge(MINUTE / 2, 300_000)).toBe('is not ready after 300 s of processor time')
})

test('the work of a process that only waits for its child is the work of the child', async () => {
  const busy = `require('node:child_process').spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'inherit' })`
  const parent = spawn(process.execPath, ['-e', busy], { stdio: 'ignore', detached: true })
  try {
    await waitFor('two seconds of processor time', () => processorTime(parent.pid ?? 0) > 2000)
  } finally {
    process.kill(-(parent.pid ?? 0), 'SIGKILL')
    await once(parent, 'exit')
  }
  expect(processorTime(parent.pid ?? 0)).toBe(0)
})
