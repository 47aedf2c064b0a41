// In charge of: the process itself: ready line, a task from HTTP to commit, SIGTERM, and what a SIGKILL leaves behind.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { FakeDoor } from './fake-door.ts'
import { describeTask, makeClip, openBench, processesNaming, requestFor, type Bench } from './task-fixture.ts'

const MAIN = resolve(import.meta.dirname, '../../../transcoder/main.ts')
let bench: Bench
let long: Buffer
let door: FakeDoor
const children: ChildProcess[] = []

beforeAll(async () => {
  bench = await openBench()
  long = await makeClip(bench, 120)
})
afterAll(() => bench.remove())
beforeEach(async () => {
  door = await new FakeDoor({ bytes: long }).start()
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await door.stop()
})

interface Running {
  child: ChildProcess
  url: string
  lines: Record<string, unknown>[]
  exited: Promise<unknown[]>
}

async function start(env: Record<string, string> = {}): Promise<Running> {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'], WORK_DIR: bench.workDir, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const exited = once(child, 'exit')
  const lines: Record<string, unknown>[] = []
  const reader = createInterface({ input: child.stdout })
  const ready = new Promise<string>((found, failed) => {
    reader.on('line', (line) => {
      const value = JSON.parse(line) as Record<string, unknown>
      lines.push(value)
      if (value['transcoder'] === 'ready') found(value['url'] as string)
    })
    child.on('exit', () => failed(new Error('the transcoder ended before it was ready')))
  })
  return { child, url: await ready, lines, exited }
}

async function startTask({ url }: Running): Promise<void> {
  door.task = describeTask({ container: 'ts', quality: 'best', bitrates: [400, 300, 200] })
  const answer = await fetch(`${url}/run`, { method: 'POST', body: JSON.stringify(requestFor(door)) })
  expect(answer.status).toBe(202)
  await door.until(() => door.beats.some((beat) => beat.phase === 'transcoding' && beat.transcoded > 0))
}

test('SIGTERM gives the task back, ends ffmpeg and the process, and leaves nothing', async () => {
  const running = await start()
  await startTask(running)
  running.child.kill('SIGTERM')
  expect(await running.exited).toEqual([0, null])
  expect(door.fails).toEqual([{ reason: 'interrupted' }])
  expect(door.breaches).toEqual([])
  expect(await processesNaming(bench.workDir)).toEqual([])
  expect(await readdir(bench.workDir)).toEqual([])
  expect(JSON.stringify(running.lines)).not.toContain(door.token)
})

test('cancel over HTTP ends the run, and the next task is taken', async () => {
  const running = await start()
  await startTask(running)
  await fetch(`${running.url}/cancel`, { method: 'POST', body: JSON.stringify({ task_id: 't-1', attempt: 1 }) })
  door.source = { bytes: await makeClip(bench, 2) }
  door.storedPlan = null
  door.task = { ...door.task!, attempt: 2 }
  const next = await fetch(`${running.url}/run`, { method: 'POST', body: JSON.stringify(requestFor(door, 2)) })
  expect(next.status).toBe(202)
  await door.until(() => door.finished !== null)
  expect(door.fails).toEqual([{ reason: 'cancelled' }])
  expect(door.objects().size).toBe(3)
})

test('what a killed transcoder leaves, its directory and its ffmpeg, the next one clears away', async () => {
  const killed = await start()
  await startTask(killed)
  killed.child.kill('SIGKILL')
  await killed.exited
  expect(await readdir(bench.workDir)).toHaveLength(1)
  const next = await start()
  expect(await readdir(bench.workDir)).toEqual([])
  await expect.poll(() => processesNaming(bench.workDir)).toEqual([])
  expect(next.lines).toContainEqual(expect.objectContaining({ msg: 'left-over directories removed', count: 1 }))
})

test('without an ffmpeg that can do the work it does not start, and says what is missing', async () => {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: '', WORK_DIR: bench.workDir, FFMPEG_PATH: '/nonexistent/ffmpeg' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  expect(await once(child, 'close')).toEqual([1, null])
  expect(said).toContain('the transcoder cannot start')
  expect(said).toContain('FFMPEG_PATH')
})
