// In charge of: a constant bitrate in a divided job: the decoder's buffer across joins, as the stream itself signals it.
// Not in charge of: the end of one chunk (rangeEndCutter.test.ts), a constant bitrate of one task (encoding/video/bitrate.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSignalledBuffer, runDecoderBuffer } from '../../../support/media/decoderBuffer.ts'
import { ffmpeg, kbpsBySecond, lavfi } from '../../../support/media/media.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameFiles, filesTask } from '../../../support/transcoder/comparedFiles.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'
import type { TaskDescription } from '../../../support/transcoder/attemptFixture.ts'

const fixture = await useAttemptFixture()
const KBPS = 300
const FRAMES = 200
/** The first frame of the second chunk: segments of single files have 4 s. */
const JOIN = 100

/** Noise before and behind the join, black from 6 s on. */
async function clip(): Promise<Buffer> {
  const file = join(fixture.directory, 'rate.mp4')
  const noise = "noise=alls=60:allf=t:enable='between(t,3,4.4)'"
  const black = "drawbox=color=black:t=fill:enable='gte(t,6)'"
  const coding = '-c:v libx264 -preset ultrafast -qp 12 -g 25 -pix_fmt yuv420p -c:a aac -shortest -y'.split(' ')
  await ffmpeg([...lavfi(`testsrc2=s=320x180:r=25:d=8,${noise},${black}`, 'sine=d=8:r=48000'), ...coding, file])
  return readFile(file)
}

function constantTask(container: 'mp4' | 'ts'): TaskDescription {
  const task = filesTask({}, [KBPS], container)
  const videoProfiles = task.config.videoProfiles.map((each) => ({ ...each, video_bitrate_mode: 'cbr' as const }))
  return { ...task, config: { ...task.config, videoProfiles } }
}

test('an mp4 has the rate and the buffer of one encode', async () => {
  const compared = await compareDivision(fixture, constantTask('mp4'), { source: await clip(), chunks: [0, 1] })
  await expectSameFiles(fixture, compared)
  const file = join(fixture.directory, 'divided-rate.mp4')
  await writeFile(file, [...compared.divided.objects.values()][0]!)
  const { bytes, signalled, ...model } = await readSignalledBuffer(file)
  const { late, overflow, fullness } = runDecoderBuffer(bytes, model)
  expect([bytes.length, late, overflow <= 0]).toEqual([FRAMES, [], true])
  const stated = [...signalled.entries()].filter(([, bits]) => bits !== null)
  expect(stated.map(([frame]) => frame)).toEqual([0, 25, 50, 75, 100, 125, 150, 175])
  // A length field has one byte more than the start code that the encoder counts. It does not count its own message of
  // about 800 bytes, which only the first chunk has.
  for (const [frame, bits] of stated)
    expect(Math.abs(bits! - fullness[frame]!)).toBeLessThan(8 * 2 * frame + (frame > 0 && frame < JOIN ? 8 * 900 : 1))
  expect(signalled[JOIN]! / model.size).toBeCloseTo(0.4, 3)
  // Black is padded up to the rate.
  expect((await kbpsBySecond(file)).at(-1)! / KBPS).toBeCloseTo(1, 2)
})
