// In charge of: whole attempts at sources that are broken, encrypted or say wrong things about themselves: what is made of them,
// and what is said about it.
// Not in charge of: sources that break off while they are read (run.test.ts), mutated files (service/hostile.test.ts).
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { probe } from '../../../transcoder/probe.ts'
import { runTask } from '../../../transcoder/run.ts'
import { FakeDoor } from './fake-door.ts'
import { describeTask, openBench, requestFor, type Bench } from './task-fixture.ts'

const run = promisify(execFile)
let bench: Bench
let door: FakeDoor

beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.remove())
beforeEach(async () => {
  bench.lines.length = 0
  door = await new FakeDoor({ bytes: Buffer.alloc(0) }).start()
})
afterEach(() => door.stop())

/** What ffmpeg makes of these arguments in a container of its name. */
async function made(name: string, args: string): Promise<Buffer> {
  const file = join(bench.directory, name)
  await run(bench.engine.ffmpeg, [...`-nostdin -y -v error ${args}`.split(' '), file])
  return readFile(file)
}

const picture = (seconds: number) => `-f lavfi -i testsrc2=s=320x180:r=25:d=${seconds}`
const tone = (seconds: number) => `-f lavfi -i sine=frequency=440:sample_rate=48000:duration=${seconds}`
const H264 = '-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p'

async function secondsOf(name: string, bytes: Buffer): Promise<number> {
  const file = join(bench.directory, name)
  await writeFile(file, bytes)
  return (await probe(bench.engine, `file:${file}`, { cwd: bench.directory })).durationSeconds ?? 0
}

async function attempt(bytes: Buffer, change: Partial<ReturnType<typeof describeTask>['config']> = {}): Promise<void> {
  door.source = { bytes }
  const task = describeTask({ container: 'mp4' })
  door.task = { ...task, config: { ...task.config, ...change } }
  await runTask(requestFor(door), bench.context())
}

describe('a Matroska file that states only its own length, which is that of a stream nobody uses', () => {
  /** Writers that leave the statistics out, and ffmpeg's with another name for them. */
  const withoutTags = (bytes: Buffer) =>
    Buffer.from(bytes.toString('latin1').replaceAll('DURATION', 'XURATION'), 'latin1')

  test.each([
    ['mkv', `${picture(3)} ${tone(3)} ${tone(5)} -map 0 -map 1 -map 2 ${H264} -c:a aac`],
    [
      'webm',
      `${picture(3)} ${tone(3)} ${tone(5)} -map 0 -map 1 -map 2 -c:v libvpx -deadline realtime -cpu-used 8 -c:a libopus`,
    ],
  ])('%s', async (extension, args) => {
    await attempt(withoutTags(await made(`longer.${extension}`, args)))
    expect(door.fails).toEqual([])
    expect(await secondsOf('longer.mp4', door.objects().get('out/v0.mp4')!)).toBeCloseTo(3, 1)
  })

  test('into segments', async () => {
    const args = `${picture(3)} ${tone(3)} ${tone(5)} -map 0 -map 1 -map 2 ${H264} -c:a aac`
    await attempt(withoutTags(await made('longer.mkv', args)), { output_container: 'hls' })
    expect(door.fails).toEqual([])
    expect(door.finished).not.toBeNull()
  })
})
