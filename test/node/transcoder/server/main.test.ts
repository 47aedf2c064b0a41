// In charge of: the transcoder process: its log lines, its behaviour before ffmpeg was probed, a task from HTTP to
// commit, every way to stop it, and what a SIGKILL leaves behind.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { writeEngineCache } from '../../../../transcoder/ffmpeg/engineCache.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import {
  describeTask,
  makeSourceClip,
  findFfmpegProcesses,
  runRequest,
} from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'
import { sampled } from '../../../support/longForm.ts'

const MAIN = resolve(import.meta.dirname, '../../../../transcoder/main.ts')
const { NODE_COMPILE_CACHE } = process.env
const compileCache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
/** The machine may be busy. */
const PATIENT = { timeout: 30_000 }
const fixtures = await useAttemptFixture()
let long: Buffer
let short: Buffer
let taskApi: FakeTaskApi
/** What ffmpeg can do: with it a transcoder is ready sooner. */
let record: string
const children: ChildProcess[] = []

beforeAll(async () => {
  ;[long, short] = [await makeSourceClip(fixtures, 120), await makeSourceClip(fixtures, 15)]
  record = join(fixtures.directory, 'engine.json')
  await writeEngineCache(record, fixtures.engine)
})
beforeEach(async () => {
  taskApi = await new FakeTaskApi({ bytes: long }).start()
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await taskApi.stop()
})

interface Running {
  child: ChildProcess
  url: string
  lines: Record<string, unknown>[]
  exited: Promise<unknown[]>
}

/** Resolves at the first line that contains its address, or that says that it is ready. */
async function start(env: Record<string, string> = {}, until: 'listening' | 'ready' = 'ready'): Promise<Running> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      WORK_DIR: fixtures.workDir,
      PORT: '0',
      FFMPEG_PATH: fixtures.engine.ffmpeg,
      FFPROBE_PATH: fixtures.engine.ffprobe,
      FFMPEG_RECORD: record,
      ...compileCache,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A separate process group, for signals to the whole group, as a terminal sends them.
    detached: true,
  })
  children.push(child)
  const exited = once(child, 'exit')
  const lines: Record<string, unknown>[] = []
  const reader = createInterface({ input: child.stdout })
  const url = new Promise<string>((found, failed) => {
    reader.on('line', (line) => {
      const value = JSON.parse(line) as Record<string, unknown>
      lines.push(value)
      if (value['transcoder'] === until) found(value['url'] as string)
    })
    child.on('exit', () => failed(new Error(`the transcoder ended before it was ${until}`)))
  })
  return { child, url: await url, lines, exited }
}

const run = (url: string, attempt = 1, more: object = {}) =>
  fetch(`${url}/run`, { method: 'POST', body: JSON.stringify({ ...runRequest(taskApi, attempt), ...more }) })

/** An attempt that is certainly encoding, long enough to be observed. */
async function startTask({ url }: Running, bitrates = [400, 300, 200]): Promise<void> {
  taskApi.task = describeTask({ container: 'ts', quality: 'best', bitrates })
  expect((await run(url)).status).toBe(202)
  await taskApi.waitFor(() => taskApi.beats.some((beat) => beat.phase === 'transcoding' && beat.transcoded > 0.01))
}

/** Its decision when it was told to stop. */
const decisions = ({ lines }: Running) =>
  lines.filter((line) => line['msg'] === 'draining').map((line) => line['decision'])

test('SIGTERM returns a task that cannot finish in time, ends ffmpeg and the process, and leaves no files', async () => {
  // A second is too short for any remaining work.
  const running = await start({ DRAIN_SECONDS: '1' })
  await startTask(running)
  running.child.kill('SIGTERM')
  expect(await running.exited).toEqual([0, null])
  expect(taskApi.fails).toMatchObject([
    { reason: 'interrupted', why: expect.stringMatching(/\d s until it has to end$/) },
  ])
  expect(taskApi.breaches).toEqual([])
  expect(await findFfmpegProcesses(fixtures.workDir)).toEqual([])
  expect(await readdir(fixtures.workDir)).toEqual([])
  expect(JSON.stringify(running.lines)).not.toContain(taskApi.token)
  expect(decisions(running).at(-1)).toBe('give_back')
})

/** Holds requests of one kind until `open` is called. */
function hold(operation: 'input' | 'finish' | 'estimate' | 'fail') {
  const { promise, resolve: open } = Promise.withResolvers<void>()
  const { promise: held, resolve: came } = Promise.withResolvers<void>()
  taskApi.faults[operation] = async () => {
    came()
    await promise
    return false
  }
  return { held, open }
}

async function expectDraining(running: Running): Promise<void> {
  await expect
    .poll(async () => (await fetch(`${running.url}/health`)).json(), PATIENT)
    .toMatchObject({ state: 'draining' })
  const refused = await run(running.url, 1, { task_id: 't-2' })
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 'stopping' } }])
}

