import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { ResourceMeter } from '../../../../transcoder/pipeline/resourceUsage.ts'

/** Uses one second of CPU time, in a child of the shell. */
const BURN = `process.stdout.write('x'); const used = () => process.cpuUsage().user + process.cpuUsage().system; while (used() < 1e6) for (let n = 0; n < 1e6; n++);`

test.runIf(process.platform === 'linux')(
  'the CPU time is that of all programs, while they run and after they ended, and never decreases',
  async () => {
    const meter = new ResourceMeter(tmpdir())
    const child = spawn('sh', ['-c', `"${process.execPath}" -e "${BURN}"; true`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    let before = 0
    await expect
      .poll(() => {
        const now = meter.usage().cpu_seconds ?? 0
        expect(now).toBeGreaterThanOrEqual(before)
        return (before = now)
      })
      .toBeGreaterThan(0.3)
    child.stdout.resume()
    if (child.exitCode === null) await once(child, 'exit')
    expect(meter.usage().cpu_seconds).toBeGreaterThanOrEqual(1)
    expect(meter.usage().disk_free_bytes).toBeGreaterThan(0)
    // It meters one attempt: a new one begins at zero.
    expect(new ResourceMeter(tmpdir()).usage().cpu_seconds).toBeLessThan(0.5)
  },
)

test('a directory that does not exist has no free space, and is no error', () => {
  expect(new ResourceMeter('/no/such/directory').usage().disk_free_bytes).toBeUndefined()
})
