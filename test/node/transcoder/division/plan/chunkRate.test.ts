// The rate of a chunk's encodes; no ffmpeg.
import { expect, test } from 'vitest'
import type { JobSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import { ffmpegArgsOf } from '../../../../support/transcoder/ffmpegArgsOf.ts'
import { planOfPart, type PartPlan } from '../../../../../transcoder/division/plan/partPlan.ts'
import { needsRateFactor } from '../../../../../transcoder/division/plan/samplePlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { plannedPipes } from '../../../../../transcoder/plan/model/plannedPipes.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'

const CHUNK: PartPlan = { kind: 'chunk', chunk: 1, from: 10, to: 20 }

function ladder(videoCodec: JobSpec['videoCodec'], mode: VideoProfile['mode']): Plan {
  const video = [500, 300].map((bitrateKbps, index) => videoProfile({ index, output: '', bitrateKbps, mode }))
  return planJob(jobSpec({ packaging: packagingSpec({ dash: true }), videoCodec, video, audio: [] }), mediaInfo())
}

/** The flags of rate control of each rendition. */
function rateArgs(plan: Plan): string[] {
  const outputs = plannedPipes(plan).map((_pipe, index) => `pipe:${3 + index}`)
  const args = ffmpegArgsOf(plan, { input: 'http://in', inputFlags: [], outputs, threads: 0 })
  return args.flatMap((flag, at) => (/^-(crf|b:v|maxrate)/.test(flag) ? [`${flag} ${args[at + 1]}`] : []))
}

const divided = (plan: Plan, part?: PartPlan): Plan => {
  const whole = { ...plan, division: { chunks: [0, 10, 20], rateFactors: [21.4, 24.75] } }
  return part === undefined ? whole : planOfPart(whole, part)
}

test.each(['h264', 'hevc'] as const)(
  'a chunk of %s has the rate factor of each rendition, below the same peak',
  (codec) => {
    const plan = ladder(codec, 'vbr')
    const peaks = ['-maxrate 750k', '-maxrate 450k']
    expect(rateArgs(divided(plan, CHUNK))).toEqual(['-crf 21.4', peaks[0], '-crf 24.75', peaks[1]])
    expect(rateArgs(divided(plan))).toEqual(['-b:v 500k', peaks[0], '-b:v 300k', peaks[1]])
    expect(rateArgs(divided(plan, { kind: 'rest' }))).toEqual([])
  },
)

test('a rendition without a factor keeps its average', () => {
  const plan = ladder('h264', 'vbr')
  const ofChunk = (division: Plan['division']): string[] => rateArgs(planOfPart({ ...plan, division }, CHUNK))
  expect(ofChunk({ chunks: [0, 10], rateFactors: [null, 20] })).toContain('-b:v 500k')
  expect(ofChunk({ chunks: [0, 10] })).toContain('-b:v 300k')
  expect(ofChunk(null)).toContain('-b:v 500k')
})

test('only vbr of h264 and hevc needs one', () => {
  const needs = (codec: JobSpec['videoCodec'], mode: VideoProfile['mode']): boolean =>
    needsRateFactor(ladder(codec, mode).packaging!.renditions[0]!.video)
  expect([needs('h264', 'vbr'), needs('hevc', 'vbr')]).toEqual([true, true])
  expect([needs('h264', 'qvbr'), needs('h264', 'cbr'), needs('mpeg2', 'vbr')]).toEqual([false, false, false])
  expect(needsRateFactor(null)).toBe(false)
})

test('a factor changes nothing of qvbr', () => {
  const plan = ladder('h264', 'qvbr')
  expect(rateArgs(divided(plan, CHUNK))).toEqual(rateArgs(plan))
})
