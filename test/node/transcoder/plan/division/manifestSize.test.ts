// In charge of: a job is divided only if its manifest then fits into a message.
import { expect, test } from 'vitest'
import { dashManifest } from '../../../../../transcoder/manifests/dash/mpd.ts'
import { fitsInManifest } from '../../../../../transcoder/plan/division/manifestSize.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { examplePresentation, makeVideoTrack } from '../../../../support/manifests/examplePresentation.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'

const SEGMENT_SECONDS = 2
/** The longest message. */
const MAX_BODY = 8 * 1024 * 1024
/** As long as those of the service. */
const JOB = '0f8fad5b-d9cb-469f-a165-70867728950e'

function packagingOf(renditions: number, dash: boolean): PackagingPlan {
  const media = mediaInfo({ durationSeconds: 60 }, { durationSeconds: 60, audio: [] })
  const video = Array.from({ length: renditions }, (_, index) => videoProfile({ index, output: '' }))
  const packaging = packagingSpec({ hls: true, dash, segmentSeconds: SEGMENT_SECONDS })
  return planJob(jobSpec({ packaging, video, audio: [] }), media).packaging!
}

/** The longest time that fits, to an hour. */
function longestHours(packaging: PackagingPlan): number {
  let hours = 1
  while (fitsInManifest(packaging, (hours + 1) * 3600)) hours += 1
  return hours
}

test('what is said to fit does', () => {
  const packaging = packagingOf(3, true)
  const count = (longestHours(packaging) * 3600) / SEGMENT_SECONDS
  expect(count).toBeGreaterThan(10_000)
  // Durations that differ, so that each has its digits.
  const segments = Array.from({ length: count }, (_, at) => ({
    uri: `${JOB}-${1 + Math.floor(at / 100)}-1/${String(at + 1).padStart(5, '0')}.m4s`,
    start: at * 180_000,
    duration: 180_000,
    bytes: 1,
    sha256: '',
  }))
  const video = packaging.renditions.map(({ id, directory }) =>
    makeVideoTrack({ id, directory, timescale: 90_000, segments, keyFrames: [] }),
  )
  const text = dashManifest(examplePresentation({ video, audio: [], text: [], cues: [] }))
  expect(text.length).toBeLessThan(MAX_BODY)
  expect(text.length).toBeGreaterThan(MAX_BODY / 2)
})

test('a splice point begins a segment', () => {
  const packaging = packagingOf(3, true)
  const hours = longestHours(packaging)
  const [first, ...others] = packaging.renditions
  const spliceFrames = Array.from({ length: 3600 }, (_, index) => 1 + index * 7)
  const spliced = { ...packaging, renditions: [{ ...first!, video: { ...first!.video!, spliceFrames } }, ...others] }
  expect(hours - longestHours(spliced)).toBe(2)
})

test('only DASH has this limit', () => {
  expect(fitsInManifest(packagingOf(6, true), 24 * 3600)).toBe(false)
  expect(fitsInManifest(packagingOf(6, false), 24 * 3600)).toBe(true)
  expect(fitsInManifest(packagingOf(6, true), 2 * 3600)).toBe(true)
})
