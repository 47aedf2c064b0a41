// A transcoder falls silent while no client asks for the status of its job: neither client requests nor the cron keep
// the job's monitor in memory. The long form has production's lease; the short form's is still longer than the ten
// seconds after which workerd evicts an idle monitor.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { LONG_FORM } from '../../../support/longForm.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { jobRequest, ROOT, Service, waitFor } from '../../../support/service.ts'

const LEASE_SECONDS = LONG_FORM ? 30 : 15
const SECRET = 'a-secret-for-tests-of-32-letters'

/** A relay between the transcoders and the service that can be cut. */
class Relay {
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((from) => {
    if (this.isCut) return from.destroy()
    const to = connect(this.port, '127.0.0.1')
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => other.destroy()).on('close', () => other.destroy())
      socket.pipe(other)
    }
  })
  isCut = false
  /** Port of the service. */
  port = 0

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  cut(): void {
    this.isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  [Symbol.dispose](): void {
    this.cut()
    this.#server.close()
  }
}

async function startTranscoder(workDir: string) {
  const child = spawn(process.execPath, [join(ROOT, 'transcoder/main.ts')], {
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', WORK_DIR: workDir, TRANSCODER_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const url = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = JSON.parse(line) as { url?: string }
      if (message.url !== undefined) resolve(message.url)
    })
  })
  return {
    url,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const closed = once(child, 'close')
      child.kill('SIGCONT')
      child.kill('SIGKILL')
      await closed
    },
  }
}

test('a transcoder that is killed, frozen or disconnected is detected without client requests', async () => {
  await using tempDir = await tempDirectory()
  const flags = ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart']
  await using media = await PausableFileServer.start(await makeClip(tempDir.file('clip.mp4'), { seconds: 8, flags }))
  using relay = new Relay()
  await using killed = await startTranscoder(tempDir.file('killed'))
  await using frozen = await startTranscoder(tempDir.file('frozen'))
  await using lonely = await startTranscoder(tempDir.file('lonely'))
  await using service = await Service.start({
    ALLOW_PRIVATE_HOSTS: media.host,
    LEASE_SECONDS: `${LEASE_SECONDS}`,
    TRANSCODER_URLS: [killed.url, frozen.url, lonely.url].join(','),
    TRANSCODER_SECRET: SECRET,
    TASK_API_URL: await relay.listen(),
  })
  relay.port = Number(new URL(service.base).port)
  media.pauseAt(0.6)
  const ids = await Promise.all([1, 2, 3].map(() => service.create(jobRequest(media.url, 'http'))))
  for (const id of ids) await service.waitForEncoding(id)
  const began = Date.now()
  killed.kill('SIGKILL')
  frozen.kill('SIGSTOP')
  relay.cut()
  // Only the log is read: a request would load the monitor again.
  const log = join(service.stateDir, 'logs/worker.log')
  const isLost = (line: string): boolean => line.includes('"msg":"lost"')
  await waitFor(
    'all three to be lost',
    async () => (await readFile(log, 'utf8')).split('\n').filter(isLost).length >= 3,
    240_000,
  )
  for (const id of ids) {
    const lost = (await service.events(id)).find(({ type }) => type === 'attempt.lost')
    expect(lost).toMatchObject({ attempt: 1 })
    console.log(
      `noticed after ${((Date.parse(lost!.at) - began) / 1000).toFixed(1)} s, with a lease of ${LEASE_SECONDS} s`,
    )
  }
  // The disconnected one is still there for the service.
  const health = await (await fetch(`${service.base}/health`)).json()
  expect(health).toMatchObject({ status: 'degraded', transcoders_silent: 2 })
  // They continue as soon as a transcoder is available.
  relay.isCut = false
  frozen.kill('SIGCONT')
  media.resume()
  for (const id of ids) expect(await service.waitForEnd(id)).toMatchObject({ state: 'ready', error: null })
}, 420_000)
