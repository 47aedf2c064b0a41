// How many fragments come before a chunk.
import { expect, test } from 'vitest'
import { fragmentsBefore } from '../../../../../transcoder/plan/division/fragmentsBefore.ts'
import { planOfPart } from '../../../../../transcoder/plan/division/partPlan.ts'
import type { PartPlan } from '#contract/task/plan/divisionPlan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'

/** Segments of 2 s with GOPs of 1 s, 25 frames. */
const plan = planJob(jobSpec({ video: [videoProfile()], packaging: packagingSpec({ segmentSeconds: 2 }) }), mediaInfo())
const before = (part: PartPlan, change: Partial<VideoPlan> = {}): number =>
  fragmentsBefore(planOfPart(plan, part), { ...plan.packaging!.renditions[0]!.video!, ...change })
const chunk = (number: number, from: number): PartPlan => ({ kind: 'chunk', chunk: number, from, to: null })

test.each<[string, PartPlan, Partial<VideoPlan>, number]>([
  ['the first chunk', chunk(0, 0), {}, 0],
  ['one for each GOP', chunk(2, 7), {}, 14],
  ['another for each splice point before the chunk', chunk(1, 2), { spliceFrames: [30, 99, 100, 101] }, 6],
  ['a splice point on the grid is no other GOP', chunk(1, 2), { spliceFrames: [25] }, 4],
  ['another for the end of each chunk of a constant bitrate', chunk(3, 6), { mode: 'cbr' }, 15],
  ['unless its GOPs are single frames', chunk(3, 6), { mode: 'cbr', gopFrames: 1 }, 300],
  ['a part without video', { kind: 'rest' }, {}, 0],
])('%s', (_, part, change, expected) => {
  expect(before(part, change)).toBe(expected)
})
