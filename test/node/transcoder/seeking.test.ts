// Containers whose index lies at their end, or in parts: whole attempts through the gateway, whose outputs are decoded.
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runTask } from '../../../transcoder/run.ts'
import { FakeDoor } from './fake-door.ts'
import { describeTask, openBench, requestFor, type Bench } from './task-fixture.ts'

const run = promisify(execFile)
let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.remove())

const SECONDS = 3

async function clip(extension: string, flags: string): Promise<Buffer> {
  const file = join(bench.directory, `source.${extension}`)
  const made = `-f lavfi -i testsrc2=s=320x180:r=25:d=${SECONDS} -f lavfi -i sine=r=48000:d=${SECONDS} -pix_fmt yuv420p ${flags}`
  await run(bench.engine.ffmpeg, [...`-nostdin -y -v error ${made}`.split(' '), file])
  return readFile(file)
}

test.each([
  ['mp4 with its header at the end', 'mp4', '-c:v libx264 -preset ultrafast -b:v 4M -c:a aac'],
  ['mov with its header at the end', 'mov', '-c:v mjpeg -pix_fmt yuvj420p -c:a pcm_s16le'],
  ['mp4 in fragments', 'mp4', '-c:v libx264 -preset ultrafast -c:a aac -movflags frag_keyframe+empty_moov'],
  ['MXF with its index in the footer', 'mxf', '-c:v mpeg2video -c:a pcm_s16le'],
  ['AVI with its index at the end', 'avi', '-c:v mpeg4 -c:a libmp3lame'],
  ['Matroska with its cues at the end', 'mkv', '-c:v libx264 -preset ultrafast -c:a ac3'],
  ['program stream', 'mpg', '-c:v mpeg2video -c:a mp2 -f vob'],
  ['FLV', 'flv', '-c:v libx264 -preset ultrafast -c:a aac'],
])('%s, in small ranges', async (_title, extension, flags) => {
  const door = await new FakeDoor({ bytes: await clip(extension, flags) }).start()
  try {
    door.task = describeTask({ container: 'mp4' })
    await runTask(requestFor(door), { ...bench.context(), source: { rangeBytes: 100_000, giveUpMs: 500 } })
    expect(door.fails).toEqual([])
    expect(door.breaches).toEqual([])
    const file = join(bench.directory, 'output.mp4')
    await writeFile(file, door.objects().get('out/v0.mp4')!)
    const decoded = (stream: string) =>
      run(bench.engine.ffmpeg, `-nostdin -v error -progress pipe:1 -i ${file} -map 0:${stream} -f null -`.split(' '))
    const video = await decoded('v')
    expect(video.stderr).toBe('')
    const frames = Number([...video.stdout.matchAll(/^frame=\s*(\d+)$/gm)].at(-1)?.[1])
    expect(Math.abs(frames - SECONDS * 25)).toBeLessThanOrEqual(1)
    const sound = await decoded('a')
    const microseconds = Number([...sound.stdout.matchAll(/^out_time_us=(\d+)$/gm)].at(-1)?.[1])
    expect(Math.abs(microseconds / 1e6 - SECONDS)).toBeLessThan(0.1)
  } finally {
    await door.stop()
  }
})

test('a source without video arrives as audio files, from a task of both', async () => {
  const file = join(bench.directory, 'song.mp3')
  const sound = `-nostdin -y -v error -f lavfi -i sine=r=48000:d=${SECONDS} -c:a libmp3lame`
  await run(bench.engine.ffmpeg, [...sound.split(' '), file])
  const door = await new FakeDoor({ bytes: await readFile(file) }).start()
  try {
    door.task = describeTask({ container: 'mp4', bitrates: [400, 200] })
    await runTask(requestFor(door), bench.context())
    expect(door.fails).toMatchObject([{ reason: 'failed', error: { code: 'no_video', field: 'input' } }])
    door.fails.length = 0
    door.task.config.audio_output_path = 'sound'
    await runTask(requestFor(door), bench.context())
    expect(door.fails).toEqual([])
    expect([...door.objects().keys()]).toEqual(['sound/clip_audio_0.m4a'])
    expect(door.finished?.warnings.map((warning) => warning.field)).toEqual(['videoProfiles[0]', 'videoProfiles[1]'])
    expect(door.breaches).toEqual([])
  } finally {
    await door.stop()
  }
})
