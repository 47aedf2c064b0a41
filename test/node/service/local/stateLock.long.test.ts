// In charge of: only one service at a time uses a state directory, however the previous one ended.
import { mkdir, symlink } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { isAlive } from '../../../../scripts/local/processes/processGroup.ts'
import { acquireStateLock } from '../../../../scripts/local/stateLock.ts'
import { LONG_FORM, sampled } from '../../../support/longForm.ts'
import { tempDirectory } from '../../../support/media/media.ts'
import { Service, waitFor } from '../../../support/service.ts'
import { processTree } from './listeningSockets.ts'

test('a second start on the same data is refused with a sentence, under another name of it too, and the first one serves on', async () => {
  await using tempDir = await tempDirectory()
  const STATE_DIR = tempDir.file('state')
  await using first = await Service.start({ STATE_DIR })
  await symlink(STATE_DIR, tempDir.file('link'))
  for (const path of [STATE_DIR, `${tempDir.path}/../${tempDir.path.split('/').at(-1)}/state`, tempDir.file('link')]) {
    await expect(Service.start({ STATE_DIR: path })).rejects.toThrow(
      `is already in use by process ${first.ready.pids.start}. Stop it, or use another directory`,
    )
  }
  expect(await first.isServing()).toBe(true)
  await first.stop()
  await using next = await Service.start({ STATE_DIR })
  expect(next.ready.api_key).toBe(first.ready.api_key)
})

test('of several that start at the same moment one serves, and the others are refused', async () => {
  await using tempDir = await tempDirectory()
  const STATE_DIR = tempDir.file('state')
  const started = await Promise.allSettled(
    Array.from({ length: LONG_FORM ? 5 : 3 }, () => Service.start({ STATE_DIR })),
  )
  const services = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  try {
    expect(services).toHaveLength(1)
    expect(await services[0]?.isServing()).toBe(true)
    const refusals = started.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
    for (const refusal of refusals) expect(refusal).toContain('is already in use by')
  } finally {
    for (const service of services) await service[Symbol.asyncDispose]()
  }
})

const VICTIMS: [string, (service: Service) => number[]][] = [
  // Its runtime outlives both: no process is left to stop it.
  ['the service and what holds its Worker', (service) => [service.ready.pids.worker, service.ready.pids.start]],
  ['the service', (service) => [service.ready.pids.start]],
  [
    'the service, while its transcoder is stopped',
    (service) => {
      process.kill(service.ready.pids.transcoders[0]!, 'SIGSTOP')
      return [service.ready.pids.start]
    },
  ],
]

test.each(sampled(VICTIMS, 1))(
  'after SIGKILL of %s the next start works, and no process of the previous one is left',
  async (_name, victims) => {
    await using tempDir = await tempDirectory()
    const STATE_DIR = tempDir.file('state')
    const killed = await Service.start({ STATE_DIR })
    const before = processTree(killed.ready.pids.start).map(({ pid }) => pid)
    for (const pid of victims(killed)) process.kill(pid, 'SIGKILL')
    await using next = await Service.start({ STATE_DIR })
    expect(before.filter(isAlive)).toEqual([])
    expect(next.ready.api_key).toBe(killed.ready.api_key)
    expect(await next.isServing()).toBe(true)
    await waitFor('the test’s own handle of the killed one', () => killed.exited)
    await killed[Symbol.asyncDispose]()
  },
)

test('the lock ends with its process, and also excludes a second holder in the same process', async () => {
  await using tempDir = await tempDirectory()
  const runDir = tempDir.file('run')
  await mkdir(runDir)
  const lock = await acquireStateLock(tempDir.path, runDir)
  await expect(acquireStateLock(tempDir.path, runDir)).rejects.toThrow(`is already in use by process ${process.pid}.`)
  lock.release()
  const again = await acquireStateLock(tempDir.path, runDir)
  again.release()
})
