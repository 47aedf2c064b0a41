// Extension `optional` of an audio profile: a source without that stream does not fail the job.
import { expect, test } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import {
  jobSpec,
  packagingSpec,
  videoProfile,
  audioStream,
  mediaInfo,
  audioProfile,
} from '../../../support/transcoder/jobSpecs.ts'

const optional = (change: Partial<JobSpec> = {}) => jobSpec({ audio: [audioProfile({ optional: true })], ...change })
const silent = mediaInfo({}, { audio: [] })
const named = (spec: JobSpec, media = silent) =>
  planJob(spec, media).warnings.map(({ code, field }) => `${code} ${field}`)

test('is as if it were not there when the source has the stream', () => {
  expect(planJob(optional(), mediaInfo())).toEqual(planJob(jobSpec(), mediaInfo()))
})

test('a silent source gives outputs without audio and one warning', () => {
  const spec = optional({ video: [videoProfile(), videoProfile({ index: 1 })] })
  const plan = planJob(spec, silent)
  expect(plan.outputs.map(({ audio }) => audio)).toEqual([[], []])
  expect(plan.sourceAudio).toEqual([])
  expect(plan.warnings).toEqual([
    {
      code: 'audio_left_out',
      field: 'audioProfiles[0].source_stream',
      message: 'Audio profile 0 is left out: source_stream 1 does not exist: the source has no audio streams.',
    },
  ])
})

test('the other tracks are made, at their own positions', () => {
  const audio = [audioProfile({ sourceStream: 2, optional: true }), audioProfile({ index: 1 })]
  const spec = jobSpec({ audio, video: [videoProfile({ audioProfiles: [0, 1] })] })
  const plan = planJob(spec, mediaInfo())
  expect(plan.outputs[0]?.audio).toMatchObject([{ profile: 1, sourceStream: 1 }])
  expect(plan.warnings[0]?.message).toContain('source_stream 2 does not exist: the source has 1 audio stream')
})

test('without `optional` the job fails, and the message suggests it', () => {
  expect(() => planJob(jobSpec(), silent)).toThrow(/the source has no audio streams; set optional on the audio profile/)
})

test('a profile that nothing carries is not spoken of', () => {
  expect(named(optional({ video: [videoProfile({ audioProfiles: [] })] }))).toEqual([])
})

test('audio files, loudness and volume do not require the missing track', () => {
  const plan = planJob(optional({ audioDirectory: 'a', loudnessLufs: -23 }), silent)
  expect(plan.audioFiles).toEqual([])
  expect(plan.outputs).toHaveLength(1)
  expect(plan.warnings.map(({ code }) => code)).toEqual(['audio_left_out', 'no_effect'])
})

test.each([
  ['HLS with its audio inside', { hls: true, preferTransportStream: true }],
  ['HLS with separate audio', { hls: true, separateAudio: true }],
  ['DASH', { dash: true }],
  ['Smooth Streaming', { smooth: true }],
])('%s has video renditions alone', (_what, packaging) => {
  const plan = planJob(optional({ packaging: packagingSpec(packaging) }), silent)
  expect(plan.packaging?.renditions).toMatchObject([{ kind: 'video', audio: [], audioRenditions: [] }])
  expect(plan.warnings.map(({ code }) => code)).toEqual(['audio_left_out'])
})

test('what a source of audio alone lacks is left out, and what is left is made', () => {
  const audio = [audioProfile({ optional: true }), audioProfile({ index: 1, sourceStream: 2, optional: true })]
  const plan = planJob(jobSpec({ audio, audioDirectory: 'a' }), {
    ...mediaInfo({}, { audio: [audioStream()] }),
    video: null,
  })
  expect(plan.audioFiles).toMatchObject([{ profile: 0 }])
})
