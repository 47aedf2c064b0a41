// Containers whose index is at the end, or in parts: whole attempts through the loopback server, with decoded outputs.
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { FakeTaskApi, type FakeSource } from '../../../../support/transcoder/fakeTaskApi.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture } from '../../../../support/transcoder/useAttempts.ts'
import { sampled } from '../../../../support/longForm.ts'

const run = promisify(execFile)
const fixtures = await useAttemptFixture()

const SECONDS = 3

async function clip(extension: string, flags: string): Promise<Buffer> {
  const file = join(fixtures.directory, `source.${extension}`)
  const made = `-f lavfi -i testsrc2=s=320x180:r=25:d=${SECONDS} -f lavfi -i sine=r=48000:d=${SECONDS} -pix_fmt yuv420p ${flags}`
  await run(fixtures.engine.ffmpeg, [...`-nostdin -y -v error ${made}`.split(' '), file])
  return readFile(file)
}

test.each(
  sampled(
    [
      ['mp4 with its header at the end', 'mp4', '-c:v libx264 -preset ultrafast -b:v 4M -c:a aac'],
      ['mov with its header at the end', 'mov', '-c:v mjpeg -pix_fmt yuvj420p -c:a pcm_s16le'],
      ['mp4 in fragments', 'mp4', '-c:v libx264 -preset ultrafast -c:a aac -movflags frag_keyframe+empty_moov'],
      ['MXF with its index in the footer', 'mxf', '-c:v mpeg2video -c:a pcm_s16le'],
      ['AVI with its index at the end', 'avi', '-c:v mpeg4 -c:a libmp3lame'],
      ['Matroska with its cues at the end', 'mkv', '-c:v libx264 -preset ultrafast -c:a ac3'],
      ['program stream', 'mpg', '-c:v mpeg2video -c:a mp2 -f vob'],
      ['FLV', 'flv', '-c:v libx264 -preset ultrafast -c:a aac'],
    ],
    3,
  ),
)('%s, in small ranges', async (_title, extension, flags) => {
  const found = await transcoded({ bytes: await clip(extension, flags) })
  expect(found.troubles).toEqual([])
  expect(Math.abs(found.frames - SECONDS * 25)).toBeLessThanOrEqual(1)
  expect(Math.abs(found.seconds - SECONDS)).toBeLessThan(0.1)
})

const atTheEnd = {
  mp4: '-c:v libx264 -preset ultrafast -b:v 1M -c:a aac',
  mxf: '-c:v mpeg2video -c:a pcm_s16le',
}
test.each(
  sampled(
    [
      ['mp4', true],
      ['mp4', false],
      ['mxf', true],
      ['mxf', false],
    ] as const,
    2,
  ),
)('%s from a server that ignores Range is spooled first (its length announced: %s)', async (extension, length) => {
  const source = { bytes: await clip(extension, atTheEnd[extension]), ranges: false, length }
  const found = await transcoded(source)
  expect(found.troubles).toEqual([])
  expect(Math.abs(found.frames - SECONDS * 25)).toBeLessThanOrEqual(1)
  expect(Math.abs(found.seconds - SECONDS)).toBeLessThan(0.1)
})

test.each(sampled([true, false], 1))(
  'a truncated source without range support fails (Content-Length present: %s)',
  async (length) => {
    const bytes = await clip('ts', '-c:v libx264 -preset ultrafast -c:a aac')
    const taskApi = await new FakeTaskApi({ bytes, ranges: false, length }).start()
    try {
      taskApi.faults.input = ({ request, response }) => {
        taskApi.input(request, response, bytes.length / 2)
        return true
      }
      taskApi.task = describeTask({ container: 'mp4' })
      await runTask(runRequest(taskApi), {
        ...fixtures.context(),
        source: { retryForMs: 200, backoff: { baseMs: 1, maxMs: 2 } },
      })
      expect(taskApi.fails).toMatchObject([{ error: { code: 'source_incomplete' } }])
      expect([taskApi.finished, await fixtures.workDirEntries()]).toEqual([null, []])
    } finally {
      await taskApi.stop()
    }
  },
)

/** Frames and seconds of audio that a whole attempt makes of a source; decoding reports no error. */
async function transcoded(source: FakeSource): Promise<{ frames: number; seconds: number; troubles: unknown[] }> {
  const door = await new FakeTaskApi(source).start()
  try {
    door.task = describeTask({ container: 'mp4' })
    await runTask(runRequest(door), { ...fixtures.context(), source: { rangeBytes: 100_000 } })
    const troubles: unknown[] = [...door.fails, ...door.breaches]
    if (troubles.length > 0) return { frames: 0, seconds: 0, troubles }
    const file = join(fixtures.directory, 'output.mp4')
    await writeFile(file, door.objects().get('out/v0.mp4')!)
    const decoded = (stream: string) =>
      run(fixtures.engine.ffmpeg, `-nostdin -v error -progress pipe:1 -i ${file} -map 0:${stream} -f null -`.split(' '))
    const video = await decoded('v')
    const frames = Number([...video.stdout.matchAll(/^frame=\s*(\d+)$/gm)].at(-1)?.[1])
    const audio = await decoded('a')
    const microseconds = Number([...audio.stdout.matchAll(/^out_time_us=(\d+)$/gm)].at(-1)?.[1])
    return { frames, seconds: microseconds / 1e6, troubles: video.stderr === '' ? [] : [video.stderr] }
  } finally {
    await door.stop()
  }
}

test('a source without video arrives as audio files, from a task of both', async () => {
  const file = join(fixtures.directory, 'song.mp3')
  const sound = `-nostdin -y -v error -f lavfi -i sine=r=48000:d=${SECONDS} -c:a libmp3lame`
  await run(fixtures.engine.ffmpeg, [...sound.split(' '), file])
  const door = await new FakeTaskApi({ bytes: await readFile(file) }).start()
  try {
    door.task = describeTask({ container: 'mp4', bitrates: [400, 200] })
    await runTask(runRequest(door), fixtures.context())
    expect(door.fails).toMatchObject([{ reason: 'failed', error: { code: 'no_video', field: 'input' } }])
    door.fails.length = 0
    door.task.config.audio_output_path = 'sound'
    await runTask(runRequest(door), fixtures.context())
    expect(door.fails).toEqual([])
    expect([...door.objects().keys()]).toEqual(['sound/clip_audio_0.m4a'])
    expect(door.finished?.warnings.map((warning) => warning.field)).toEqual(['videoProfiles[0]', 'videoProfiles[1]'])
    expect(door.breaches).toEqual([])
  } finally {
    await door.stop()
  }
})
