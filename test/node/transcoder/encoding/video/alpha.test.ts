// Transparent sources: outputs show black where the source shows nothing, and never a colour that is hidden below alpha.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { expect, test } from 'vitest'
import { ffmpeg, lavfi, decodeRaw } from '../../../../support/media/media.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
const movie = jobSpec({
  video: [videoProfile({ width: 96, height: 64, bitrateKbps: 400, audioProfiles: [] })],
  audio: [],
})

/** Magenta: hidden in the left third, half visible in the middle, visible in the right one. */
const PICTURE =
  "color=magenta:s=96x64:r=10:d=0.5,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='if(lt(X,32),0,if(lt(X,64),128,255))'"

test.each([
  ['qtrle', 'qtrle.mov', '-c:v qtrle'],
  ['ProRes 4444', 'prores.mov', '-c:v prores_ks -profile:v 4 -pix_fmt yuva444p10le'],
  ['APNG', 'a.png', '-f apng'],
  ['FFV1', 'ffv1.mkv', '-c:v ffv1 -pix_fmt bgra'],
  ['VP9', 'vp9.webm', '-c:v libvpx-vp9 -pix_fmt yuva420p -deadline realtime -cpu-used 8'],
  ['VP8', 'vp8.webm', '-c:v libvpx -auto-alt-ref 0 -pix_fmt yuva420p -deadline realtime'],
])('%s', async (_, name, flags) => {
  const path = tempDir.file(name)
  await ffmpeg([...lavfi(PICTURE), ...flags.split(' '), path])
  const { outputs, plan } = await encode(movie, path)
  expect(plan.warnings.map(({ code }) => code)).toContain('alpha_not_kept')
  const pixels = await decodeRaw(outputs[0], 'rgb24', ['-frames:v', '1'])
  const at = (x: number) => [...pixels.subarray((32 * 96 + x) * 3, (32 * 96 + x) * 3 + 3)]
  for (const [x, level] of [
    [12, 0],
    [48, 128],
    [84, 255],
  ] as const)
    for (const [channel, value] of at(x).entries())
      expect(Math.abs(value - (channel === 1 ? 0 : level)), `${x}: ${at(x).join()}`).toBeLessThan(12)
})

test('an opaque source says nothing', async () => {
  const path = tempDir.file('opaque.mov')
  await ffmpeg([...lavfi('testsrc2=s=96x64:r=10:d=0.3'), ...['-c:v', 'qtrle', '-pix_fmt', 'rgb24'], path])
  expect((await encode(movie, path)).plan.warnings.map(({ code }) => code)).not.toContain('alpha_not_kept')
})
