// HDR in hevc: the pixel format, the tags, the metadata and the decoded values of the output.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { beforeAll, describe, expect, test } from 'vitest'
import { readHdrMetadata } from '../../../../../transcoder/analysis/hdrMetadata.ts'
import { decodeRaw, ffmpeg, lavfi, probeStream, testFfmpeg } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

const transfers = ['smpte2084', 'arib-std-b67'] as const
const DISPLAY = 'G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)'
/** Y, U and V of the clips. */
const COLOR = [600, 480, 540] as const
/** SDR white of 203 cd/m² as a luma of 10 bits (ITU-R BT.2408: 58 % and 75 %). */
const WHITE = { smpte2084: 64 + 0.58 * 876, 'arib-std-b67': 64 + 0.75 * 876 }

beforeAll(async () => {
  const [y, u, v] = COLOR
  for (const transfer of transfers)
    await ffmpeg([
      ...lavfi('color=gray:s=320x180:r=25:d=0.4'),
      ...['-vf', `format=yuv420p10le,geq=lum=${y}:cb=${u}:cr=${v}`, '-c:v', 'libx265', '-preset', 'ultrafast'],
      ...[
        '-x265-params',
        `log-level=error:lossless=1:repeat-headers=1${transfer === 'smpte2084' ? `:hdr10=1:master-display=${DISPLAY}:max-cll=1000,400` : ''}`,
      ],
      ...['-colorspace', 'bt2020nc', '-color_primaries', 'bt2020', '-color_trc', transfer, '-color_range', 'tv'],
      tempDir.file(`${transfer}.ts`),
    ])
  await ffmpeg([...lavfi('color=white:s=64x64,format=rgba'), '-frames:v', '1', tempDir.file('logo.png')])
})

const hdr = (change: Parameters<typeof jobSpec>[0] = {}, shape: Parameters<typeof videoProfile>[0] = {}) =>
  jobSpec({
    videoCodec: 'hevc',
    dynamicRange: 'source',
    audio: [],
    video: [videoProfile({ audioProfiles: [], ...shape })],
    ...change,
  })

/** 10-bit Y, U and V of the first frame at a position given in fractions of its size. */
async function valueAt(path: string, x: number, y: number): Promise<[number, number, number]> {
  const { width, height } = await probeStream(path, 'video')
  const raw = await decodeRaw(path, 'yuv420p10le', ['-frames:v', '1'])
  const [column, line] = [Math.floor((x * width) / 2), Math.floor((y * height) / 2)]
  const chroma = line * (width / 2) + column
  const planes = [width * height, (width * height) / 4] as const
  return [
    raw.readUInt16LE(2 * (2 * line * width + 2 * column)),
    raw.readUInt16LE(2 * (planes[0] + chroma)),
    raw.readUInt16LE(2 * (planes[0] + planes[1] + chroma)),
  ]
}

function expectNear(value: readonly number[], wanted: readonly number[], within: number): void {
  for (const [index, each] of wanted.entries())
    expect(Math.abs(value[index]! - each), `${value.join(', ')} for ${wanted.join(', ')}`).toBeLessThanOrEqual(within)
}

