// The video of single files as segments, of which chunks are made.
import { expect, test } from 'vitest'
import { encodedSegments } from '../../../../../transcoder/division/plan/encodedSegments.ts'
import { planDivision } from '../../../../../transcoder/division/plan/planDivision.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'

const spec = jobSpec({ maxChunkSeconds: 10, video: [0, 1].map((index) => videoProfile({ index })) })
const media = mediaInfo({ durationSeconds: 60 }, { durationSeconds: 60 })

/** mp4 files of 25 frames per second, whose GOPs have these numbers of frames. */
function filesWith(...gops: number[]): Plan {
  const plan = planJob(spec, media)
  const outputs = plan.outputs.map((output, position) => ({
    ...output,
    video: { ...output.video, gopFrames: gops[position]! },
  }))
  return { ...plan, outputs }
}

test.each([
  [[25, 25], [100, 100], 4],
  [[50, 75], [150, 150], 6],
  // Longer than a segment of GOPs that begin together more often.
  [[20, 375], [300 * 5, 300 * 5], 60],
  [[125, 1], [125, 125], 5],
])('files with GOPs of %j frames', (gops, frames, seconds) => {
  const { packaging, outputs } = encodedSegments(filesWith(...gops))
  if (seconds > 30) return expect(packaging).toBeNull()
  expect(packaging!.renditions.map(({ segmentFrames }) => segmentFrames)).toEqual(frames)
  expect(packaging!.segmentDuration.num / packaging!.segmentDuration.den).toBe(seconds)
  expect(outputs).toEqual([])
})

test('different frame rates', () => {
  const plan = filesWith(25, 30)
  const [first, second] = plan.outputs
  const rate = { num: 30000, den: 1001 }
  // 1 s and 1.001 s.
  const odd = { ...plan, outputs: [first!, { ...second!, video: { ...second!.video, frameRate: rate } }] }
  expect(encodedSegments(odd).packaging).toBeNull()
  expect(planDivision(spec, odd, media, { seekable: true, maxParts: 400 })).toEqual({
    left_out: expect.stringContaining('too seldom') as string,
  })
  // 2 s and 1 s.
  const half = { num: 25, den: 2 }
  const even = {
    ...plan,
    outputs: [first!, { ...second!, video: { ...second!.video, frameRate: half, gopFrames: 25 } }],
  }
  expect(encodedSegments(even).packaging!.renditions.map(({ segmentFrames }) => segmentFrames)).toEqual([100, 50])
  expect(planDivision(spec, even, media, { seekable: true, maxParts: 400 })).toEqual({
    division: { chunks: [0, 2, 4, 6, 8, 10, 12, 14] },
  })
})

test.each([
  { hls: true, preferTransportStream: true },
  { dash: true },
  { dash: true, smooth: true },
  { hls: true, tar: true },
])('segmented outputs: %j', (change) => {
  const plan = planJob({ ...spec, packaging: packagingSpec(change) }, media)
  const { packaging } = encodedSegments(plan)
  expect(packaging).toMatchObject({ isIntermediate: true, tar: null, segmentDuration: plan.packaging!.segmentDuration })
  expect(packaging!.renditions.map(({ kind, forms }) => ({ kind, forms }))).toEqual([
    { kind: 'video', forms: ['cmaf'] },
    { kind: 'video', forms: ['cmaf'] },
  ])
  expect(encodedSegments(encodedSegments(plan))).toEqual(encodedSegments(plan))
})
