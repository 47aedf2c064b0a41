// In charge of: a constant bitrate in divided jobs: other outputs than a plain mp4.
// Not in charge of: a plain mp4 (dividedRate.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sequencesOf } from '../../../support/media/chunkStream.ts'
import { readSignalledBuffer, runDecoderBuffer } from '../../../support/media/decoderBuffer.ts'
import { ffmpeg, lavfi, transportRates } from '../../../support/media/media.ts'
import { checkTstd } from '../../../support/mpegts/tstdModel.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameFiles, filesTask } from '../../../support/transcoder/comparedFiles.ts'
import { expectSameSegments } from '../../../support/transcoder/comparedSegments.ts'
import { joinedSegments, segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'
import type { TaskDescription } from '../../../support/transcoder/attemptFixture.ts'

const fixture = await useAttemptFixture()

/** Bytes that a transport stream has before each access unit. */
const DELIMITER = 6

async function clip(picture: string, name: string): Promise<Buffer> {
  const file = join(fixture.directory, `${name}.mp4`)
  const coding = '-c:v libx264 -preset ultrafast -qp 12 -g 25 -pix_fmt yuv420p -c:a aac -shortest -y'.split(' ')
  await ffmpeg([...lavfi(picture, 'sine=d=13:r=48000'), ...coding, file])
  return readFile(file)
}

const constant = (task: TaskDescription): TaskDescription => ({
  ...task,
  config: {
    ...task.config,
    videoProfiles: task.config.videoProfiles.map((each) => ({ ...each, video_bitrate_mode: 'cbr' as const })),
  },
})

/** What the stream signals is what it does. `uncounted`: bytes of an access unit that the encoder does not count. */
async function expectBuffer(file: string, joins: number[], uncounted = 2): Promise<void> {
  const { bytes, signalled, ...model } = await readSignalledBuffer(file)
  const { late, overflow, fullness } = runDecoderBuffer(bytes, model)
  expect([late, overflow <= 0]).toEqual([[], true])
  for (const frame of joins) {
    expect(Math.abs(signalled[frame]! - fullness[frame]!)).toBeLessThan(8 * uncounted * frame)
    expect(signalled[frame]! / model.size).toBeCloseTo(0.4, 2)
  }
}

/** Types of the NAL units before the slices of each IDR picture (Rec. ITU-T H.264, table 7-1). */
async function headersOf(file: string): Promise<string[]> {
  const bytes = await ffmpeg(['-i', file, '-map', '0:v', '-c', 'copy', '-f', 'h264', '-'])
  const types: number[] = []
  for (let at = bytes.indexOf(START_CODE); at >= 0; at = bytes.indexOf(START_CODE, at + 3))
    types.push(bytes[at + 3]! & 31)
  const pictures = types
    .join(' ')
    .split(/(?:^| )9 /)
    .slice(1)
  return pictures.filter((each) => each.split(' ').includes('5')).map((each) => each.slice(0, each.indexOf('5')).trim())
}
const START_CODE = Buffer.from([0, 0, 1])

test('a transport stream has one rate throughout, and keeps to the T-STD', async () => {
  const picture = "testsrc2=s=320x180:r=25:d=13,noise=alls=60:allf=t:enable='between(t,2,8.5)'"
  const source = await clip(picture, 'ts')
  const compared = await compareDivision(fixture, constant(filesTask({}, [800], 'ts')), { source, chunks: [0, 1, 2] })
  await expectSameFiles(fixture, compared)
  const [alone, divided] = await Promise.all(
    ['alone', 'divided'].map((by) => transportRates(join(fixture.directory, by, 'out/v0.ts'))),
  )
  expect(divided!.counterErrors).toBe(0)
  expect(Math.max(...divided!.kbps) - Math.min(...divided!.kbps)).toBeLessThan(10)
  expect(Math.abs(divided!.kbps[1]! - alone!.kbps[1]!)).toBeLessThan(5)
  expect(checkTstd(await readFile(join(fixture.directory, 'divided/out/v0.ts'))).problems).toEqual([])
  await expectBuffer(join(fixture.directory, 'divided/out/v0.ts'), [100, 200], DELIMITER + 4)
  // A decoder that begins there reads the timing of the buffer with the parameter sets before it.
  const headers = await headersOf(join(fixture.directory, 'divided/out/v0.ts'))
  expect(headers).toHaveLength(13)
  for (const types of headers) expect(types).toMatch(/^7 8 6/)
})

test('two renditions of HLS at 29.97 frames per second', async () => {
  const picture = "testsrc2=s=320x180:r=30000/1001:d=11,noise=alls=40:allf=t:enable='between(t,3,5)'"
  const source = await clip(picture, 'hls')
  const task = constant(segmentedTask({ segmented_output_dash: true, segmented_output_hls: true }, [400, 250]))
  const compared = await compareDivision(fixture, task, { source, chunks: [0, 2, 4] })
  await expectSameSegments(fixture, compared)
  for (const rendition of [0, 1]) {
    const file = join(fixture.directory, `rendition-${rendition}.mp4`)
    await writeFile(file, joinedSegments(compared.divided.objects, `out/video_${rendition}/playlist.m3u8`))
    await expectBuffer(file, [120, 240])
    const numbers = sequencesOf(await readFile(file))
    expect(numbers).toEqual(numbers.map((_number, at) => at + 1))
  }
})
