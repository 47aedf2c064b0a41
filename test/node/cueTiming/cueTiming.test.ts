// The short form of npm run long cuesweep: a cue at a few frames of two GOPs, in every output format.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampled } from '../../support/longForm.ts'
import { CueTimingTest, allCases, GOP } from './cueTiming.ts'

let reconciler: CueTimingTest
beforeAll(async () => {
  reconciler = await CueTimingTest.open()
})
afterAll(() => reconciler?.[Symbol.asyncDispose]())

// Alternately: the first frame, one inside a GOP, and one whose cue arrives inside a key frame.
const FRAMES_OF_TURNS = [0, 13, GOP + 8] as const
const cases = allCases([0]).map((one, turn) => ({ ...one, frame: FRAMES_OF_TURNS[turn % 3]! }))

test.each(sampled(cases, 6))(
  '$form, $mode, captions $captions: a cue at frame $frame is signalled at that frame',
  async (one) => {
    expect(await reconciler.run(one)).toMatchObject({ faults: [] })
  },
)
