// The loudness of a divided job that parts measure: what they measure, and the gains that follow; no ffmpeg.
import { describe, expect, test } from 'vitest'
import { countLevels } from '../../../../../transcoder/plan/audio/loudnessLevels.ts'
import {
  gainsToTry,
  joinReadings,
  loudnessSeconds,
  loudnessShare,
  surveyedMixes,
  withExpectedLoudness,
  withGains,
  withTries,
} from '../../../../../transcoder/plan/division/loudnessSurvey.ts'
import { surveyParts } from '../../../../../transcoder/plan/division/surveyPlan.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { audioProfile, audioStream, jobSpec, mediaInfo, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'

const audio = [
  audioProfile({ codec: 'ac3' }),
  audioProfile({ index: 1, channels: 6 }),
  audioProfile({ index: 2, sourceStream: 2 }),
  audioProfile({ index: 3 }),
]
const spec = jobSpec({ audio, video: [videoProfile({ audioProfiles: [0, 1, 2, 3] })], loudnessLufs: -23 })
const media = mediaInfo({}, { audio: [audioStream(), audioStream({ index: 2, number: 2 })] })
const plan = planJob(spec, withExpectedLoudness(spec, media))
const gains = ({ outputs }: typeof plan) => outputs[0]!.audio.map(({ loudness }) => loudness)
const levels = (lufs: number, peak: number | null = -20) => countLevels([lufs, lufs, lufs], peak)

test('the plan expects what parts will find: nothing is said about the loudness', () => {
  expect(gains(plan)).toEqual(Array.from({ length: 4 }, () => ({ gainDb: 0, limited: false })))
  expect(plan.outputs[0]!.audio[0]!.dialnorm).toBe(23)
  expect(plan.warnings.filter(({ code }) => code.startsWith('loudness'))).toEqual([])
  expect(surveyedMixes(plan).map(({ stream, mix }) => [stream, Object.keys(mix.gains).length])).toEqual([
    [1, 2],
    [1, 6],
    [2, 2],
  ])
  expect(surveyedMixes(planJob({ ...spec, loudnessLufs: null }, media))).toEqual([])
})

test('shares lie on the grid of the blocks, and the last one ends with the audio', () => {
  const of = { ...plan, durationSeconds: 100.07 }
  expect([0, 1, 2].map((part) => loudnessShare(of, part, 3))).toEqual([
    { startSeconds: 0, endSeconds: 33.4 },
    { startSeconds: 33.4, endSeconds: 66.7 },
    { startSeconds: 66.7, endSeconds: null },
  ])
})

describe('gains', () => {
  const mixes = surveyedMixes(plan)

  test('of all parts together; each mix by itself', () => {
    const readings = joinReadings(mixes, [
      [levels(-30), levels(-40), levels(-23, -1)],
      [levels(-30, -12), levels(-20, -8), levels(-23, -4)],
    ])
    expect(readings.map((reading) => [reading?.integratedLufs, reading?.truePeakDb])).toEqual([
      [-30, -12],
      [-20, -8],
      [-23, -1],
    ])
    expect(gainsToTry(spec, readings)).toEqual([[], [], [0, 0.5, 1, 2, 4, 8]])
    expect(gainsToTry(spec, readings.slice(0, 2))).toBeNull()
    const made = withGains(spec, plan, readings)
    expect(gains(made)).toEqual([
      { gainDb: 7, limited: false },
      { gainDb: -3, limited: false },
      { gainDb: 0, limited: true },
      { gainDb: 7, limited: false },
    ])
  })

  test('those that were tried with the limiter, by their place among all', () => {
    const readings = joinReadings(mixes, [[levels(-30, -1), levels(-30, -1), levels(-40)]])
    const tries = [[7, 8], [7, 9], []]
    const tried = withTries(readings, tries, [
      [levels(-24), levels(-23), levels(-24.5), levels(-22.5)],
      [levels(-24), levels(-23), levels(-24.5), levels(-22.5)],
    ])
    const made = withGains(spec, plan, tried)
    expect(gains(made).slice(0, 3)).toEqual([
      { gainDb: 8, limited: true },
      { gainDb: 8.5, limited: true },
      { gainDb: 17, limited: false },
    ])
    expect(made.warnings.map(({ code }) => code)).toContain('loudness_limited')
  })

  test.each([
    ['silence', levels(-90, null), 'loudness_of_silence'],
    ['a part that measured nothing', null, 'loudness_not_measured'],
    ['a part of an earlier version', undefined, 'loudness_not_measured'],
  ])('%s: the audio stays as it is, with a warning', (_what, found, code) => {
    const readings = joinReadings(mixes, [
      [levels(-90, null), levels(-23), levels(-23)],
      [found, levels(-23), levels(-23)],
    ])
    const made = withGains(spec, plan, readings)
    expect(gains(made)[0]).toBeNull()
    expect(gains(made)[1]).toEqual({ gainDb: 0, limited: false })
    expect(made.warnings.map((warning) => warning.code)).toContain(code)
  })
})

test('a film is measured by parts, a short video by the attempt that plans; two rounds must fit among the parts', () => {
  const parts = (seconds: number, gigabytes: number, maxParts = 400) =>
    surveyParts(
      loudnessSeconds(
        {
          ...plan,
          durationSeconds: seconds,
          outputs: [{ ...plan.outputs[0]!, audio: plan.outputs[0]!.audio.slice(0, 1) }],
        },
        gigabytes * 1e9,
      ),
      { chunks: [0, 10, 20] },
      maxParts,
      2,
    )
  expect(parts(600, 1)).toBeNull()
  expect(parts(7200, 13)).toBe(16)
  expect(parts(600, 13)).toBe(15)
  expect(parts(7200, 13, 14)).toBe(5)
  expect(parts(7200, 13, 7)).toBeNull()
  expect(loudnessSeconds(planJob({ ...spec, loudnessLufs: null }, media), 13e9)).toBe(0)
})
