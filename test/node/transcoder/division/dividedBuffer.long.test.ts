// In charge of: a rate that is limited but not constant, in a divided job: no access unit is late at the largest rate.
// Not in charge of: a constant one (dividedRate.test.ts), the model (division/joinedBuffer.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { runDecoderBuffer } from '../../../support/media/decoderBuffer.ts'
import { ffmpeg, lavfi, readPackets } from '../../../support/media/media.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { filesTask } from '../../../support/transcoder/comparedFiles.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'
import type { TaskDescription } from '../../../support/transcoder/attemptFixture.ts'

const fixture = await useAttemptFixture()
const KBPS = 200
const SECONDS = 12
/** Segments of single files have 4 s. */
const CHUNKS = [0, 1, 2]

/** At the largest rate all the time: chunks that begin with 0.9 of the buffer need more than arrives. */
async function noise(): Promise<Buffer> {
  const file = join(fixture.directory, 'noise.mp4')
  const coding = '-c:v libx264 -preset ultrafast -qp 12 -g 25 -pix_fmt yuv420p -c:a aac -shortest -y'.split(' ')
  const video = `testsrc2=s=320x180:r=25:d=${SECONDS},noise=alls=60:allf=t`
  await ffmpeg([...lavfi(video, `sine=d=${SECONDS}:r=48000`), ...coding, file])
  return readFile(file)
}

function limitedTask(codec: JobConfig['video_codec']): TaskDescription {
  const task = filesTask({}, [KBPS])
  const videoProfiles = task.config.videoProfiles.map((each) => ({ ...each, video_bitrate_mode: 'qvbr' as const }))
  return { ...task, config: { ...task.config, video_codec: codec, videoProfiles } }
}

const source = noise()

test.each(['h.264', 'hevc'] as const)('%s', async (codec) => {
  const compared = await compareDivision(fixture, limitedTask(codec), { source: await source, chunks: CHUNKS })
  const [alone, divided] = await Promise.all(
    [compared.alone, compared.divided].map(async ({ objects, problems, finished }, index) => {
      expect(problems).toEqual([])
      const file = join(fixture.directory, `limited-${index}.mp4`)
      await writeFile(file, [...objects.values()][0]!)
      const bytes = (await readPackets(file, 'v:0')).map(({ size }) => Number(size))
      const size = KBPS * 2000
      const run = runDecoderBuffer(bytes, { rate: KBPS * 1000, size, framesPerSecond: 25, initial: size * 0.9 })
      return {
        frames: bytes.length,
        late: run.late,
        warnings: finished!.warnings.map((warning) => warning.code),
        kbps: (bytes.reduce((sum, each) => sum + each, 0) * 8) / 1000 / SECONDS,
      }
    }),
  )
  expect(divided).toMatchObject({ frames: SECONDS * 25, late: [], warnings: alone!.warnings })
  // As hard as the test needs it: one encoder has no bits left.
  expect(alone!.late).toEqual([])
  expect(alone!.kbps / KBPS).toBeGreaterThan(0.95)
})
