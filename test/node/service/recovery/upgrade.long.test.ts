// In charge of: upgrades of a service with jobs in every state: from the first version that could be started to this one,
// over every migration; and the way back to the version before the newest migration.
// Older sources come from git's history, their packages from npm; without either the tests are skipped.
import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { decodeFrames, makeClip, tempDirectory } from '../../../support/media/media.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { jobRequest, ROOT, Service, waitFor } from '../../../support/service.ts'

/** The first commit that has `npm start`; its database has one migration. */
const FIRST_SERVICE = '248f5c5f7a26331b09ea4ab24a31a02f3bfe8a3a'
const FRAMES = 200
/** Each request has its own connection: a kept one may be closed while it is used again. */
const FRESH = { connection: 'close' }
const execute = promisify(execFile)
const git = async (...args: string[]) => (await execute('git', args, { cwd: ROOT })).stdout.trim()

let media: PausableFileServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  // A codec without captions, so that the encoder is the first to read the held part of the source.
  const flags = ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart']
  media = resources.use(await PausableFileServer.start(await makeClip(tempDir.file('clip.mp4'), { seconds: 8, flags })))
})
afterAll(() => media?.resume())

/** The sources of a commit with the packages that they name. Skips where they cannot be had. */
async function checkOut(commit: string, context: TestContext): Promise<string> {
  const root = tempDir.file(commit.slice(0, 12))
  await mkdir(root)
  const archive = tempDir.file(`${commit.slice(0, 12)}.tar`)
  await git('archive', '--output', archive, commit).catch(() => context.skip(`git has no commit ${commit} here`))
  await execute('tar', ['-xf', archive, '-C', root])
  const [own, theirs] = await Promise.all([ROOT, root].map((place) => dependenciesOf(place)))
  if (own === theirs) {
    await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'))
    return root
  }
  const install = ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await execute('npm', install, { cwd: root }).catch(() =>
    context.skip('npm cannot install the packages of that commit'),
  )
  return root
}

async function dependenciesOf(root: string): Promise<string> {
  const { dependencies, devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  return JSON.stringify({ dependencies, devDependencies })
}

/** Answers of other versions differ from today's OpenAPI document, so they are not checked against it. */
async function call(service: Service, path: string, body?: object): Promise<any> {
  const response = await fetch(service.base + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      ...FRESH,
      authorization: `Basic ${Buffer.from(`${service.apiKey}:`).toString('base64')}`,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

const create = async (service: Service): Promise<number> =>
  (await call(service, '/api/v0/job', jobRequest(media.url, 'http')))._auto_generated_id_
const statusOf = async (service: Service, id: number) => (await call(service, `/api/v0/job/${id}`)).status

/** The frames of a job's output, once it has ended. */
async function framesOf(service: Service, id: number): Promise<number> {
  const status = await waitFor(`job ${id} to end`, async () => {
    const current = await statusOf(service, id)
    return current.job_completed === true ? current : null
  })
  expect(status.error, `job ${id}`).toBeNull()
  const path = tempDir.file(`${id}.mp4`)
  await writeFile(path, Buffer.from(await (await fetch(status.outputs[0].url, { headers: FRESH })).arrayBuffer()))
  return (await decodeFrames(path)).length
}

/** One job that has ended, one that is being encoded, one that waits. */
async function createInEveryState(service: Service): Promise<number[]> {
  const ended = await create(service)
  expect(await framesOf(service, ended)).toBe(FRAMES)
  media.pauseAt(0.6)
  const running = await create(service)
  await waitFor('a job to be encoded', async () => Number((await statusOf(service, running)).tcode_progress) > 0)
  return [ended, running, await create(service)]
}

const startWith = (stateDir: string, root: string) =>
  Service.start({ STATE_DIR: stateDir, ALLOW_PRIVATE_HOSTS: media.host }, root)

/** Stops `from` with jobs in every state, and lets `to` finish them and one more. The frames of their outputs. */
async function change(from: string, to: string): Promise<number[]> {
  const stateDir = tempDir.file(`state-${to === ROOT ? 'up' : 'back'}`)
  const before = await startWith(stateDir, from)
  const jobs = await createInEveryState(before)
  await before.stop()
  media.resume()
  await using after = await startWith(stateDir, to)
  expect(after.apiKey).toBe(before.apiKey)
  jobs.push(await create(after))
  const frames: number[] = []
  for (const id of jobs) frames.push(await framesOf(after, id))
  return frames
}

test('from the first version to this one: every job ends, old outputs can still be read', async (context) => {
  expect(await change(await checkOut(FIRST_SERVICE, context), ROOT)).toEqual([FRAMES, FRAMES, FRAMES, FRAMES])
}, 300_000)

test('back to the version before the newest migration', async (context) => {
  const added = await git('log', '--diff-filter=A', '--format=%H', '-1', '--', 'migrations').catch(() => '')
  if (added === '') return context.skip('git has no history here')
  expect(await change(ROOT, await checkOut(`${added}^`, context))).toEqual([FRAMES, FRAMES, FRAMES, FRAMES])
}, 300_000)
