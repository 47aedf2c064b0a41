// dynamic_range: the plan for an HDR source; no ffmpeg.
import { expect, test } from 'vitest'
import { parseHdrMetadata } from '../../../../transcoder/analysis/hdrMetadata.ts'
import { videoEncoderArgs } from '../../../../transcoder/plan/argv/encoderArgs.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { jobSpec, mediaInfo } from '../../../support/transcoder/jobSpecs.ts'

const pq = { pixelFormat: 'yuv420p10le', colorSpace: 'bt2020nc', colorPrimaries: 'bt2020', colorTransfer: 'smpte2084' }
const display = {
  red: [0.68, 0.32] as [number, number],
  green: [0.265, 0.69] as [number, number],
  blue: [0.15, 0.06] as [number, number],
  white: [0.3127, 0.329] as [number, number],
  minNits: 0.005,
  maxNits: 1000,
}

test.each([
  ['hevc', 'source', null, 'bt2020nc'],
  ['hevc', 'sdr', 'tone_mapped', 'bt709'],
  ['h264', 'sdr', 'tone_mapped', 'bt709'],
  // Refused when the job is created; here the codec decides.
  ['h264', 'source', 'tone_mapped', 'bt709'],
  ['mpeg2', 'sdr', 'tone_mapped', 'bt709'],
] as const)('%s, %s: %s', (videoCodec, dynamicRange, code, matrix) => {
  const size = jobSpec().video.map((profile) => ({ ...profile, width: 1280, height: 720, bitrateKbps: 5000 }))
  const plan = planJob(jobSpec({ videoCodec, dynamicRange, video: size }), mediaInfo(pq))
  expect(plan.warnings.map((warning) => warning.code)).toEqual(code === null ? [] : [code])
  expect(plan.outputs[0]!.video.color.matrix).toBe(matrix)
  expect(plan.picture.hdr === null).toBe(code !== null)
})

test('an SDR source stays SDR', () => {
  expect(planJob(jobSpec({ videoCodec: 'hevc', dynamicRange: 'source' }), mediaInfo()).picture.hdr).toBeNull()
})

test('dynamic metadata has a warning', () => {
  const plan = planJob(
    jobSpec({ videoCodec: 'hevc', dynamicRange: 'source' }),
    mediaInfo({ ...pq, dynamicMetadata: true }),
  )
  expect(plan.warnings.map(({ code }) => code)).toEqual(['dynamic_metadata_left_out'])
})

test('the encoder gets mastering display and content light metadata', () => {
  const media = mediaInfo({ ...pq, masteringDisplay: display, contentLight: { maximum: 1000, average: 400 } })
  const plan = planJob(jobSpec({ videoCodec: 'hevc', dynamicRange: 'source' }), media)
  const flags = videoEncoderArgs(plan, plan.outputs[0]!.video, { cores: null })
  expect(flags).toContain('main10')
  expect(flags[flags.indexOf('-x265-params') + 1]).toContain(
    ':hdr10=1:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400',
  )
})

test.each([
  // ffmpeg 5.1 and 7.0.
  ['side data - mastering display: has_primaries:1 has_luminance:1 ', 'Content Light Level information'],
  ['side data - Mastering display metadata: has_primaries:1 has_luminance:1 ', 'Content light level metadata'],
])('output of the showinfo filter is parsed: %s', (words, light) => {
  const log = `[Parsed_showinfo_0 @ 0x1] [info]   ${words}r(0.6800,0.3200) g(0.2650,0.6900) b(0.1500 0.0600) wp(0.3127, 0.3290) min_luminance=0.005000, max_luminance=1000.000000\n[info]   side data - ${light}: MaxCLL=1000, MaxFALL=400\n`
  expect(parseHdrMetadata(log)).toEqual({
    masteringDisplay: display,
    contentLight: { maximum: 1000, average: 400 },
    dynamicMetadata: false,
  })
  expect(parseHdrMetadata('')).toEqual({ masteringDisplay: null, contentLight: null, dynamicMetadata: false })
  expect(parseHdrMetadata('side data - HDR Dynamic Metadata SMPTE2094-40 (HDR10+)').dynamicMetadata).toBe(true)
})
