// In charge of: divided jobs whose source states another end of its video than its frames have: they end as one task does.
// Not in charge of: frames at joins (encoding/video/chunkSources.long.test.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FailPost } from '#contract/task/protocol.ts'
import { ffmpeg, makeClip } from '../../../support/media/media.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const path = (name: string): string => join(fixture.directory, name)
const task = () =>
  segmentedTask({ output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true, audioProfiles: [] })

const lengths = (objects: ReadonlyMap<string, Buffer>): string[] =>
  objects
    .get('out/video_0/playlist.m3u8')
    ?.toString()
    .match(/#EXTINF:[\d.]+/g) ?? []

/** 175 frames, the last of which is shown for five seconds. */
async function heldFrame(name: string): Promise<Buffer> {
  await makeClip(path('seven.mp4'), { seconds: 7, audio: [], flags: ['-g', '25'] })
  const held = "setts=duration='if(eq(N,174),5/TB,DURATION)'"
  await ffmpeg(['-i', path('seven.mp4'), '-c', 'copy', '-bsf:v', held, path(name)])
  return readFile(path(name))
}

test('a last frame that is shown for seconds, over the beginning of the last chunk', async () => {
  const source = await heldFrame('held.mp4')
  const { alone, divided, onlyAlone, onlyDivided } = await compareDivision(fixture, task(), {
    source,
    chunks: [0, 2, 5],
  })
  expect([alone.problems, divided.problems]).toEqual([[], []])
  expect([onlyAlone, onlyDivided]).toEqual([[], []])
  expect(lengths(divided.objects)).toEqual(lengths(alone.objects))
  expect(lengths(alone.objects)).toHaveLength(6)
})

/** Matroska that states another length of its video, and of the file. */
async function stated(seconds: number): Promise<Buffer> {
  await makeClip(path('plain.mkv'), { seconds: 7, audio: [], flags: ['-g', '25'] })
  const bytes = await readFile(path('plain.mkv'))
  const tag = bytes.indexOf('00:00:07.000000000')
  const milliseconds = Buffer.alloc(8)
  milliseconds.writeDoubleBE(7000)
  const header = bytes.indexOf(milliseconds)
  expect(Math.min(tag, header)).toBeGreaterThan(0)
  bytes.write(`00:00:${seconds.toFixed(9).padStart(12, '0')}`, tag, 'latin1')
  bytes.writeDoubleBE(seconds * 1000, header)
  return bytes
}

test('a video that states a little more than it has', async () => {
  const { alone, divided } = await compareDivision(fixture, task(), { source: await stated(7.08), chunks: [0, 2, 3] })
  expect([alone.problems, divided.problems]).toEqual([[], []])
  expect(lengths(divided.objects)).toEqual(lengths(alone.objects))
})

/** The last chunk has fewer frames than it should, or none: the planner makes it longer than what may be missing. */
test.each([[[0, 2, 3]], [[0, 2, 5]]])('a video that states far more than it has, divided at %j', async (chunks) => {
  const { alone, divided } = await compareDivision(fixture, task(), { source: await stated(13), chunks })
  const [whole, part] = [alone, divided].map(({ problems }) => (problems as FailPost[])[0])
  expect(whole).toMatchObject({ reason: 'failed', error: { code: 'output_incomplete' } })
  expect(part).toMatchObject({ reason: 'failed', error: { code: 'output_incomplete' } })
})