describe('an attempt that can finish in time finishes, and no further task is accepted', () => {
  test.each(
    sampled(
      [
        ['SIGTERM to the process', (pid: number) => process.kill(pid, 'SIGTERM')],
        // ffmpeg has a separate process group, so it receives neither signal.
        ['SIGINT to its group', (pid: number) => process.kill(-pid, 'SIGINT')],
      ],
      3,
    ),
  )('%s', async (_name, signal) => {
    const running = await start({ DRAIN_SECONDS: '6000' })
    const end = hold('finish')
    taskApi.source = { bytes: short }
    await startTask(running, [400])
    signal(running.child.pid!)
    await expectDraining(running)
    await end.held
    await expectDraining(running)
    end.open()
    expect(await running.exited).toEqual([0, null])
    expect(taskApi.fails).toEqual([])
    expect(taskApi.objects().size).toBe(1)
    expect(decisions(running)).toContain('finish')
    expect(decisions(running)).not.toContain('give_back')
    expect(await readdir(fixtures.workDir)).toEqual([])
  })

  test('a dry run', async () => {
    const running = await start({ DRAIN_SECONDS: '6000' })
    const source = hold('input')
    taskApi.task = { ...describeTask({ container: 'ts' }), kind: 'plan' }
    expect((await run(running.url)).status).toBe(202)
    await source.held
    running.child.kill('SIGTERM')
    await expectDraining(running)
    await expect.poll(() => decisions(running), PATIENT).toContain('finish')
    source.open()
    expect(await running.exited).toEqual([0, null])
    expect(taskApi.fails).toEqual([])
    expect(taskApi.estimated).not.toBeNull()
  })
})

test('a second signal gives back at once what would have finished', async () => {
  const running = await start({ DRAIN_SECONDS: '6000' })
  hold('finish')
  await startTask(running)
  running.child.kill('SIGTERM')
  await expect.poll(() => decisions(running), PATIENT).toContain('finish')
  running.child.kill('SIGINT')
  expect(await running.exited).toEqual([0, null])
  expect(taskApi.fails).toMatchObject([{ reason: 'interrupted', why: expect.stringMatching(/^a second signal/) }])
  expect(running.lines).toContainEqual(expect.objectContaining({ why: 'a second signal was received' }))
  expect(await findFfmpegProcesses(fixtures.workDir)).toEqual([])
})

test('cancel over HTTP ends the run, and the next task is accepted', async () => {
  const running = await start()
  await startTask(running)
  await fetch(`${running.url}/cancel`, { method: 'POST', body: JSON.stringify({ task_id: 't-0', attempt: 1 }) })
  taskApi.source = { bytes: await makeSourceClip(fixtures, 2) }
  taskApi.storedPlan = null
  taskApi.task = { ...taskApi.task!, attempt: 2 }
  const next = await fetch(`${running.url}/run`, { method: 'POST', body: JSON.stringify(runRequest(taskApi, 2)) })
  expect(next.status).toBe(202)
  await taskApi.waitFor(() => taskApi.finished !== null)
  expect(taskApi.fails).toMatchObject([{ reason: 'cancelled' }])
  expect(taskApi.objects().size).toBe(3)
})

test('what a killed transcoder leaves, its directory and its ffmpeg, the next one clears away', async () => {
  const killed = await start()
  await startTask(killed)
  killed.child.kill('SIGKILL')
  await killed.exited
  expect(await readdir(fixtures.workDir)).toHaveLength(1)
  const next = await start()
  expect(await readdir(fixtures.workDir)).toEqual([])
  await expect.poll(() => findFfmpegProcesses(fixtures.workDir)).toEqual([])
  expect(next.lines).toContainEqual(
    expect.objectContaining({ msg: 'directories of earlier processes removed', count: 1 }),
  )
})

/** An ffmpeg that does nothing before a file exists, and executes `then` after it. */
async function slowFfmpeg(then: string): Promise<{ path: string; release: () => Promise<void> }> {
  const path = join(fixtures.directory, `slow-${children.length}-${crypto.randomUUID()}`)
  await writeFile(path, `#!/bin/sh\nwhile [ ! -e ${path}.go ]; do sleep 0.05; done\n${then}\n`, { mode: 0o755 })
  return { path, release: () => writeFile(`${path}.go`, '') }
}

