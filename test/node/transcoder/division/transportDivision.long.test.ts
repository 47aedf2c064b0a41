// In charge of: divided jobs of many kinds of transport streams, whole and broken: the outputs of one task, or one task.
// Not in charge of: a plain stream (transportDivision.test.ts), frames before the encoder
// (encoding/video/transportChunks.long.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import type { FailPost } from '#contract/task/protocol.ts'
import { ffmpeg } from '../../../support/media/media.ts'
import { frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { compareDivision, type ComparedDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameSegments } from '../../../support/transcoder/comparedSegments.ts'
import { joinedSegments, segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const path = (name: string): string => join(fixture.directory, name)
const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast']

interface Clip {
  seconds?: number
  rate?: string
  video?: string[]
}

async function clip(name: string, { seconds = 8, rate = '25', video = ['-g', '25'] }: Clip = {}): Promise<Buffer> {
  return readFile(await makeNumberedClip(path(`${name}.ts`), { seconds, rate, video, audio: ['-c:a', 'mp2'] }))
}

const compare = (source: Buffer, chunks = [0, 1, 3], changes: Partial<JobConfig> = {}): Promise<ComparedDivision> =>
  compareDivision(fixture, segmentedTask({ ...CMAF, ...changes }), { source, chunks })

async function framesIn(objects: ReadonlyMap<string, Buffer>): Promise<number[]> {
  await writeFile(path('frames.mp4'), joinedSegments(objects, 'out/video_0/playlist.m3u8'))
  return frameNumbers(path('frames.mp4'))
}

async function expectSameFrames({ alone, divided, onlyAlone, onlyDivided }: ComparedDivision): Promise<void> {
  expect([alone.problems, divided.problems]).toEqual([[], []])
  expect([onlyAlone, onlyDivided]).toEqual([[], []])
  const frames = await framesIn(divided.objects)
  expect(frames.length).toBeGreaterThan(150)
  expect(frames).toEqual(await framesIn(alone.objects))
}

describe('is divided', () => {
  test.each<[string, Clip, Partial<JobConfig>?]>([
    ['open GOPs at 29.97', { rate: '30000/1001', video: [...X264, '-x264-params', 'open-gop=1:keyint=45:bframes=3'] }],
    [
      'video alone, with a clock that wraps',
      { video: [...X264, '-g', '50', '-bf', '2', '-output_ts_offset', '95440'] },
      { audioProfiles: [] },
    ],
    ['a part of the source', {}, { start_seconds: 1.2, end_seconds: 7.4 }],
  ])('%s', async (_, video, changes) => {
    const compared = await compare(await clip('whole', video), [0, 1, 2], changes)
    await expectSameFrames(compared)
    expect(compared.divided.finished?.undivided).toBeUndefined()
    expect(compared.divided.finished?.warnings).toEqual(compared.alone.finished?.warnings)
  })

  test('transport stream segments', async () => {
    const compared = await compareDivision(fixture, segmentedTask({ output_container: 'hls' }), {
      source: await clip('segments'),
      chunks: [0, 1, 3],
    })
    await expectSameSegments(fixture, compared)
    expect(compared.divided.finished?.undivided).toBeUndefined()
  })

  test('audio that begins later than the video', async () => {
    await clip('both')
    const both = ['-i', path('both.ts'), '-itsoffset', '0.13', '-i', path('both.ts')]
    await ffmpeg(['-y', ...both, '-map', '0:v', '-map', '1:a', '-c', 'copy', path('apart.ts')])
    const compared = await compare(await readFile(path('apart.ts')))
    await expectSameFrames(compared)
    await expectSameSegments(fixture, compared)
  })

  test('a recording that is cut off within a packet', async () => {
    const whole = await clip('cut-off')
    const compared = await compare(whole.subarray(0, Math.floor(whole.length * 0.93) - 77), [0, 1, 2])
    await expectSameFrames(compared)
  })

  test('lost packets', async () => {
    const source = await clip('damaged')
    const at = Math.floor(source.length / 2 / 188) * 188
    const compared = await compare(Buffer.concat([source.subarray(0, at), source.subarray(at + 20 * 188)]), [0, 1, 3])
    expect([compared.alone.problems, compared.divided.problems]).toEqual([[], []])
  })
})

describe('is made by one task', () => {
  /** The second half begins so many seconds later than the first one ends. */
  const jumping = async (seconds: number): Promise<Buffer> => {
    const first = await clip('first', { seconds: 4 })
    await ffmpeg(['-y', '-i', path('first.ts'), '-c', 'copy', '-output_ts_offset', `${4 + seconds}`, path('second.ts')])
    return Buffer.concat([first, await readFile(path('second.ts'))])
  }
  const reasonOf = ({ divided: { finished } }: ComparedDivision): string | undefined =>
    finished?.warnings.find(({ code }) => code === 'not_divided')?.message

  test.each([
    ['on', 15],
    ['back', -3],
  ])('time stamps that jump %s', async (_, seconds) => {
    const compared = await compare(await jumping(seconds), [0, 1, 2])
    const [alone, divided] = [compared.alone, compared.divided].map(({ problems }) => (problems as FailPost[])[0])
    if (alone !== undefined) {
      // One task cannot make it either, for the same reason.
      expect(divided).toMatchObject({ reason: alone.reason, error: alone.error })
      return
    }
    await expectSameFrames(compared)
    // Where the jump is seen before the job is divided, the warning says so; else a part finds it.
    const isKnown = compared.divided.finished?.warnings.some(({ code }) => code === 'clock_jumps') === true
    if (!isKnown) expect(reasonOf(compared)).toMatch(/time stamps of the source jump/)
  })

  test('pictures that change their size do not hinder: every chunk brings them to one', async () => {
    const first = await clip('first', { seconds: 4 })
    await ffmpeg([
      ...['-y', '-i', path('first.ts'), '-vf', 'scale=384:96', ...X264, '-g', '50', '-c:a', 'copy'],
      ...['-output_ts_offset', '4.2', path('second.ts')],
    ])
    const compared = await compare(Buffer.concat([first, await readFile(path('second.ts'))]), [0, 1, 2])
    await expectSameFrames(compared)
    expect(reasonOf(compared)).toBeUndefined()
  })
})
