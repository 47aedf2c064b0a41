// The plan of a sample, and what the index of a source says about its places; no ffmpeg.
import { expect, test } from 'vitest'
import { ffmpegArgs } from '../../../../../transcoder/plan/argv/ffmpegArgs.ts'
import { rateFactorsOf, sampledRenditions, samplePlan } from '../../../../../transcoder/plan/division/samplePlan.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'

const ladder = (...modes: ('vbr' | 'qvbr')[]) => {
  const video = modes.map((mode, index) => videoProfile({ index, output: '', bitrateKbps: 500 - 100 * index, mode }))
  const packaging = packagingSpec({ dash: true, segmentSeconds: 6 })
  return planJob(jobSpec({ packaging, gopSeconds: 2, video }), mediaInfo({}, { durationSeconds: 60 }))
}

test('a sample encodes whole GOPs of the renditions that need a factor, and nothing else', () => {
  const plan = ladder('vbr', 'qvbr', 'vbr')
  const sampled = sampledRenditions(plan)!
  expect(sampled.positions).toEqual([0, 2])
  const sample = samplePlan(plan, sampled, { index: 5, from: 9, counted: 10, to: 11 }, [21, 23.5])
  const args = ffmpegArgs(sample, {
    input: 'http://in',
    inputFlags: [],
    outputs: ['pipe:3', 'pipe:4'],
    seekable: true,
    threads: 0,
  })
  expect(args.filter((_each, at) => args[at - 1] === '-crf')).toEqual(['21', '23.5'])
  expect(args.some((each) => each.includes('aac'))).toBe(false)
  // 18 s less the run-in; two GOPs of 50 frames.
  expect(args[args.indexOf('-ss') + 1]).toBe('16.000000')
  expect(args.join(' ')).toContain('trim=end_frame=100')
})

test('the factors are those of all renditions, in the order of the plan', () => {
  const plan = ladder('vbr', 'qvbr', 'vbr')
  const factors = rateFactorsOf(plan, sampledRenditions(plan)!, [21, 23.5])
  expect(factors.slice(0, 3)).toEqual([21, null, 23.5])
  expect(factors).toHaveLength(plan.packaging!.renditions.length)
  expect(sampledRenditions(ladder('qvbr'))).toBeNull()
})
