// The plan of a sample, and what the index of a source says about its places; no ffmpeg.
import { expect, test } from 'vitest'
import { ffmpegArgsOf } from '../../../../support/transcoder/ffmpegArgsOf.ts'
import { rateFactorsOf, sampledRenditions, samplePlan } from '../../../../../transcoder/division/plan/samplePlan.ts'
import { ratePlaces, type RatePlace } from '../../../../../transcoder/division/plan/rateSampling.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'

const ladder = (...modes: ('vbr' | 'qvbr')[]) => {
  const video = modes.map((mode, index) => videoProfile({ index, output: '', bitrateKbps: 500 - 100 * index, mode }))
  const packaging = packagingSpec({ dash: true, segmentSeconds: 6 })
  return planJob(jobSpec({ packaging, gopSeconds: 2, video }), mediaInfo({}, { durationSeconds: 60 }))
}

const argsOf = (modes: ('vbr' | 'qvbr')[], place: RatePlace, factors: number[]): string[] => {
  const plan = ladder(...modes)
  const sample = samplePlan(plan, sampledRenditions(plan)!, place, factors)
  const outputs = factors.map((_factor, index) => `pipe:${3 + index}`)
  return ffmpegArgsOf(sample, { input: 'http://in', inputFlags: [], outputs, seekable: true, threads: 0 })
}

test('a sample encodes the renditions that need a factor, and nothing else', () => {
  expect(sampledRenditions(ladder('vbr', 'qvbr', 'vbr'))).toMatchObject({ positions: [0, 2] })
  const place = { index: 5, sharesPerGop: 1, from: 9, counted: 10, to: 11, end: 11 }
  const args = argsOf(['vbr', 'qvbr', 'vbr'], place, [21, 23.5])
  expect(args.filter((_each, at) => args[at - 1] === '-crf')).toEqual(['21', '23.5'])
  expect(args.some((each) => each.includes('aac'))).toBe(false)
  // 18 s less the run-in; two GOPs of 50 frames.
  expect(args[args.indexOf('-ss') + 1]).toBe('16.000000')
  expect(args.join(' ')).toContain('trim=end_frame=100')
  expect(args).not.toContain('-force_key_frames')
})

test('a sample that begins in the middle of a GOP has the key frames of the whole video', () => {
  const [place] = ratePlaces(60, { seconds: 2, shares: 50, runInSeconds: 1 }).filter(({ index }) => index === 5)
  expect(place).toEqual({ index: 5, sharesPerGop: 2, from: 9, counted: 10, to: 12, end: 13 })
  const args = argsOf(['vbr'], place!, [21])
  // 9 s less the run-in; half a GOP, one GOP, half a GOP.
  expect(args[args.indexOf('-ss') + 1]).toBe('7.000000')
  expect(args.join(' ')).toContain('trim=end_frame=100')
  expect(args[args.indexOf('-force_key_frames') + 1]).toBe('expr:eq(mod(n+25,50),0)')
})

test('a sample is encoded from the run-in of its encoder to a second behind it, in shares of whole frames or whole GOPs', () => {
  const marginsOf = (seconds: number, shares: number, runInSeconds: number) => {
    const { from, counted, to, end, sharesPerGop } = ratePlaces(100, { seconds, shares, runInSeconds })[1]!
    return [counted - from, end - to].map((margin) => (margin * seconds) / sharesPerGop)
  }
  expect(marginsOf(10, 240, 1)).toEqual([1, 1])
  expect(marginsOf(10, 240, 2)).toEqual([2, 1])
  expect(marginsOf(5, 125, 1)).toEqual([1, 1])
  expect(marginsOf(3, 32, 2)).toEqual([3, 1.5])
  expect(marginsOf(2, 25, 1)).toEqual([2, 2])
  expect(marginsOf(0.5, 12, 1)).toEqual([1, 1])
})

test('the factors are those of all renditions, in the order of the plan', () => {
  const plan = ladder('vbr', 'qvbr', 'vbr')
  const factors = rateFactorsOf(plan, sampledRenditions(plan)!, [21, 23.5])
  expect(factors.slice(0, 3)).toEqual([21, null, 23.5])
  expect(factors).toHaveLength(plan.packaging!.renditions.length)
  expect(sampledRenditions(ladder('qvbr'))).toBeNull()
})
