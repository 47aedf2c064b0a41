import { describe, expect, it } from 'vitest'
import { fitsCodec, maximumBitrateKbps, minimumBitrateKbps } from '#contract/job/rules/videoBitrates.ts'
import { expectAccepted, expectRefused, request } from '../../requestFixture.ts'

describe('the minimum video bitrate', () => {
  it.each([
    [3840, 2160, 6500, 4900, 3900, 9750],
    [1920, 1080, 2300, 1700, 1400, 3450],
    [1280, 720, 1250, 950, 750, 1900],
    [960, 540, 800, 600, 500, 1200],
    [720, 576, 700, 500, 400, 1050],
    [640, 360, 450, 350, 250, 650],
    [416, 234, 250, 150, 150, 350],
    [64, 64, 100, 100, 100, 100],
    [0, 0, 100, 100, 100, 100],
    [0, 1080, 100, 100, 100, 100],
  ])('of %ix%i', (width, height, h264, vbr, hevc, mpeg2) => {
    expect([
      minimumBitrateKbps('h.264', width, height, 'cbr'),
      minimumBitrateKbps('h264', width, height, 'vbr'),
      minimumBitrateKbps('hevc', width, height, 'cbr'),
      minimumBitrateKbps('mpeg2', width, height, 'cbr'),
    ]).toEqual([h264, vbr, hevc, mpeg2])
    expect(minimumBitrateKbps('h264', width, height, 'qvbr')).toBe(vbr)
  })

  it.each([2300, 2301, 2400])('lets %i through for 1920x1080 h.264 cbr', (video_bitrate) => {
    expect(expectAccepted(request({}, { video_bitrate })).config.videoProfiles[0]!.video_bitrate).toBe(video_bitrate)
  })

  it.each([0, 100, 2250, 2299, 2299.9])('refuses %d for 1920x1080 h.264 cbr, naming 2300', (video_bitrate) => {
    expect(expectRefused(request({}, { video_bitrate }))).toEqual([
      {
        code: 'video_bitrate_too_low',
        field: 'videoProfiles[0].video_bitrate',
        message: 'bitrate for this profile and codec should be at least 2300',
        minimum: 2300,
        maximum: 300_000,
      },
    ])
  })

  it('is that of vbr when no mode is given', () => {
    expect(expectRefused(request({}, { video_bitrate: 1699, video_bitrate_mode: undefined }))).toMatchObject([
      { minimum: 1700 },
    ])
    expectAccepted(request({}, { video_bitrate: 1700, video_bitrate_mode: undefined }))
  })

  it('is 100 at creation when a dimension is the source’s', () => {
    expectAccepted(request({}, { width: 0, height: 0, video_bitrate: 100 }))
    expectAccepted(request({}, { width: 0, height: 1080, video_bitrate: 100 }))
    expect(expectRefused(request({}, { width: 0, height: 0, video_bitrate: 99 }))).toMatchObject([{ minimum: 100 }])
  })
})

describe('the maximum video bitrate', () => {
  it.each([
    ['h.264', 1920, 1080, 300_000],
    ['h.264', 4096, 2304, 300_000],
    ['h.264', 7680, 4320, 1_000_000],
    ['h.264', 0, 0, 1_000_000],
    ['hevc', 3840, 2160, 60_000],
    ['hevc', 7680, 4320, 240_000],
    ['mpeg2', 720, 576, 15_000],
    ['mpeg2', 720, 480, 15_000],
    ['mpeg2', 576, 720, 80_000],
    ['mpeg2', 1920, 1080, 80_000],
    ['mpeg2', 0, 576, 80_000],
  ] as const)('of %s at %ix%i is %i', (codec, width, height, kbps) => {
    expect(maximumBitrateKbps(codec, width, height)).toBe(kbps)
  })

  it('is enforced', () => {
    const size = { width: 720, height: 576, video_bitrate_mode: 'cbr' }
    expectAccepted(request({ video_codec: 'mpeg2' }, { ...size, video_bitrate: 15_000 }))
    expect(expectRefused(request({ video_codec: 'mpeg2' }, { ...size, video_bitrate: 15_001 }))).toEqual([
      {
        code: 'video_bitrate_too_high',
        field: 'videoProfiles[0].video_bitrate',
        message: 'bitrate for this profile and codec should be at most 15000',
        minimum: 1050,
        maximum: 15_000,
      },
    ])
  })

  it('has no level for mpeg2 above 1920x1152', () => {
    expect(fitsCodec('mpeg2', 1920, 1152)).toBe(true)
    expect(fitsCodec('mpeg2', 1922, 1080)).toBe(false)
    expect(fitsCodec('mpeg2', 0, 1154)).toBe(false)
    expect(fitsCodec('hevc', 7680, 4320)).toBe(true)
  })
})
