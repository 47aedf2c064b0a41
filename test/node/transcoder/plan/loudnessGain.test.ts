// The gain that follows from a measured loudness; no ffmpeg.
import { describe, expect, test } from 'vitest'
import { parseEbur128 } from '../../../../transcoder/analysis/loudness/ebur128.ts'
import { planChannelMix } from '../../../../transcoder/plan/audio/downmix.ts'
import { audioFilters } from '../../../../transcoder/plan/argv/filters.ts'
import { limiterGains, planLoudness, loudnessMeasurements } from '../../../../transcoder/plan/audio/loudnessGain.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { timelineOf } from '../../../../transcoder/plan/streams/outputTiming.ts'
import { ALL_FEATURES } from '../../../../transcoder/plan/model/engineFeatures.ts'
import { PlanContext } from '../../../../transcoder/plan/planContext.ts'
import { jobSpec, videoProfile, audioStream, mediaInfo, audioProfile } from '../../../support/transcoder/jobSpecs.ts'

const STEREO = planChannelMix(audioProfile(), audioStream()).value
const measured = (integratedLufs: number | null, truePeakDb: number | null, limited: [number, number][] = []) => ({
  mix: STEREO,
  integratedLufs,
  truePeakDb,
  limited: limited.map(([gainDb, lufs]) => ({ gainDb, integratedLufs: lufs })),
})

describe('gain', () => {
  test.each([
    // Integrated loudness, true peak; target; gain, limited, warnings.
    [measured(-30, -15), -23, { gainDb: 7, limited: false }, []],
    [measured(-30, -10), -23, { gainDb: 7, limited: false }, []],
    [measured(-10, 2), -23, { gainDb: -13, limited: false }, []],
    [
      measured(-30, -9.9, [
        [7, -23.6],
        [7.5, -23.2],
        [8, -22.8],
      ]),
      -23,
      { gainDb: 7.75, limited: true },
      ['loudness_limited'],
    ],
    [
      measured(-30, -9.9, [
        [7, -23],
        [7.5, -22.5],
      ]),
      -23,
      { gainDb: 7, limited: true },
      ['loudness_limited'],
    ],
    [
      measured(-30, -1, [
        [25, -10],
        [33, -8],
      ]),
      -5,
      { gainDb: 33, limited: true },
      ['loudness_not_reached'],
    ],
    [measured(null, null), -23, null, ['loudness_of_silence']],
    [undefined, -23, null, ['loudness_not_measured']],
  ])('%j at %i: %j', (level, loudnessLufs, loudness, codes) => {
    const stream = audioStream({ loudness: level === undefined ? [] : [level] })
    const [spec, media] = [jobSpec({ loudnessLufs }), mediaInfo()]
    const timeline = timelineOf(spec, media, ALL_FEATURES)
    const context = new PlanContext(spec, { media, timeline }, ALL_FEATURES)
    expect(planLoudness(context, { stream, mix: STEREO })).toEqual(loudness)
    expect(context.warnings.map(({ code }) => code)).toEqual(codes)
  })

  test('no limiter is tried where peaks fit, or where there is silence', () => {
    expect(limiterGains(measured(-30, -10), -23)).toEqual([])
    expect(limiterGains(measured(null, null), -23)).toEqual([])
    expect(limiterGains(measured(-30, -9.9), -23)).toEqual([7, 7.5, 8, 9, 11, 15])
  })
})

test('each audio stream is measured once per downmix', () => {
  const audio = [
    audioProfile(),
    audioProfile({ index: 1, codec: 'ac3' }),
    audioProfile({ index: 2, channels: 6 }),
    audioProfile({ index: 3, sourceStream: 2 }),
    audioProfile({ index: 4, sourceStream: 7 }),
    audioProfile({ index: 5, sourceStream: null }),
  ]
  const media = mediaInfo({}, { audio: [audioStream(), audioStream({ index: 2, number: 2 })] })
  const spec = jobSpec({ audio, video: [videoProfile({ audioProfiles: [0, 1, 2, 4, 5] })] })
  expect(loudnessMeasurements(spec, media)).toEqual([])
  expect(loudnessMeasurements({ ...spec, loudnessLufs: -23 }, media)).toEqual([
    { stream: 1, mix: STEREO },
    { stream: 1, mix: planChannelMix(audioProfile({ channels: 6 }), audioStream()).value },
  ])
  expect(loudnessMeasurements({ ...spec, loudnessLufs: -23, audioDirectory: '' }, media)).toHaveLength(3)
})

test.each([
  [-24, 24, []],
  [-23.4, 23, []],
  [-35, 31, ['dialnorm_clamped']],
])('a dialogue level of 0 follows the target %f: %i', (loudnessLufs, dialnorm, codes) => {
  const spec = jobSpec({ loudnessLufs, audio: [audioProfile({ codec: 'ac3' })] })
  const plan = planJob(spec, mediaInfo({}, { audio: [audioStream({ loudness: [measured(-40, -30)] })] }))
  expect(plan.outputs[0]!.audio[0]!.dialnorm).toBe(dialnorm)
  expect(plan.warnings.map(({ code }) => code)).toEqual(codes)
})

test('the filters: one gain, or a gain with a true-peak limiter', () => {
  const [audio] = planJob(jobSpec(), mediaInfo()).outputs[0]!.audio
  const filters = (loudness: { gainDb: number; limited: boolean } | null) =>
    audioFilters({ ...audio!, loudness }).slice(3)
  expect(filters(null)).toEqual([])
  expect(filters({ gainDb: 0, limited: false })).toEqual([])
  expect(filters({ gainDb: -3.5, limited: false })).toEqual(['volume=-3.5dB'])
  expect(filters({ gainDb: 7, limited: true })).toEqual([
    'volume=7dB',
    'aresample=192000',
    'alimiter=limit=0.707946:level=0:latency=1',
    'aresample=48000',
  ])
})

test('what ebur128 says is read by the name of the filter', () => {
  const said = (name: string, lufs: string, peak: string) =>
    `[ebur128@${name} @ 0x55f1] [info] Summary:\n\n  Integrated loudness:\n    I:         ${lufs} LUFS\n    Threshold: -31.1 LUFS\n\n  Loudness range:\n    LRA:         0.0 LU\n\n  True peak:\n    Peak:      ${peak} dBFS\n`
  const log = `[info] Stream #0:0\n${said('m1', '-70.0', '-inf')}${said('m0', '-21.1', '-18.1')}`
  expect(parseEbur128(log, 'm0')).toEqual({ integratedLufs: -21.1, truePeakDb: -18.1 })
  expect(parseEbur128(log, 'm1')).toEqual({ integratedLufs: null, truePeakDb: null })
  expect(parseEbur128(log, 'm2')).toBeNull()
  // As ffmpeg 7 writes it where another thread says something between the two messages of a summary.
  const divided = log.replaceAll(
    /LU\n\n  True/g,
    (end) => `LUEncoder thread received EOF\n[ebur128@m0 @ 0x55f1] [info] ${end.slice(2)}`,
  )
  expect(divided).not.toBe(log)
  expect(parseEbur128(divided, 'm0')).toEqual({ integratedLufs: -21.1, truePeakDb: -18.1 })
})
