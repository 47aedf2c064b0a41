// A logo over the video: its position, its colours in either matrix, its transparency, and files that are not images.
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { logoPath, convertLogo } from '../../../../../transcoder/source/logoImage.ts'
import { openWorkspace, type Workspace } from '../../../../../transcoder/workspace.ts'
import { decodeFrames, ffmpeg, lavfi, makeClip, testFfmpeg } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { makeTestCard } from '../../../../support/media/testCard.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { makeLogoImage, readYuvAt } from '../../../../support/media/testLogo.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
let room: Workspace
let grey: string
beforeAll(async () => {
  room = await openWorkspace(tempDir.file('work'))
  grey = await makeClip(tempDir.file('grey.mp4'), { picture: 'color=c=gray', seconds: 0.6, audio: [] })
})

async function draw(bytes: Uint8Array, change: Partial<JobSpec>, input = grey) {
  const prepared = await convertLogo(await testFfmpeg(), bytes, room)
  const spec = jobSpec({ logo: { position: 'top_right', opacityPercent: 100 }, ...change })
  return encode(spec, input, { logo: { image: prepared, file: logoPath(room) } })
}

const RED = { sd: [81, 90, 240], hd: [63, 102, 240] }
const GREY = [126, 128, 128]
/** The largest difference of a component. */
function off(actual: readonly number[], wanted: readonly number[]): number {
  return Math.max(...actual.map((value, index) => Math.abs(value - (wanted[index] ?? 0))))
}

const silent = (change: Parameters<typeof videoProfile>[0] = {}) =>
  videoProfile({ audioProfiles: [], bitrateKbps: 2000, ...change })

test('on every rendition, top right, 15 % wide, in the color matrix of the rendition, to the last frame', async () => {
  const video = [silent(), silent({ index: 1, width: 1280, height: 720, bitrateKbps: 4000 })]
  const { outputs } = await draw(await makeLogoImage(tempDir.file('two.png')), { video })
  for (const [index, wanted] of [RED.sd, RED.hd].entries()) {
    const file = outputs[index] ?? ''
    const scale = index === 0 ? 1 : 4
    // 48 × 24 at 262, 6.
    expect(off(await readYuvAt(file, 272 * scale, 18 * scale), wanted)).toBeLessThanOrEqual(4)
    expect(off(await readYuvAt(file, 300 * scale, 18 * scale), GREY)).toBeLessThanOrEqual(4)
    expect(off(await readYuvAt(file, 252 * scale, 18 * scale), GREY)).toBeLessThanOrEqual(4)
    expect(off(await readYuvAt(file, 272 * scale, 40 * scale), GREY)).toBeLessThanOrEqual(4)
    expect(await decodeFrames(file)).toHaveLength(15)
  }
})

describe('shapes and codecs', () => {
  test('anamorphic output: the logo keeps its shape on the screen', async () => {
    const card = await makeTestCard(tempDir.file('anamorphic.mp4'), { width: 180, height: 144, sar: '64/45' })
    const { plan } = await draw(
      await makeLogoImage(tempDir.file('wide.png')),
      { video: [silent({ width: 0, height: 0 })] },
      card,
    )
    const logo = plan.outputs[0]?.video.logo
    expect((logo?.width ?? 0) / 180).toBeCloseTo(0.15, 1)
    expect(((logo?.width ?? 0) * 64) / 45 / (logo?.height ?? 1)).toBeCloseTo(2, 0)
  })

  test('in hevc, and over fields', async () => {
    const { outputs } = await draw(await makeLogoImage(tempDir.file('hevc.png')), {
      videoCodec: 'hevc',
      video: [silent()],
    })
    expect(off(await readYuvAt(outputs[0], 272, 18), RED.sd)).toBeLessThanOrEqual(4)
    const clip = tempDir.file('fields.ts')
    const picture = 'color=gray:s=320x180:r=25:d=0.6,setfield=tff'
    const coding = ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-b:v', '4M']
    await ffmpeg([...lavfi(picture), ...coding, clip])
    const fields = await draw(await makeLogoImage(tempDir.file('fields.png')), { video: [silent()] }, clip)
    expect(off(await readYuvAt(fields.outputs[0], 272, 18), RED.sd)).toBeLessThanOrEqual(4)
  })
})

describe('images', () => {
  test.each([
    ['jpeg', 'logo.jpg', ['-pix_fmt', 'yuvj420p']],
    ['webp', 'logo.webp', ['-c:v', 'libwebp', '-lossless', '1']],
    ['png with a palette', 'palette.png', ['-pix_fmt', 'pal8']],
  ])('%s', async (_title, name, flags) => {
    const { outputs } = await draw(await makeLogoImage(tempDir.file(name), flags), { video: [silent()] })
    expect(off(await readYuvAt(outputs[0], 272, 18), RED.sd)).toBeLessThanOrEqual(4)
  })

  test.each([
    ['text', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['a video', () => readFile(grey)],
    ['half a PNG', async () => (await makeLogoImage(tempDir.file('half.png'), [], '400x400')).subarray(0, 300)],
    ['a PNG of too many pixels', () => makeLogoImage(tempDir.file('vast.png'), [], '2100x5000')],
    ['the head of a JPEG', async () => Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16])],
  ] as [string, () => Promise<Buffer>][])('%s is refused by its name', async (_title, make) => {
    await expect(convertLogo(await testFfmpeg(), await make(), room)).rejects.toMatchObject({
      code: 'logo_unavailable',
      field: 'logo_url',
    })
  })
})