describe('before ffmpeg has said what it can do', () => {
  test('it listens, accepts a task and reports it while ffmpeg is still being probed', async () => {
    const ffmpeg = await slowFfmpeg(`exec ${fixtures.engine.ffmpeg} "$@"`)
    const running = await start({ FFMPEG_PATH: ffmpeg.path }, 'listening')
    const health = async () => (await fetch(`${running.url}/health`)).json() as Promise<Record<string, unknown>>
    expect(await health()).toMatchObject({ state: 'preparing', ffmpeg: null })
    taskApi.source = { bytes: await makeSourceClip(fixtures, 2) }
    taskApi.task = describeTask({ container: 'mp4' })
    expect((await run(running.url)).status).toBe(202)
    await taskApi.waitFor(() => taskApi.beats.some((beat) => beat.phase === 'starting'))
    expect(await health()).toMatchObject({ state: 'busy', task_id: 't-0', ffmpeg: null })
    expect(running.lines.filter((line) => line['transcoder'] === 'ready')).toEqual([])
    await ffmpeg.release()
    await taskApi.waitFor(() => taskApi.finished !== null)
    expect(taskApi.fails).toEqual([])
    expect(await health()).toMatchObject({ ffmpeg: fixtures.engine.version, sandbox: { in_force: expect.anything() } })
  })

  test('a task that waits is cancelled at once', async () => {
    const ffmpeg = await slowFfmpeg(`exec ${fixtures.engine.ffmpeg} "$@"`)
    const running = await start({ FFMPEG_PATH: ffmpeg.path }, 'listening')
    expect((await run(running.url)).status).toBe(202)
    await taskApi.waitFor(() => taskApi.beats.length > 0)
    await fetch(`${running.url}/cancel`, { method: 'POST', body: JSON.stringify({ task_id: 't-0', attempt: 1 }) })
    await taskApi.waitFor(() => taskApi.fails.length > 0)
    expect(taskApi.fails).toMatchObject([{ reason: 'cancelled' }])
    await ffmpeg.release()
  })

  test('with an unusable ffmpeg the waiting task and all further ones are refused with the reason, then the process exits', async () => {
    const ffmpeg = await slowFfmpeg('echo nonsense')
    const running = await start({ FFMPEG_PATH: ffmpeg.path }, 'listening')
    expect((await run(running.url)).status).toBe(202)
    const told = hold('fail')
    await ffmpeg.release()
    await told.held
    const health = await fetch(`${running.url}/health`)
    expect([health.status, await health.json()]).toMatchObject([503, { state: 'unusable' }])
    const refused = await run(running.url, 1, { task_id: 't-2' })
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { error: { code: 'unavailable', message: expect.stringContaining('it does not answer to -version') } },
    ])
    told.open()
    expect(await running.exited).toEqual([1, null])
    expect(taskApi.fails).toMatchObject([
      { reason: 'failed', error: { code: 'internal', message: expect.stringContaining('it does not answer') } },
    ])
  })
})

describe('a record of what ffmpeg can do', () => {
  const asked = ({ lines }: Running) =>
    lines.find((line) => String(line['msg']).startsWith('ffmpeg is probed'))?.['why']
  /** A recorded probe of an ffmpeg that never answers: a transcoder that gets ready did not run it. */
  async function makeRecord() {
    const ffmpeg = await slowFfmpeg(`exec ${fixtures.engine.ffmpeg} "$@"`)
    const path = `${ffmpeg.path}.json`
    await writeEngineCache(path, { ...fixtures.engine, ffmpeg: ffmpeg.path })
    const env = { FFMPEG_RECORD: path, FFMPEG_PATH: ffmpeg.path, FFPROBE_PATH: fixtures.engine.ffprobe }
    return { ...ffmpeg, env, record: path }
  }

  test('is believed while it fits', async () => {
    const { env } = await makeRecord()
    const running = await start(env)
    expect(asked(running)).toBeUndefined()
    expect(await (await fetch(`${running.url}/health`)).json()).toMatchObject({
      state: 'idle',
      ffmpeg: fixtures.engine.version,
      // Never read from the record: the machine may be another one.
      sandbox: { in_force: expect.arrayContaining(['environment']) },
    })
  })

  type Recorded = Awaited<ReturnType<typeof makeRecord>>
  test.each<[string, (recorded: Recorded) => Promise<Record<string, string> | void>, RegExp]>([
    ['another ffmpeg is in its place', ({ path }) => utimes(path, 1, 1), /has changed since$/],
    ['another ffprobe is to be used', otherFfprobe, /^it is about /],
    ['it is of another version', ({ record: path }) => forge(path, { questions: '' }), /another version/],
    ['it is missing', async () => ({ FFMPEG_RECORD: '/nonexistent' }), /ENOENT/],
    ['it is damaged', ({ record: path }) => writeFile(path, '{'), /JSON/],
    ['a library is gone', ({ record: path }) => forge(path, { witnesses: [{ path: '/nonexistent' }] }), /has changed/],
  ])('is not when %s: ffmpeg is asked', async (_name, change, why) => {
    const recorded = await makeRecord()
    const env = { ...recorded.env, ...(await change(recorded)) }
    const running = await start(env, 'listening')
    await expect.poll(() => asked(running), PATIENT).toMatch(why)
    expect(running.lines.filter((line) => line['transcoder'] === 'ready')).toEqual([])
    await recorded.release()
    await expect.poll(() => running.lines.some((line) => line['transcoder'] === 'ready'), PATIENT).toBe(true)
  })

  async function otherFfprobe({ path }: Recorded): Promise<Record<string, string>> {
    await symlink(fixtures.engine.ffprobe, `${path}.ffprobe`)
    return { FFPROBE_PATH: `${path}.ffprobe` }
  }

  async function forge(path: string, change: object): Promise<void> {
    await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), ...change }))
  }
})

test('without an ffmpeg that can do the work it does not start, and says what is missing', async () => {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: '', WORK_DIR: fixtures.workDir, FFMPEG_PATH: '/nonexistent/ffmpeg' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  expect(await once(child, 'close')).toEqual([1, null])
  expect(said).toContain('the transcoder cannot start')
  expect(said).toContain('FFMPEG_PATH')
})
