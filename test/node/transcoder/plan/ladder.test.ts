// ladder "auto": which renditions a source gets. Encoding them: test/node/transcoder/pipeline/presetDefaults.test.ts.
import { describe, expect, test } from 'vitest'
import { minimumBitrateKbps } from '#contract/job/rules/videoBitrates.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import type { VideoStream } from '../../../../transcoder/plan/model/mediaInfo.ts'
import { jobSpec, packagingSpec, videoProfile, mediaInfo } from '../../../support/transcoder/jobSpecs.ts'

/** As toSpec makes it: one profile that represents all renditions. */
const auto = (change: Partial<JobSpec> = {}) =>
  jobSpec({
    ladder: 'auto',
    gopSeconds: 2,
    video: [videoProfile({ output: '', width: 0, height: 0, bitrateKbps: 0 })],
    ...change,
  })
const planned = (video: Partial<VideoStream>, change: Partial<JobSpec> = {}) => planJob(auto(change), mediaInfo(video))
const rungs = (video: Partial<VideoStream>, change: Partial<JobSpec> = {}) =>
  planned(video, change).outputs.map(({ path, video: { width, height } }) => `${path} ${width}x${height}`)
const sizes = (video: Partial<VideoStream>, change: Partial<JobSpec> = {}) =>
  planned(video, change).outputs.map(({ video: { width, height } }) => `${width}x${height}`)

describe('sizes', () => {
  test.each<[string, Partial<VideoStream>, string[]]>([
    ['4K', { width: 3840, height: 2160 }, ['3840x2160', '1920x1080', '1280x720', '960x540', '640x360', '426x240']],
    ['1080p', { width: 1920, height: 1080 }, ['1920x1080', '1280x720', '960x540', '640x360', '426x240']],
    ['900p', { width: 1600, height: 900 }, ['1600x900', '1280x720', '960x540', '640x360', '426x240']],
    [
      'cropped by a few lines',
      { width: 1916, height: 1074 },
      ['1916x1074', '1280x718', '960x538', '640x358', '426x240'],
    ],
    ['scope', { width: 1920, height: 800 }, ['1920x800', '1280x534', '960x400', '640x266', '426x178']],
    ['480p has a 480 in the middle', { width: 854, height: 480 }, ['854x480', '640x360', '426x240']],
    ['portrait', { width: 1080, height: 1920 }, ['1080x1920', '720x1280', '540x960', '360x640', '240x426']],
    [
      'turned by a flag',
      { width: 1920, height: 1080, rotation: 90 },
      ['1080x1920', '720x1280', '540x960', '360x640', '240x426'],
    ],
    ['square', { width: 720, height: 720 }, ['720x720', '540x540', '360x360', '240x240']],
    ['1440p', { width: 2560, height: 1440 }, ['2560x1440', '1920x1080', '1280x720', '960x540', '640x360', '426x240']],
    ['CIF', { width: 352, height: 288, sar: { num: 12, den: 11 } }, ['384x288', '320x240']],
    ['a little above a class', { width: 1366, height: 768 }, ['1280x720', '960x540', '640x360', '426x240']],
    ['anamorphic PAL', { width: 720, height: 576, sar: { num: 64, den: 45 } }, ['960x540', '640x360', '426x240']],
    ['NTSC 4:3', { width: 720, height: 480, sar: { num: 8, den: 9 } }, ['640x480', '480x360', '320x240']],
    [
      '1080i of 1440',
      { width: 1440, height: 1080, sar: { num: 4, den: 3 } },
      ['1920x1080', '1280x720', '960x540', '640x360', '426x240'],
    ],
    ['small', { width: 400, height: 170 }, ['400x170']],
    ['tiny', { width: 120, height: 68 }, ['120x68']],
    ['tiny and odd', { width: 121, height: 67 }, ['120x66']],
    ['tiny and upright', { width: 68, height: 120 }, ['68x120']],
  ])('%s', (_what, video, expected) => {
    expect(sizes(video)).toEqual(expected)
  })
  test('never above the source, and always one at least', () => {
    for (const [width, height] of [
      [16, 16],
      [239, 4000],
      [4096, 1716],
      [7680, 4320],
      [1278, 718],
      [500, 281],
      [2000, 100],
      [7680, 100],
    ] as const) {
      const { outputs, warnings } = planned({ width, height })
      expect(outputs.length).toBeGreaterThan(0)
      for (const { video } of outputs) {
        expect(video.width).toBeLessThanOrEqual(width)
        expect(video.height).toBeLessThanOrEqual(height)
        expect(Math.min(video.width, video.height)).toBeGreaterThanOrEqual(16)
      }
      expect(warnings.filter(({ code }) => code === 'upscaled')).toEqual([])
    }
  })
  test('a codec has the rungs that it has levels for', () => {
    expect(sizes({ width: 3840, height: 2160 }, { videoCodec: 'mpeg2' })[0]).toBe('1920x1080')
    expect(sizes({ width: 3840, height: 2160 }, { videoCodec: 'hevc' })[0]).toBe('3840x2160')
  })
  test('use the frame size after rotation and aspect ratio of the job', () => {
    const hd = { width: 1920, height: 1080 }
    expect(sizes(hd, { aspect: 'rotate_counterclockwise + invert_aspect_ratio' })[0]).toBe('1080x1920')
    expect(sizes(hd, { aspect: 'rotate_clockwise' })[0]).toBe('1920x1080')
    expect(sizes(hd, { aspect: 'force_4:3' })).toEqual(['1440x1080', '960x720', '720x540', '480x360', '320x240'])
  })
  test('samples are square, except in a rendition of the source’s size', () => {
    const sar = (video: Partial<VideoStream>) => planned(video).outputs.map((output) => output.video.sar)
    expect(
      new Set(sar({ width: 720, height: 576, sar: { num: 64, den: 45 } }).map(({ num, den }) => num / den)),
    ).toEqual(new Set([1]))
    expect(sar({ width: 120, height: 68, sar: { num: 4, den: 3 } })).toEqual([{ num: 4, den: 3 }])
  })
})

