// In charge of: a program with a local service goes on when nobody reads its output, and still ends on a signal.
// Not in charge of: stopping a service (service/local/start.test.ts).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ROOT } from '../../support/service.ts'

const PROGRAM = `
  const { stopOnSignals } = await import(${JSON.stringify(join(ROOT, 'scripts/local/processes/stopSignals.ts'))})
  stopOnSignals({ stop: () => Promise.resolve(), kill: () => undefined })
  process.on('message', () => {
    process.stdout.write('to nobody')
    process.stderr.write('to nobody')
    // Behind the errors of both writes.
    setImmediate(() => setImmediate(() => process.send('alive')))
  })
  process.send('ready')
`

test('a closed terminal neither ends the program nor keeps it busy', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  expect(await once(child, 'message')).toEqual(['ready', undefined])
  child.stdout?.destroy()
  child.stderr?.destroy()
  for (let write = 0; write < 3; write++) {
    child.send('write')
    expect(await once(child, 'message')).toEqual(['alive', undefined])
  }
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})