describe.each(sampled(transfers, 1))('%s', (transfer) => {
  const tags = { color_space: 'bt2020nc', color_primaries: 'bt2020', color_transfer: transfer, color_range: 'tv' }

  test.each(
    sampled(
      [
        ['mp4', 320, 180],
        ['ts', 320, 180],
        ['mp4', 160, 90],
      ] as const,
      2,
    ),
  )('stays what it is in %s at %ix%i', async (container, width, height) => {
    const { outputs, plan } = await encode(hdr({ container }, { width, height }), tempDir.file(`${transfer}.ts`))
    expect(plan.warnings).toEqual([])
    expect(await probeStream(outputs[0], 'video')).toMatchObject({
      pix_fmt: 'yuv420p10le',
      profile: 'Main 10',
      width,
      height,
      ...tags,
    })
    expectNear(await valueAt(outputs[0], 0.5, 0.5), COLOR, 2)
    const programs = await testFfmpeg()
    const said = await readHdrMetadata(programs, ['-i', `file:${outputs[0]}`], '0:V:0', { cwd: tempDir.path })
    expect(said).toEqual(
      transfer === 'smpte2084'
        ? {
            masteringDisplay: {
              ...{ red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06], white: [0.3127, 0.329] },
              ...{ minNits: 0.005, maxNits: 1000 },
            },
            contentLight: { maximum: 1000, average: 400 },
            dynamicMetadata: false,
          }
        : { masteringDisplay: null, contentLight: null, dynamicMetadata: false },
    )
  })

  test('a logo and bars are as bright as SDR white, and the video between them is unchanged', async () => {
    const spec = hdr(
      { aspect: 'rotate_clockwise', barPercent: 100, logo: { position: 'top_left', opacityPercent: 100 } },
      { width: 320, height: 180 },
    )
    const image = { image: { width: 64, height: 64 }, file: tempDir.file('logo.png') }
    const { outputs, plan } = await encode(spec, tempDir.file(`${transfer}.ts`), { logo: image })
    expect(plan.warnings).toEqual([])
    expectNear(await valueAt(outputs[0], 0.1, 0.8), [WHITE[transfer], 512, 512], 6)
    expectNear(await valueAt(outputs[0], 0.5, 0.5), COLOR, 2)
    const plain = { ...spec, aspect: 'passthrough' as const }
    const second = await encode(plain, tempDir.file(`${transfer}.ts`), { logo: image })
    expectNear(await valueAt(second.outputs[0], 0.1, 0.15), [WHITE[transfer], 512, 512], 4)
    expectNear(await valueAt(second.outputs[0], 0.5, 0.8), COLOR, 2)
    const faded = { ...plain, logo: { position: 'top_left' as const, opacityPercent: 50 } }
    const third = await encode(faded, tempDir.file(`${transfer}.ts`), { logo: image })
    expectNear(
      await valueAt(third.outputs[0], 0.1, 0.15),
      [(WHITE[transfer] + COLOR[0]) / 2, (512 + COLOR[1]) / 2, (512 + COLOR[2]) / 2],
      4,
    )
  })

  test('sdr, or an encoder of 8 bits, makes it SDR', async () => {
    const { features } = await testFfmpeg()
    // At this size and rate a single file is BT.601 for 625 lines.
    const sdr = { pix_fmt: 'yuv420p', color_primaries: 'bt470bg', color_transfer: 'smpte170m' }
    for (const [spec, abilities, codes] of [
      [hdr({ dynamicRange: 'sdr' }), features, ['tone_mapped']],
      [hdr(), { ...features, hevcMain10: false }, ['hdr_not_kept', 'tone_mapped']],
    ] as const) {
      const { outputs, plan } = await encode(spec, tempDir.file(`${transfer}.ts`), { features: abilities })
      expect(plan.warnings.map(({ code }) => code)).toEqual(codes)
      expect(await probeStream(outputs[0], 'video')).toMatchObject(sdr)
    }
  })

  test('without zscale it is scaled and the logo is not brighter either', async () => {
    const { features } = await testFfmpeg()
    const spec = hdr({ logo: { position: 'top_left', opacityPercent: 100 } }, { width: 160, height: 90 })
    const image = { image: { width: 64, height: 64 }, file: tempDir.file('logo.png') }
    const { outputs } = await encode(spec, tempDir.file(`${transfer}.ts`), {
      features: { ...features, zscale: false },
      logo: image,
    })
    expect(await probeStream(outputs[0], 'video')).toMatchObject({ pix_fmt: 'yuv420p10le', ...tags })
    expectNear(await valueAt(outputs[0], 0.5, 0.8), COLOR, 4)
    expectNear(await valueAt(outputs[0], 0.1, 0.15), [WHITE[transfer], 512, 512], 8)
  })
})
