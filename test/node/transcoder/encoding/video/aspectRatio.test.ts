// video_aspect_ratio, rotation_blackness and picture_transform in decoded pixels: the colour of each corner, and the
// position of bars.
import { beforeAll, describe, expect, test } from 'vitest'
import type { AspectMode, JobSpec, PictureTransform } from '#contract/job/jobSpec.ts'
import { ffmpeg, sharedClip, probeStream } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { colorsAt, cornerPoints, makeTestCard } from '../../../../support/media/testCard.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
let card: string
let anamorphic: string
beforeAll(async () => {
  card = await makeTestCard(tempDir.file('card.mp4'))
  anamorphic = await makeTestCard(tempDir.file('anamorphic.mp4'), { width: 180, height: 144, sar: '64/45' })
})

async function shape(change: Partial<JobSpec>, size: [number, number] = [320, 180], input = card) {
  const [width, height] = size
  const spec = jobSpec({ video: [videoProfile({ audioProfiles: [], bitrateKbps: 1500, width, height })], ...change })
  const { outputs, plan } = await encode(spec, input)
  const found = await probeStream(outputs[0], 'video')
  return {
    file: outputs[0],
    size: [found.width, found.height],
    sar: found.sample_aspect_ratio,
    dar: found.display_aspect_ratio,
    warnings: plan.warnings.map((warning) => warning.code),
  }
}

const UPRIGHT = ['red', 'green', 'blue', 'white']
const CLOCKWISE = ['blue', 'red', 'white', 'green']
const COUNTERCLOCKWISE = ['green', 'white', 'red', 'blue']
/** The left and right edge at half height, then the top and bottom edge in the middle of the left half. */
const SIDES: [number, number][] = [
  [0.02, 0.5],
  [0.97, 0.5],
]
const TOP_BOTTOM: [number, number][] = [
  [0.25, 0.02],
  [0.25, 0.97],
]

describe('video_aspect_ratio', () => {
  test('the bars of rotation_blackness begin where the video ends', async () => {
    const out = await shape({ aspect: 'rotate_counterclockwise', barPercent: 50 }, [0, 0])
    expect(out).toMatchObject({ size: [320, 180], dar: '16:9', sar: '1:1' })
    expect(await colorsAt(out.file, cornerPoints({ width: 102 / 320 }))).toEqual(COUNTERCLOCKWISE)
    expect(await colorsAt(out.file, [...SIDES, [0.33, 0.1], [0.67, 0.9]])).toEqual(['grey', 'grey', 'grey', 'grey'])
  })

  test('hevc: turned with bars', async () => {
    const out = await shape({ videoCodec: 'hevc', aspect: 'rotate_clockwise' })
    expect(await colorsAt(out.file, [...cornerPoints({ width: 102 / 320 }), ...SIDES])).toEqual([
      ...CLOCKWISE,
      'black',
      'black',
    ])
  })

  test('mpeg2 has no 9:16: the rotated video is pillarboxed inside 4:3', async () => {
    const out = await shape({ videoCodec: 'mpeg2', aspect: 'invert_aspect_ratio' }, [352, 288])
    expect(out.dar).toBe('4:3')
    expect(out.warnings).toContain('bars_added')
    expect(await colorsAt(out.file, cornerPoints({ width: 0.42 }))).toEqual(UPRIGHT)
    expect(await colorsAt(out.file, SIDES)).toEqual(['black', 'black'])
  })

  test.each(['h264', 'mpeg2'] as const)(
    '%s: an anamorphic source turned with its display aspect fills',
    async (videoCodec) => {
      const aspect = 'rotate_counterclockwise + invert_aspect_ratio'
      const out = await shape({ videoCodec, aspect }, [162, 288], anamorphic)
      expect(out).toMatchObject({ sar: '1:1', size: [162, 288] })
      expect(await colorsAt(out.file, cornerPoints())).toEqual(COUNTERCLOCKWISE)
    },
  )

  test('an anamorphic source turned inside its display aspect keeps its samples', async () => {
    const out = await shape({ aspect: 'rotate_clockwise' }, [0, 0], anamorphic)
    expect(out).toMatchObject({ size: [180, 144], sar: '64:45', dar: '16:9' })
    expect(await colorsAt(out.file, cornerPoints({ width: 0.316 }))).toEqual(CLOCKWISE)
    expect(await colorsAt(out.file, SIDES)).toEqual(['black', 'black'])
  })

  test('rotation metadata of the source is applied before the rotation of the job', async (context) => {
    const clip = sharedClip(context, 'rotate-buck-bunny.mp4')
    const plain = await shape({}, [180, 320], clip)
    const turned = await shape({ aspect: 'rotate_counterclockwise + invert_aspect_ratio' }, [320, 180], clip)
    const back = '[1:v]transpose=dir=clock[b];[0:v][b]ssim=stats_file=-'
    const [first] = (await ffmpeg(['-i', plain.file, '-i', turned.file, '-lavfi', back, '-f', 'null', '-']))
      .toString()
      .split('\n')
    expect(Number(/All:([\d.]+)/.exec(first ?? '')?.[1])).toBeGreaterThan(0.9)
  })
})

describe('picture_transform', () => {
  const cases: [PictureTransform, AspectMode, [number, number], string[], string[]][] = [
    ['crop', 'passthrough', [320, 120], UPRIGHT, []],
    // Rotated first, mirrored afterwards.
    ['hflip', 'rotate_counterclockwise + invert_aspect_ratio', [180, 320], ['white', 'green', 'blue', 'red'], []],
    ['rotate180', 'rotate_counterclockwise + invert_aspect_ratio', [180, 320], CLOCKWISE, []],
    ['crop', 'rotate_clockwise', [320, 180], CLOCKWISE, []],
  ]
  test.each(sampled(cases, 3))('%s of %s at %j', async (transform, aspect, size, colors) => {
    const out = await shape({ transform, aspect }, size)
    expect(out).toMatchObject({ size, sar: '1:1' })
    expect(await colorsAt(out.file, cornerPoints())).toEqual(colors)
    expect(await colorsAt(out.file, [...SIDES, ...TOP_BOTTOM])).not.toContain('black')
  })

  test('letterbox with one dimension 0 has the aspect ratio of the source, with square samples', async () => {
    expect(await shape({ transform: 'letterbox' }, [0, 180], anamorphic)).toMatchObject({
      size: [320, 180],
      sar: '1:1',
    })
  })

  test('crop of an anamorphic source is in its display proportions', async () => {
    const out = await shape({ transform: 'crop' }, [144, 144], anamorphic)
    expect(out).toMatchObject({ size: [144, 144], sar: '1:1' })
    expect(await colorsAt(out.file, cornerPoints())).toEqual(UPRIGHT)
  })

  test('a real anamorphic clip becomes square between bars', async (context) => {
    const out = await shape({ transform: 'letterbox' }, [320, 320], sharedClip(context, 'sar_2x1.mp4'))
    expect(out).toMatchObject({ size: [320, 320], sar: '1:1' })
    expect(await colorsAt(out.file, [[0.5, 0.02]])).toEqual(['black'])
  })
})
