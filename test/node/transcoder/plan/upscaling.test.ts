// allow_upscaling: which profiles are larger than the source, and their result.
import { describe, expect, test } from 'vitest'
import type { JobSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import type { VideoStream } from '../../../../transcoder/plan/model/mediaInfo.ts'
import { jobSpec, packagingSpec, videoProfile, mediaInfo } from '../../../support/transcoder/jobSpecs.ts'

const profiles = (...sizes: [width: number, height: number, kbps?: number][]): VideoProfile[] =>
  sizes.map(([width, height, bitrateKbps = 4000], index) => videoProfile({ index, width, height, bitrateKbps }))
const small = { width: 400, height: 170 }

function planned(video: Partial<VideoStream>, change: Partial<JobSpec>) {
  const { outputs, warnings } = planJob(jobSpec(change), mediaInfo(video))
  return {
    sizes: outputs.map(({ profile, video: { width, height } }) => `${profile} ${width}x${height}`),
    warnings: warnings.map(({ code, field }) => `${code} ${field}`),
    messages: warnings.map(({ message }) => message),
    outputs,
  }
}

describe('absent: rungs above the source are made', () => {
  test('each has one warning with both sizes', () => {
    const { sizes, warnings, messages } = planned(small, { video: profiles([0, 1080], [0, 720], [0, 170]) })
    expect(sizes).toEqual(['0 2542x1080', '1 1694x720', '2 400x170'])
    expect(warnings).toEqual(['upscaled videoProfiles[0]', 'upscaled videoProfiles[1]'])
    expect(messages[0]).toContain("2542x1080, larger than the source's 400x170")
  })
  test('true makes them without', () => {
    expect(planned(small, { allowUpscaling: true, video: profiles([0, 1080]) })).toMatchObject({
      sizes: ['0 2542x1080'],
      warnings: [],
    })
  })
})

describe('what counts as larger', () => {
  const isLarger = (video: Partial<VideoStream>, size: [number, number], change: Partial<JobSpec> = {}) =>
    planned(video, { video: profiles(size), ...change }).warnings.includes('upscaled videoProfiles[0]')
  const hd = { width: 1920, height: 1080 }
  const pal = { width: 720, height: 576, sar: { num: 64, den: 45 } }

  test.each<[string, boolean, Partial<VideoStream>, [number, number], Partial<JobSpec>?]>([
    ['the source’s size', false, hd, [0, 0]],
    ['the same size', false, hd, [1920, 1080]],
    ['more lines', true, hd, [1920, 1200]],
    ['more samples a line', true, hd, [2048, 1080]],
    ['what even numbers make of odd ones', false, { width: 853, height: 479 }, [854, 480]],
    ['four lines more', true, { width: 854, height: 476 }, [0, 480]],
    ['square samples of an anamorphic source', false, pal, [1024, 576]],
    ['more than those', true, pal, [1280, 720]],
    ['a portrait source stands upright', false, { ...hd, rotation: 90 }, [1080, 1920]],
    ['and is not wider than it is', true, { ...hd, rotation: 90 }, [1920, 1080], { transform: 'crop' }],
    ['an anamorphic portrait source', false, { ...pal, rotation: 270 }, [576, 1024]],
    ['a letterbox around a picture of the same size', false, small, [400, 400], { transform: 'letterbox' }],
    ['a letterbox with a larger picture', true, small, [1920, 1080], { transform: 'letterbox' }],
    ['a part of the source at its own size', false, hd, [1080, 1080], { transform: 'crop' }],
    ['a part of the source, scaled up', true, hd, [1440, 1440], { transform: 'crop' }],
    ['turned', false, hd, [1080, 1920], { aspect: 'rotate_counterclockwise + invert_aspect_ratio' }],
    ['turned and enlarged', true, hd, [1440, 2560], { aspect: 'rotate_counterclockwise + invert_aspect_ratio' }],
    [
      'forced to another aspect at its lines',
      false,
      { width: 768, height: 576 },
      [1024, 576],
      { aspect: 'force_16:9' },
    ],
  ])('%s: %j', (_what, expected, video, size, change) => {
    expect(isLarger(video, size, change)).toBe(expected)
  })
})

describe('false: rungs above the source are left out', () => {
  test('each with a warning; the others keep their positions', () => {
    const video = profiles([1920, 1080], [1280, 720], [640, 360], [320, 180])
    const { sizes, warnings, messages } = planned({ width: 854, height: 480 }, { allowUpscaling: false, video })
    expect(sizes).toEqual(['2 640x360', '3 320x180'])
    expect(warnings).toEqual(['rung_left_out videoProfiles[0]', 'rung_left_out videoProfiles[1]'])
    expect(messages[0]).toContain("1920x1080 is larger than the source's 854x480")
  })
  test('when all are above, the smallest is made at the source’s size with the bitrate of that size', () => {
    const video = profiles([0, 1080, 4800], [0, 720, 2600])
    const { sizes, warnings, outputs } = planned(small, { allowUpscaling: false, video })
    expect(sizes).toEqual(['1 400x170'])
    // The default of the command line, which names a size above every source.
    expect(planned(small, { allowUpscaling: false, video: profiles([0, 4320, 46_000]) }).sizes).toEqual(['0 400x170'])
    expect(outputs[0]?.video.bitrateKbps).toBe(300)
    expect(warnings).toEqual(['rung_left_out videoProfiles[0]', 'rung_at_source_size videoProfiles[1]'])
  })
  test('a frame that the job shapes keeps its shape', () => {
    const shaped = (transform: JobSpec['transform'], size: [number, number]) =>
      planned(small, { allowUpscaling: false, transform, video: profiles(size) }).sizes
    expect(shaped('letterbox', [1920, 1080])).toEqual(['0 400x226'])
    expect(shaped('crop', [1080, 1080])).toEqual(['0 170x170'])
    expect(shaped('none', [1920, 1080])).toEqual(['0 400x170'])
  })
  test('it has at most twice the bitrate of the source', () => {
    const made = (sizeBytes: number) =>
      planJob(
        jobSpec({ allowUpscaling: false, video: profiles([0, 720, 2600]) }),
        mediaInfo({ width: 640, height: 360 }, { sizeBytes, durationSeconds: 10 }),
      ).outputs[0]?.video.bitrateKbps
    expect([made(2_500_000), made(400_000), made(1000)]).toEqual([900, 650, 350])
  })
  test('its bitrate is within what the smaller size may have', () => {
    const pal = { width: 352, height: 288 }
    const spec = jobSpec({ allowUpscaling: false, videoCodec: 'mpeg2', video: profiles([1920, 1080, 300_000]) })
    const { outputs, warnings } = planJob(spec, mediaInfo(pal, { sizeBytes: 1e9 }))
    expect(outputs[0]?.video.bitrateKbps).toBe(15_000)
    expect(warnings.map(({ message }) => message).join()).toContain('15000 kbps instead of 300000')
  })
  test('in segmented output what is left keeps its directory', () => {
    const video = profiles([1920, 1080], [320, 180]).map((each) => ({ ...each, output: `${each.height}p` }))
    const { packaging } = planJob(
      jobSpec({ allowUpscaling: false, packaging: packagingSpec({ hls: true }), video }),
      mediaInfo({ width: 854, height: 480 }),
    )
    expect(packaging?.renditions.filter(({ kind }) => kind === 'video')).toMatchObject([
      { id: 'video_1', directory: '180p', profile: 1 },
    ])
  })
})
