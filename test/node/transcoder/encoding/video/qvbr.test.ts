// qvbr: constant quality if the cap allows it, and never above the cap.
import { beforeAll, describe, expect, test } from 'vitest'
import { ffmpeg, kbpsBySecond, lavfi } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
let clip = ''

/** Seconds 0 to 4 are easy (a slow pattern), 4 to 8 are noise, which cannot reach that quality under the cap. */
beforeAll(async () => {
  clip = tempDir.file('half.mkv')
  const picture = "testsrc=s=320x180:r=25:d=8,noise=alls=100:allf=t:enable='gte(t,4)'"
  const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '4', '-pix_fmt', 'yuv420p']
  await ffmpeg([...lavfi(picture), ...encoder, clip])
})

describe.each(sampled(['h264', 'hevc', 'mpeg2'] as const, 1))('%s', (videoCodec) => {
  test('the easy half is the same under two caps and below both; the hard half keeps to each', async () => {
    const video = [1500, 3000].map((bitrateKbps, index) =>
      videoProfile({ index, mode: 'qvbr', bitrateKbps, audioProfiles: [] }),
    )
    const { outputs, plan } = await encode(jobSpec({ videoCodec, video, audio: [] }), clip)
    const seconds = await Promise.all(outputs.map((path) => kbpsBySecond(path)))
    const easy = seconds.map((list) => list.slice(1, 3).reduce((sum, kbps) => sum + kbps, 0) / 2)
    expect(easy[0]).toBeLessThan(1000)
    expect(Math.abs(easy[1]! / easy[0]! - 1)).toBeLessThan(0.02)
    for (const [index, list] of seconds.entries()) {
      const { bitrateKbps, bufferBits } = plan.outputs[index]!.video
      for (const [from] of list.entries())
        for (let to = from + 1; to <= list.length; to += 1) {
          const sum = list.slice(from, to).reduce((total, kbps) => total + kbps, 0)
          expect(sum).toBeLessThan((bitrateKbps * (to - from) + bufferBits / 1000) * 1.02)
        }
      // The cap is used where the content needs it.
      expect(list.slice(5, 8).reduce((sum, kbps) => sum + kbps, 0) / 3).toBeGreaterThan(bitrateKbps * 0.8)
    }
  })
})
