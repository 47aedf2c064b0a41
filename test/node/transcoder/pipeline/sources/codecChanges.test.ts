// Transport streams whose program map gives a PID to another codec, and recordings of different codecs put one behind the
// other: every picture and all of the sound.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { ffmpeg } from '../../../../support/media/media.ts'
import { audioShiftsAt, frameNumbers, makeNumberedClip } from '../../../../support/media/numberedClip.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const taskApi = useTaskApi(() => Buffer.alloc(0))
const path = (name: string): string => join(fixture.directory, name)

const SECONDS = 2
const FRAMES = SECONDS * 25
/** Samples at 48 kHz: 10 ms. */
const SAME_PLACE = 480

const MPEG2 = ['-c:v', 'mpeg2video', '-q:v', '2', '-bf', '0', '-g', '12']
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '0', '-g', '25']
const HEVC = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error:bframes=0']
const MP2 = ['-c:a', 'mp2', '-b:a', '192k']
const AC3 = ['-c:a', 'ac3', '-b:a', '192k']
const AAC = ['-c:a', 'aac', '-b:a', '192k']

/** `starts`: seconds on the clock of each piece. The pieces are consecutive parts of one numbered clip. */
async function recording(pieces: readonly string[][], starts: readonly number[]): Promise<Buffer> {
  const whole = await makeNumberedClip(path('whole.mkv'), {
    seconds: SECONDS * pieces.length,
    video: ['-qp', '0', '-bf', '0', '-g', '1'],
    audio: ['-c:a', 'pcm_s16le'],
  })
  const files: Buffer[] = []
  for (const [index, codecs] of pieces.entries()) {
    const part = path(`piece-${index}.ts`)
    const place = ['-ss', `${index * SECONDS}`, '-t', `${SECONDS}`]
    await ffmpeg(['-y', ...place, '-i', whole, ...codecs, '-output_ts_offset', `${starts[index]}`, part])
    files.push(await readFile(part))
  }
  return Buffer.concat(files)
}

async function answered(pieces: readonly string[][], starts: readonly number[], config = {}): Promise<void> {
  taskApi.source = { bytes: await recording(pieces, starts) }
  const task = describeTask({ container: 'mp4' })
  taskApi.task = { ...task, config: { ...task.config, ...config } }
  await runTask(runRequest(taskApi), fixture.context())
}

test.each<[name: string, pieces: string[][], starts: number[]]>([
  [
    'MPEG-2, then H.264 on its PID',
    [
      [...MPEG2, ...MP2],
      [...H264, ...MP2],
    ],
    [10, 12],
  ],
  [
    'MP2, then AC-3 on its PID',
    [
      [...H264, ...MP2],
      [...H264, ...AC3],
    ],
    [10, 12],
  ],
  [
    'two recordings, each from 0',
    [
      [...H264, ...AAC],
      [...HEVC, ...AC3],
    ],
    [0, 0],
  ],
  [
    'three pieces, the last as the first',
    [
      [...MPEG2, ...MP2],
      [...H264, ...AC3],
      [...MPEG2, ...MP2],
    ],
    [10, 12, 14],
  ],
])('%s', async (_name, pieces, starts) => {
  await answered(pieces, starts)
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  const [bytes] = taskApi.objects().values()
  await writeFile(path('out.mp4'), bytes!)
  expect(await frameNumbers(path('out.mp4'))).toEqual(
    Array.from({ length: FRAMES * pieces.length }, (_, frame) => frame),
  )
  const places = pieces.flatMap((_piece, index) =>
    [0.4, 1.6].map((seconds) => Math.round((index * SECONDS + seconds) * 48_000)),
  )
  const shifts = await audioShiftsAt(
    path('out.mp4'),
    places.map((place) => ({ place, origin: place })),
  )
  for (const shift of shifts) expect(Math.abs(shift)).toBeLessThan(SAME_PLACE)
  const { message } = taskApi.finished!.warnings.find(({ code }) => code === 'codec_changes')!
  expect(message).toContain(`at 0:00:0${SECONDS}`)
})

describe('a part of such a source', () => {
  const pieces = [
    [...MPEG2, ...MP2],
    [...H264, ...MP2],
  ]
  test('that goes on behind the change: the error says what changes, and when', async () => {
    await answered(pieces, [10, 12], { end_seconds: 3 })
    const message = expect.stringMatching(
      /video on PID 256 \(mpeg2video, then h264\) changes its codec at about 0:00:01/,
    ) as string
    expect(taskApi.fails).toMatchObject([{ error: { code: 'source_unsupported', message } }])
  })

  test('that ends before it is made', async () => {
    await answered(pieces, [10, 12], { end_seconds: 1.5 })
    expect(taskApi.fails).toEqual([])
    expect(taskApi.finished?.warnings.map(({ code }) => code)).not.toContain('codec_changes')
  })
})
