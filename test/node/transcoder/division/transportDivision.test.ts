// In charge of: divided jobs of transport streams: the same outputs as one task makes; and one task where the time stamps
// of the source do not run on.
// Not in charge of: every kind of stream (transportDivision.long.test.ts, encoding/video/transportChunks.long.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { joinedSegments, segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const path = (name: string): string => join(fixture.directory, name)
const task = () => segmentedTask({ output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true })
const FRAMES = 175

async function framesIn(objects: ReadonlyMap<string, Buffer>, name: string): Promise<number[]> {
  await writeFile(path(name), joinedSegments(objects, 'out/video_0/playlist.m3u8'))
  return frameNumbers(path(name))
}

test('every frame once, and all else as from one task', async () => {
  await makeNumberedClip(path('a.ts'), { seconds: 7, video: ['-g', '25'] })
  const source = await readFile(path('a.ts'))
  const { alone, divided, onlyAlone, onlyDivided } = await compareDivision(fixture, task(), { source, chunks: [0, 2] })
  expect([alone.problems, divided.problems]).toEqual([[], []])
  expect([onlyAlone, onlyDivided]).toEqual([[], []])
  expect(divided.finished?.undivided).toBeUndefined()
  expect(divided.finished?.warnings).toEqual(alone.finished?.warnings)
  expect(divided.finished?.usage).toEqual(alone.finished?.usage)
  const frames = await framesIn(divided.objects, 'divided.mp4')
  expect(frames).toEqual(await framesIn(alone.objects, 'alone.mp4'))
  expect(new Set(frames).size).toBeGreaterThanOrEqual(FRAMES - 1)
})

test('a clock that begins again is found, and the job has the frames of one task', async () => {
  await makeNumberedClip(path('b.ts'), { seconds: 3, video: ['-g', '25'] })
  const half = await readFile(path('b.ts'))
  const source = Buffer.concat([half, half])
  const { alone, divided, onlyAlone, onlyDivided } = await compareDivision(fixture, task(), { source, chunks: [0, 1] })
  expect([alone.problems, divided.problems]).toEqual([[], []])
  expect([onlyAlone, onlyDivided]).toEqual([[], []])
  expect(divided.finished?.warnings.map(({ code }) => code)).toContain('clock_jumps')
  expect(await framesIn(divided.objects, 'again.mp4')).toEqual(await framesIn(alone.objects, 'alone.mp4'))
})
