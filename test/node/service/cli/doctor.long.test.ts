// In charge of: `splicepoint doctor` against the real service: a healthy one passes and is left unchanged; a lost
// attempt, a store that refuses and a queue without a consumer are reported.
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Check } from '#contract/api/diagnosis.ts'
import { S3Server } from '../../../fakes/s3Server.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { runProgram, SPLICEPOINT } from '../../../support/runProgram.ts'
import { ROOT, Service, waitFor } from '../../../support/service.ts'

const keys = { accessKey: 'AKIADOCTOREXAMPLE', secretKey: 'doctor/secret' }

let service: Service
let media: PausableFileServer
let s3: S3Server
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  await makeClip(tempDir.file('film.mp4'), { width: 320, height: 180, seconds: 2 })
  media = resources.use(await PausableFileServer.start(tempDir.file('film.mp4')))
  s3 = resources.use(await S3Server.start({ accounts: [keys], buckets: ['films'], region: 'eu-west-1' }))
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: `${media.host},${s3.host}` }))
})

interface Ran {
  code: number | null
  report: any
  stderr: string
}

async function doctor(of: Service, args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const known = {
    SPLICEPOINT_KEY: of.ready.api_key,
    SPLICEPOINT_ADMIN_KEY: of.ready.admin_key,
    AWS_ACCESS_KEY_ID: keys.accessKey,
    AWS_SECRET_ACCESS_KEY: keys.secretKey,
    AWS_REGION: 'eu-west-1',
    AWS_ENDPOINT_URL: `http://${s3.host}`,
  }
  const options = { cwd: tempDir.path, env: { ...known, ...env } }
  const command = [SPLICEPOINT, 'doctor', of.base, '--json', ...args]
  const { code, stdout, stderr } = await runProgram(process.execPath, command, options)
  if (stdout === '') throw new Error(stderr)
  return { code, report: JSON.parse(stdout), stderr }
}

const all = ({ report }: Ran): Check[] => Object.values<Check[]>(report.sections).flat()
const faults = (ran: Ran) => all(ran).flatMap(({ name, verdict }) => (verdict === 'fault' ? [name] : []))

/** The jobs and uploads that clients and administrators can see. */
async function kept(of: Service) {
  const [jobs, uploads] = await Promise.all(
    ['/api/v0/job', '/uploads'].map(async (path) => (await of.call(path)).json()),
  )
  return { ...(jobs as object), ...(uploads as object) }
}

test('a whole service: each output as announced, a store, a source, nothing left', { timeout: 180_000 }, async () => {
  const ran = await doctor(service, ['--store', 's3://films/canary', '--input', media.url])
  expect(faults(ran), JSON.stringify(all(ran).filter(({ verdict }) => verdict !== 'ok'))).toEqual([])
  expect(ran).toMatchObject({ code: 0, stderr: '', report: { ok: true, address: service.base } })
  expect(Object.keys(ran.report.sections)).toEqual(['Address', 'Service', 'Jobs'])
  const jobs = ran.report.sections.Jobs.map(({ name }: Check) => name)
  expect(jobs).toEqual(['mp4', 'address', 'store s3://films/canary', 'removed'])
  expect(await kept(service)).toEqual({ jobs: [], uploads: [], next_cursor: null })
  expect([...s3.objects.keys()]).toEqual([])
  expect(s3.uploads.size).toBe(0)
})

test('an attempt that is lost is a fault, although the job completes', { timeout: 180_000 }, async () => {
  media.pauseAt(0.3)
  const running = doctor(service, ['--input', media.url])
  await waitFor('the transcoder to wait for the source', () => media.waitForRequest > 0)
  await waitFor('the attempt to run', async () => {
    const { jobs }: any = await (await service.call('/api/v0/job')).json()
    return jobs[0]?.status.state === 'running' && jobs[0].input === media.url
  })
  process.kill(service.transcoder()!.pid, 'SIGKILL')
  await waitFor('another transcoder', () => service.transcoder() !== null)
  media.resume()
  const ran = await running
  expect(ran.code).toBe(1)
  expect(faults(ran)).toContain('address')
  expect(all(ran).find(({ name }) => name === 'address')).toMatchObject({
    message: expect.stringContaining('lost'),
    remedy: expect.stringContaining('docs/troubleshooting.md'),
  })
  expect(await kept(service)).toEqual({ jobs: [], uploads: [], next_cursor: null })
})

test(
  'a store that refuses is reported with the service’s message; wrong keys have their own messages; --no-jobs runs no job',
  { timeout: 180_000 },
  async () => {
    const refused = await doctor(service, ['--store', 's3://films/canary'], { AWS_SECRET_ACCESS_KEY: 'wrong' })
    expect(refused.code).toBe(1)
    expect(faults(refused)).toEqual(['store s3://films/canary'])
    expect(all(refused).find(({ verdict }) => verdict === 'fault')?.message).toMatch(/credentials_invalid/)

    const unknown = await doctor(service, [], {
      SPLICEPOINT_KEY: 'sp_unknown',
      SPLICEPOINT_ADMIN_KEY: service.ready.api_key,
    })
    expect(unknown.code).toBe(1)
    expect(faults(unknown)).toEqual(['key', 'admin_key'])
    expect(unknown.report.sections.Jobs).toBeUndefined()

    const none = await doctor(service, ['--no-jobs'])
    expect(none.code).toBe(0)
    expect(none.report.sections.Jobs).toBeUndefined()
    expect(await kept(service)).toEqual({ jobs: [], uploads: [], next_cursor: null })
  },
)

test(
  'a queue without a consumer is found: by the service, and by a job that never begins and still is removed',
  { timeout: 180_000 },
  async () => {
    const copy = await mkdtemp(join(tmpdir(), 'splicepoint-doctor-'))
    try {
      const leftOut = new Set([
        'node_modules',
        '.git',
        '.wrangler',
        '.tsbuild',
        'test',
        'bench',
        'matrix',
        'docs',
        'dist',
      ])
      for (const name of await readdir(ROOT))
        if (!leftOut.has(name)) await cp(join(ROOT, name), join(copy, name), { recursive: true })
      await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
      const toml = await readFile(join(copy, 'wrangler.toml'), 'utf8')
      const [before, after] = toml.split('[[queues.consumers]]')
      await writeFile(join(copy, 'wrangler.toml'), before + after!.slice(after!.indexOf('\n[[')))
      await using planted = await Service.start({}, copy)
      const ran = await doctor(planted, ['--timeout', '2'])
      expect(ran.code).toBe(1)
      expect(faults(ran)).toEqual(['queue', 'mp4'])
      expect(all(ran).find(({ name }) => name === 'queue')?.remedy).toContain('[[queues.consumers]]')
      expect(await kept(planted)).toEqual({ jobs: [], uploads: [], next_cursor: null })
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  },
)
