import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { childrenOf, isAlive } from '../../../../scripts/local/processes/processGroup.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { sampled } from '../../../support/longForm.ts'
import { tempDirectory } from '../../../support/media/media.ts'
import { ROOT, Service, waitFor } from '../../../support/service.ts'

const closed = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => false,
    () => true,
  )

/** The processes of this machine with matching arguments. */
function processes(such: (argv: string[]) => boolean): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && such(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'))
    } catch {
      return false // ended meanwhile
    }
  })
}

/** Every descendant of a process. */
function tree(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap((child) => tree(child.pid))]
}

test('one line says that it is ready, two run side by side, and SIGTERM or SIGINT leave nothing of either', async () => {
  await using one = await Service.start({ TRANSCODERS: '2' })
  await using two = await Service.start()
  expect(one.base).not.toBe(two.base)
  expect(one.ready.transcoder_urls).toHaveLength(2)
  expect(one.ready.pids.transcoders).toHaveLength(2)
  expect(one.ready.pids.workerd).toEqual(expect.any(Number))
  expect((await fetch(`${two.base}/health`)).status).toBe(200)
  expect((await one.call('/api/v0/job')).status).toBe(200)
  // A key of one service does not work at the other.
  const foreign = Buffer.from(`${one.ready.api_key}:`).toString('base64')
  const refused = await fetch(`${two.base}/api/v0/job`, { headers: { authorization: `Basic ${foreign}` } })
  expect(refused.status).toBe(401)

  const [first, second] = [tree(one.ready.pids.start), tree(two.ready.pids.start)]
  expect(first.length).toBeGreaterThan(4)
  expect(await one.stop('SIGTERM')).toEqual({ code: 0, signal: null })
  expect(first.filter(isAlive)).toEqual([])
  expect(await closed(`${one.base}/health`)).toBe(true)
  for (const url of one.ready.transcoder_urls) expect(await closed(`${url}/health`)).toBe(true)
  expect((await fetch(`${two.base}/health`)).status).toBe(200)
  expect(await two.stop('SIGINT')).toEqual({ code: 0, signal: null })
  expect(second.filter(isAlive)).toEqual([])
  expect(one.stdout).toHaveLength(1)
  expect(one.stderr()).toBe('')
})

test.each(sampled(['v3/d1', 'logs/worker.log', 'secrets.json'], 2))(
  'a signal during the start, when there is %s, leaves nothing either',
  async (sign) => {
    await using tempDir = await tempDirectory()
    const child = spawn(process.execPath, [join(ROOT, 'scripts/start.ts'), '--json'], {
      env: { ...process.env, PORT: '0', STATE_DIR: tempDir.path, INIT_CWD: ROOT },
      stdio: 'ignore',
    })
    const exited = once(child, 'exit')
    await waitFor(sign, () => existsSync(tempDir.file(sign)))
    const all = tree(child.pid ?? 0)
    child.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    expect(all.filter(isAlive)).toEqual([])
    // Processes that were started between the check and the signal use the same directory.
    expect(processes((argv) => argv.some((part) => part.includes(tempDir.path)))).toEqual([])
  },
)

describe('beside a running service', () => {
  let service: Service
  const resources = fileResources()
  beforeAll(async () => {
    service = resources.use(await Service.start())
  })

  test('no secret is in an argv or an environment, and the file that keeps them is for its owner only', async () => {
    const file = join(service.stateDir, 'secrets.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    // Database and objects, logs, the runtime's socket.
    for (const name of ['v3', 'logs', 'run'])
      expect((await stat(join(service.stateDir, name))).mode & 0o777).toBe(0o700)
    const secrets = Object.values(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>)
    expect(secrets).toHaveLength(4)
    for (const pid of tree(service.ready.pids.start)) {
      const seen = readFileSync(`/proc/${pid}/cmdline`, 'utf8') + readFileSync(`/proc/${pid}/environ`, 'utf8')
      for (const secret of secrets) expect(seen).not.toContain(secret)
      expect(pid === service.ready.pids.start || !/_SECRET=|_TOKEN=|VAULT_KEYS=/.test(seen)).toBe(true)
    }
  })

  test('a start that cannot succeed says why and leaves nothing', async () => {
    await expect(Service.start({ FFMPEG_PATH: '/nowhere/ffmpeg' })).rejects.toThrow(/Install ffmpeg/)
    await expect(Service.start({ PORT: new URL(service.base).port })).rejects.toThrow(/is in use/)
    await expect(Service.start({ PORT: 'http' })).rejects.toThrow(/PORT must be/)
  })

  test('what it started ends when the supervisor is killed', async () => {
    const all = tree(service.ready.pids.start)
    process.kill(service.ready.pids.start, 'SIGKILL')
    await waitFor('every process to end', () => all.filter(isAlive).length === 0)
    expect(await closed(`${service.base}/health`)).toBe(true)
  })
})