describe('rates', () => {
  const kbps = (video: Partial<VideoStream>, change: Partial<JobSpec> = {}) =>
    planned(video, change).outputs.map(({ video: { bitrateKbps } }) => bitrateKbps)
  const hd = { width: 1920, height: 1080 }

  test('variable bitrate by size, codec and frame rate', () => {
    expect(kbps(hd)).toEqual([4800, 2600, 1700, 900, 500])
    expect(kbps(hd, { videoCodec: 'hevc' })).toEqual([2900, 1550, 1000, 550, 300])
    expect(kbps({ ...hd, frameRate: { num: 60, den: 1 } })).toEqual([7200, 3900, 2550, 1400, 750])
    expect(new Set(planned(hd).outputs.map(({ video }) => video.mode))).toEqual(new Set(['vbr']))
  })
  test('never below what a size of that codec may have', () => {
    for (const codec of ['h264', 'hevc', 'mpeg2'] as const)
      for (const size of [hd, { width: 120, height: 68 }, { width: 400, height: 170 }])
        for (const { video } of planned(size, { videoCodec: codec }).outputs)
          expect(video.bitrateKbps).toBeGreaterThanOrEqual(minimumBitrateKbps(codec, video.width, video.height, 'vbr'))
  })
  test('the source’s frame rate and GOPs of two seconds in every rung', () => {
    const { outputs } = planned({ ...hd, frameRate: { num: 50, den: 1 } })
    for (const { video } of outputs) expect(video).toMatchObject({ frameRate: { num: 50, den: 1 }, gopFrames: 100 })
  })
  test('interlaced sources become progressive, in files too', () => {
    const { outputs } = planned({ ...hd, fieldOrder: 'tt' })
    expect(outputs.map(({ video }) => `${video.scan} ${video.deinterlace}`)).toEqual(
      Array(5).fill('progressive frames'),
    )
  })
})

test('what is said of every rung is said once, of the ladder', () => {
  const { warnings } = planned({ width: 1920, height: 1080, fieldOrder: 'tt' })
  expect(warnings.map(({ code, field }) => `${code} ${field}`)).toEqual(['deinterlaced ladder'])
  expect(planned({ width: 121, height: 67 }).warnings).toMatchObject([{ code: 'size_rounded', field: 'ladder' }])
})

describe('names', () => {
  test('of files: the input, the position and the class', () => {
    expect(rungs({ width: 1280, height: 720 })).toEqual([
      'clip_0_720p.mp4 1280x720',
      'clip_1_540p.mp4 960x540',
      'clip_2_360p.mp4 640x360',
      'clip_3_240p.mp4 426x240',
    ])
    expect(rungs({ width: 1080, height: 1920 })[0]).toBe('clip_0_1080p.mp4 1080x1920')
    expect(rungs({ width: 400, height: 170 })).toEqual(['clip_0_170p.mp4 400x170'])
  })
  test('of segmented output: the class', () => {
    const spec = { packaging: packagingSpec({ hls: true, dash: true }), outputDirectory: 'show' }
    const { packaging } = planned({ width: 854, height: 480 }, spec)
    expect(packaging?.renditions.map(({ id, directory }) => `${id} ${directory}`)).toEqual([
      'video_0 video_480p',
      'video_1 video_360p',
      'video_2 video_240p',
      'audio_0 audio_0',
    ])
  })
})

test('a source without video has no ladder, and its audio files all the same', () => {
  const plan = planJob(auto({ audioDirectory: 'a' }), { ...mediaInfo(), video: null })
  expect(plan.audioFiles).toHaveLength(1)
  expect(plan.warnings).toMatchObject([{ code: 'video_profile_left_out', field: 'ladder' }])
})
