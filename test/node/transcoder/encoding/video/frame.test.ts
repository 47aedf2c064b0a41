// Size, aspect ratio and colour of real outputs. Colours are compared as decoded values: a wrong matrix changes them by
// 10 and more.
import { describe, expect, test } from 'vitest'
import { ffmpeg, lavfi, makeClip, meanColor, probeStream, sharedClip } from '../../../../support/media/media.ts'
import { ALL_FEATURES } from '../../../../../transcoder/plan/model/engineFeatures.ts'
import { jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

const silent = (change: Parameters<typeof videoProfile>[0] = {}) =>
  videoProfile({ audioProfiles: [], bitrateKbps: 1500, ...change })

/** Limited-range Y, Cb, Cr of pure red (ITU-R BT.601 and BT.709). */
const RED = { '601': [81, 90, 240], '709': [63, 102, 240] } as const

function expectNear(actual: readonly number[], wanted: readonly number[]): void {
  for (const [index, value] of wanted.entries())
    expect(
      Math.abs((actual[index] ?? 0) - value),
      `${actual.join(' ')} is not ${wanted.join(' ')}`,
    ).toBeLessThanOrEqual(3)
}

describe('colour', () => {
  /** Pixel format, encoder, tags and the matrix of the red source frame. */
  const sources: [string, string, number, string, string[]][] = [
    ['untagged SD', 'yuv420p', 180, 'bt601', []],
    ['untagged HD', 'yuv420p', 720, 'bt709', []],
    [
      'tagged 709 SD',
      'yuv420p',
      180,
      'bt709',
      ['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709'],
    ],
    ['full range', 'yuvj420p', 180, 'bt601', ['-color_range', 'pc']],
    ['4:2:2', 'yuv422p', 180, 'bt601', []],
    ['10 bits', 'yuv420p10le', 180, 'bt601', []],
    ['4:4:4 with 12 bits', 'yuv444p12le', 180, 'bt601', []],
    ['RGB', 'rgb24', 180, 'rgb', []],
    ['RGB with alpha', 'bgra', 180, 'rgb', []],
    ['packed 4:2:2', 'uyvy422', 180, 'bt601', []],
  ]
  const encoders: Record<string, string[]> = {
    rgb24: ['-c:v', 'libx264rgb', '-qp', '4'],
    bgra: ['-c:v', 'qtrle'],
    uyvy422: ['-c:v', 'rawvideo'],
    yuv444p12le: ['-c:v', 'ffv1'],
    yuv420p10le: ['-c:v', 'libx265', '-x265-params', 'log-level=error:qp=4'],
  }

  test.each(sampled(sources, 3))(
    '%s (%s, %i lines) keeps its red in SD and HD',
    async (title, format, height, matrix, tags) => {
      const clip = tempDir.file(`${title.replaceAll(/\W/g, '_')}.mov`)
      const width = (height * 16) / 9
      const range = format === 'yuvj420p' ? 'full' : 'limited'
      const convert = matrix === 'rgb' ? '' : `,scale=out_color_matrix=${matrix}:out_range=${range}`
      const picture = `color=0xff0000:s=${width}x${height}:r=25:d=0.4,format=gbrp${convert},format=${format},setparams=colorspace=unknown`
      await ffmpeg([
        '-f',
        'lavfi',
        '-i',
        picture,
        ...(encoders[format] ?? ['-c:v', 'libx264', '-qp', '4']),
        '-pix_fmt',
        format,
        ...tags,
        clip,
      ])
      const spec = jobSpec({
        video: [silent({ width: 320, height: 180 }), silent({ index: 1, width: 1280, height: 720, bitrateKbps: 3000 })],
      })
      const { outputs } = await encode(spec, clip)
      expectNear(await meanColor(outputs[0]), RED['601'])
      expectNear(await meanColor(outputs[1] ?? ''), RED['709'])
      expect(await probeStream(outputs[0], 'video')).toMatchObject({
        pix_fmt: 'yuv420p',
        color_range: 'tv',
        color_space: 'bt470bg',
        color_primaries: 'bt470bg',
      })
      expect(await probeStream(outputs[1] ?? '', 'video')).toMatchObject({
        pix_fmt: 'yuv420p',
        color_range: 'tv',
        color_space: 'bt709',
      })
      // Without zscale, swscale converts.
      const plain = { ...ALL_FEATURES, zscale: false }
      const swscaled = await encode(spec, clip, { features: plain })
      expectNear(await meanColor(swscaled.outputs[0]), RED['601'])
      expectNear(await meanColor(swscaled.outputs[1] ?? ''), RED['709'])
    },
  )

  test.each(['hevc', 'mpeg2'] as const)('%s carries the tags too', async (videoCodec) => {
    const clip = await makeClip(tempDir.file(`tags_${videoCodec}.mp4`), { seconds: 0.4, audio: [] })
    const { outputs } = await encode(jobSpec({ videoCodec, video: [silent()] }), clip)
    expect(await probeStream(outputs[0], 'video')).toMatchObject({
      color_space: 'bt470bg',
      color_primaries: 'bt470bg',
      color_range: 'tv',
    })
  })

  test('PQ is tone-mapped: grey stays grey, and the tags say BT.601', async () => {
    const clip = tempDir.file('pq.mkv')
    const tags = 'setparams=colorspace=bt2020nc:color_primaries=bt2020:color_trc=smpte2084:range=tv'
    const flags = '-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -color_range tv'.split(' ')
    const picture = `color=gray:s=320x180:r=25:d=0.4,format=yuv420p10le,geq=lum=500:cb=512:cr=512,${tags}`
    await ffmpeg([...lavfi(picture), '-c:v', 'ffv1', ...flags, clip])
    const { outputs, plan } = await encode(jobSpec({ video: [silent()] }), clip)
    expect(plan.warnings.map((warning) => warning.code)).toEqual(['tone_mapped'])
    const [, cb, cr] = await meanColor(outputs[0])
    expect([Math.round(cb), Math.round(cr)]).toEqual([128, 128])
    expect(await probeStream(outputs[0], 'video')).toMatchObject({
      color_transfer: 'smpte170m',
      color_primaries: 'bt470bg',
    })
  })
})

describe('size and shape', () => {
  test.each(['h264', 'hevc', 'mpeg2'] as const)(
    '%s: 16:9 in 4:3 samples shows 16:9, in mp4 and ts',
    async (videoCodec) => {
      const clip = await makeClip(tempDir.file(`shape_${videoCodec}.mp4`), { seconds: 0.4, audio: [] })
      for (const container of ['mp4', 'ts'] as const) {
        const { outputs } = await encode(
          jobSpec({ videoCodec, container, video: [silent({ width: 360, height: 288 })] }),
          clip,
        )
        expect(await probeStream(outputs[0], 'video')).toMatchObject({
          width: 360,
          height: 288,
          sample_aspect_ratio: '64:45',
          display_aspect_ratio: '16:9',
        })
      }
    },
  )

  test('mpeg2 of 2.35:1 has black bars inside 16:9', async () => {
    const clip = await makeClip(tempDir.file('wide.mp4'), {
      width: 470,
      height: 200,
      seconds: 0.4,
      audio: [],
      picture: 'color=c=white',
    })
    const { outputs } = await encode(
      jobSpec({ videoCodec: 'mpeg2', video: [silent({ width: 360, height: 288 })] }),
      clip,
    )
    expect((await probeStream(outputs[0], 'video')).display_aspect_ratio).toBe('16:9')
    const raw = await ffmpeg(['-i', outputs[0], '-frames:v', '1', '-pix_fmt', 'gray', '-f', 'rawvideo', '-'])
    const line = (y: number) => raw[y * 360 + 180] ?? 0
    expect([line(4) < 24, line(144) > 200, line(283) < 24]).toEqual([true, true, true])
  })

  test('width and height 0 give the size of the source', async () => {
    const clip = await makeClip(tempDir.file('own.mp4'), { width: 322, height: 182, seconds: 0.4, audio: [] })
    const { outputs } = await encode(jobSpec({ video: [silent({ width: 0, height: 0 })] }), clip)
    expect(await probeStream(outputs[0], 'video')).toMatchObject({ width: 322, height: 182 })
  })

  test('a telephone’s rotation is applied once, and not written again', async (context) => {
    const clip = sharedClip(context, 'rotate-buck-bunny.mp4')
    const { outputs } = await encode(jobSpec({ video: [silent({ width: 0, height: 320 })] }), clip)
    const out = await probeStream(outputs[0], 'video')
    expect(out).toMatchObject({ width: 180, height: 320 })
    expect(out).not.toHaveProperty('side_data_list')
  })

  test('real samples of 2:1 are carried on', async (context) => {
    const clip = sharedClip(context, 'sar_2x1.mp4')
    const { outputs } = await encode(jobSpec({ video: [silent({ width: 320, height: 180 })] }), clip)
    expect((await probeStream(outputs[0], 'video')).sample_aspect_ratio).toBe('2:1')
  })
})
