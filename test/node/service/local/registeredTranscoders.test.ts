// Transcoders that were started on their own, as on other machines, and register themselves at `npm start`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import type { TranscoderList } from '#contract/api/administration.ts'
import { readSettings as readServiceSettings } from '../../../../scripts/local/localSettings.ts'
import { readSettings } from '../../../../transcoder/settings.ts'
import { decodeFrames, makeClip, tempDirectory } from '../../../support/media/media.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { copyMigratedDatabase } from '../../../support/migratedDatabase.ts'
import { jobRequest, ROOT, Service, waitFor } from '../../../support/service.ts'

const SECRET = 'a-secret-for-tests-of-32-letters'

interface Line {
  msg?: string
  [name: string]: unknown
}

/** A transcoder as `npm run transcoder` starts it on another machine. */
function startTranscoder(serviceUrl: string, env: Record<string, string> = {}) {
  const lines: Line[] = []
  const child = spawn(process.execPath, [join(ROOT, 'transcoder/main.ts')], {
    env: { ...process.env, HOST: '', PORT: '0', SERVICE_URL: serviceUrl, TRANSCODER_SECRET: SECRET, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const closed = once(child, 'close')
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as Line))
  const find = (text: string): Line | undefined => lines.find(({ msg }) => msg === text)
  return {
    lines,
    logged: (text: string) => waitFor(`the transcoder to log "${text}"`, async () => find(text)),
    async kill(signal: NodeJS.Signals): Promise<number | null> {
      child.kill(signal)
      const [code] = (await closed) as [number | null]
      return code
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await closed
    },
  }
}

async function list(service: Service): Promise<TranscoderList['transcoders']> {
  const headers = { authorization: `Basic ${btoa(`${service.ready.admin_key}:`)}` }
  const answer = await fetch(`${service.base}/api/v0/transcoders`, { headers })
  return ((await answer.json()) as TranscoderList).transcoders
}

const byId = async (service: Service, id: string) => (await list(service)).find((one) => one.id === id)

/** The id of the transcoder that has the job. */
const holder = async (service: Service, job: number) => (await list(service)).find((one) => one.job === job)?.id

test('register, work, are killed, added, drained, and found again by a service that restarts', async () => {
  await using tempDir = await tempDirectory()
  const stateDir = await mkdtemp(join(tmpdir(), 'splicepoint-registered-'))
  await copyMigratedDatabase(stateDir)
  const clip = await makeClip(tempDir.file('clip.mp4'), {
    seconds: 8,
    flags: ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart'],
  })
  await using media = await PausableFileServer.start(clip)
  const settings = {
    ALLOW_PRIVATE_HOSTS: media.host,
    STATE_DIR: stateDir,
    TRANSCODERS: '0',
    TRANSCODER_SECRET: SECRET,
    LEASE_SECONDS: '4',
  }
  const before = await Service.start(settings)
  const { base } = before
  await using one = startTranscoder(base, { TRANSCODER_ID: 'one', WORK_DIR: tempDir.file('one') })
  await using two = startTranscoder(base, { TRANSCODER_ID: 'two', WORK_DIR: tempDir.file('two') })
  await Promise.all([one.logged('registered'), two.logged('registered')])
  expect(await list(before)).toMatchObject([
    { id: 'one', state: 'ready' },
    { id: 'two', state: 'ready' },
  ])

  // Both work; the third job waits.
  media.pauseAt(0.6)
  const jobs = await Promise.all([1, 2, 3].map(() => before.create(jobRequest(media.url, 'http'))))
  await waitFor('both to have a job', async () => (await list(before)).every(({ job }) => job !== null))
  const running = (await list(before)).map(({ job }) => job!)
  const waiting = jobs.find((job) => !running.includes(job))!
  for (const job of running) await before.waitForEncoding(job)

  // A third one is added: the job that waits is its.
  await using three = startTranscoder(base, { TRANSCODER_ID: 'three', WORK_DIR: tempDir.file('three') })
  await three.logged('registered')
  await waitFor('the added one to have the job that waits', async () => (await holder(before, waiting)) === 'three')

  // One is killed in the middle of its job, which another one completes.
  const orphan = (await byId(before, 'one'))!.job!
  await one.kill('SIGKILL')
  media.resume()
  for (const job of jobs) expect(await before.waitForEnd(job)).toMatchObject({ state: 'ready', error: null })
  const events = await before.events(orphan)
  expect(events.filter(({ type }) => type === 'attempt.lost')).toHaveLength(1)
  const status = await before.status(orphan)
  await writeFile(
    tempDir.file('out.mp4'),
    Buffer.from(await (await fetch(status?.outputs[0]?.url ?? '')).arrayBuffer()),
  )
  expect(await decodeFrames(tempDir.file('out.mp4'))).toHaveLength(200)

  // One with the id of another is refused, with a sentence.
  await using twin = startTranscoder(base, { TRANSCODER_ID: 'two', WORK_DIR: tempDir.file('twin') })
  expect((await twin.logged('not registered'))['error']).toMatch(/is registered with the id "two" and answers/)
  await twin.kill('SIGTERM')
  expect(await byId(before, 'two')).toMatchObject({ state: 'ready' })

  // The killed one's id is free at once.
  await using again = startTranscoder(base, { TRANSCODER_ID: 'one', WORK_DIR: tempDir.file('again') })
  await again.logged('registered')

  // The service restarts at the same address; nobody tells the transcoders.
  expect((await before.stop()).code).toBe(0)
  await using service = await Service.start({ ...settings, PORT: new URL(base).port })
  await waitFor('all to be ready', async () => {
    const found = await list(service)
    return found.length === 3 && found.every(({ state }) => state === 'ready')
  })
  const more = await Promise.all([1, 2, 3].map(() => service.create(jobRequest(media.url, 'http'))))
  for (const job of more) expect(await service.waitForEnd(job)).toMatchObject({ state: 'ready', error: null })

  // SIGTERM: it gets no more jobs, ends with code 0, and is not listed any more.
  expect(await again.kill('SIGTERM')).toBe(0)
  expect(again.lines.at(-1)).toMatchObject({ msg: 'deregistered' })
  expect((await list(service)).map(({ id }) => id)).toEqual(['three', 'two'])
  await rm(stateDir, { recursive: true, force: true, maxRetries: 3 })
}, 240_000)

test('a service with a transcoder of its own lists it with the others; a wrong secret opens nothing', async () => {
  await using tempDir = await tempDirectory()
  await using service = await Service.start({ TRANSCODER_SECRET: SECRET })
  await waitFor('its own to register', async () => (await byId(service, 'local-0'))?.state === 'ready')
  await using stranger = startTranscoder(service.base, {
    TRANSCODER_SECRET: SECRET.replace('secret', 'guess!'),
    WORK_DIR: tempDir.file('work'),
  })
  expect((await stranger.logged('not registered'))['error']).toBe(
    'TRANSCODER_SECRET is missing or is not that of this service.',
  )
  expect(await list(service)).toHaveLength(1)
  const input = await service.upload(await makeClip(tempDir.file('clip.mp4'), { width: 320, height: 180, seconds: 1 }))
  expect(await service.run(jobRequest(input, 'file-upload'))).toMatchObject({ state: 'ready', error: null })
  // The address of the client, not what it says of itself.
  const id = 'the-request-of-this-test'
  const headers = { 'x-request-id': id, 'x-forwarded-for': '6.6.6.6', 'cf-connecting-ip': '6.6.6.6' }
  await fetch(`${service.base}/api/v0/limits`, { headers })
  const log = join(service.stateDir, 'logs/worker.log')
  const written = async () => (await readFile(log, 'utf8')).split('\n').find((line) => line.includes(id))
  const line = JSON.parse(await waitFor('the line of the request', written)) as Line
  expect(line['client']).toBe('127.0.0.1')
})

test.each([
  [{ TRANSCODER_SECRET: 'short' }, /TRANSCODER_SECRET must have 32 characters/],
  [{ TRANSCODERS: '0' }, /TRANSCODERS must be a whole number from 1 to 64/],
  [{ HOST: 'example.com' }, /HOST must be an address of this machine/],
  [{ TRUSTED_PROXIES: '10.0.0.0/40' }, /TRUSTED_PROXIES must be addresses and networks/],
  [{ TRUST_PROXY: '1', TRUSTED_PROXIES: '10.0.0.1' }, /not both/],
  [{ TRUST_PROXY: '1', HOST: '0.0.0.0' }, /TRUST_PROXY=1 believes everyone who reaches 0\.0\.0\.0/],
])('the service refuses %o', (env, message) => {
  expect(() => readServiceSettings(env)).toThrow(message)
})

test.each([
  [{ SERVICE_URL: 'http://10.0.0.1:8787' }, /TRANSCODER_SECRET must have 32 characters/],
  [{ SERVICE_URL: 'http://10.0.0.1:8787/path', TRANSCODER_SECRET: SECRET }, /SERVICE_URL must be an address without/],
  [{ SERVICE_URL: '10.0.0.1:8787', TRANSCODER_SECRET: SECRET }, /SERVICE_URL must be an address without a path/],
  [{ SERVICE_URL: 'http://a', TRANSCODER_SECRET: SECRET, TRANSCODER_ID: 'a b' }, /TRANSCODER_ID must have 1 to 64/],
  [{ TRANSCODER_ID: 'one' }, /TRANSCODER_ID needs SERVICE_URL/],
  [{ TRANSCODER_ADVERTISE_URL: 'http://10.0.0.5:8788' }, /TRANSCODER_ADVERTISE_URL needs SERVICE_URL/],
])('a transcoder refuses %o', (env, message) => {
  expect(() => readSettings(env)).toThrow(message)
})
