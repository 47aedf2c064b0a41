// Files that were put one behind the other: every picture and all of the sound of each.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { ffmpeg } from '../../../../support/media/media.ts'
import { audioShiftsAt, frameNumbers, makeNumberedClip } from '../../../../support/media/numberedClip.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const taskApi = useTaskApi(() => Buffer.alloc(0))
const path = (name: string): string => join(fixture.directory, name)

const SECONDS = 2
const PIECES = 3
/** Samples at 48 kHz: 25 ms. Encoders state their priming samples in half of these containers. */
const SAME_PLACE = 1200

const PCM = ['-c:a', 'pcm_s16le']
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '0']
const WEBM = ['-c:v', 'libvpx', '-deadline', 'realtime', '-b:v', '2M', '-c:a', 'libopus', '-b:a', '128k']
const MPEG4 = ['-c:v', 'mpeg4', '-q:v', '2']

async function files(extension: string, codecs: readonly string[]): Promise<Buffer> {
  const whole = await makeNumberedClip(path('whole.mkv'), {
    seconds: SECONDS * PIECES,
    video: ['-qp', '0', '-bf', '0', '-g', '1'],
    audio: PCM,
  })
  const made: Buffer[] = []
  for (let piece = 0; piece < PIECES; piece += 1) {
    const place = ['-ss', `${piece * SECONDS}`, '-t', `${SECONDS}`]
    const part = path(`piece-${piece}.${extension}`)
    await ffmpeg([...place, '-i', whole, ...codecs, part])
    made.push(await readFile(part))
  }
  return Buffer.concat(made)
}

async function answered(bytes: Buffer, config = {}): Promise<void> {
  taskApi.source = { bytes }
  const task = describeTask({ container: 'mp4' })
  taskApi.task = { ...task, config: { ...task.config, ...config } }
  await runTask(runRequest(taskApi), fixture.context())
}

test.each<[extension: string, codecs: readonly string[]]>([
  ['mkv', [...H264, ...PCM]],
  // As browsers write it: it states no length.
  ['webm', [...WEBM, '-live', '1']],
  ['mp4', [...H264, '-c:a', 'aac']],
  ['wmv', [...MPEG4, ...PCM]],
  ['avi', [...MPEG4, ...PCM]],
  ['ogv', ['-c:v', 'libtheora', '-q:v', '9', '-c:a', 'libvorbis']],
])('%s %j', async (extension, codecs) => {
  await answered(await files(extension, codecs))
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  const [bytes] = taskApi.objects().values()
  await writeFile(path('out.mp4'), bytes!)
  expect(await frameNumbers(path('out.mp4'))).toEqual(
    Array.from({ length: SECONDS * PIECES * 25 }, (_, frame) => frame),
  )
  const places = Array.from({ length: PIECES }, (_, piece) => Math.round((piece * SECONDS + 1) * 48_000))
  const shifts = await audioShiftsAt(
    path('out.mp4'),
    places.map((place) => ({ place, origin: place })),
  )
  for (const shift of shifts) expect(Math.abs(shift)).toBeLessThan(SAME_PLACE)
  const { message } = taskApi.finished!.warnings.find(({ code }) => code === 'files_joined')!
  expect(message).toContain('3 files')
})

test('a part of it is refused, with what to do', async () => {
  await answered(await files('mkv', [...H264, ...PCM]), { end_seconds: 3 })
  expect(taskApi.fails).toMatchObject([
    { error: { code: 'source_unsupported', message: expect.stringContaining('in inputs') as string } },
  ])
})
