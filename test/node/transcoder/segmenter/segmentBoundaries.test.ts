// In charge of: where segments end, on the regular grid and at splice points.
import { expect, test } from 'vitest'
import { nextBoundary, segmentsBefore, type Cadence } from '../../../../transcoder/segmenter/cutters/cutter.ts'

/** End times of the first segments. */
function ends(segmentFrames: number, spliceFrames: number[], until: number): number[] {
  const cadence: Cadence = { segmentFrames, spliceFrames, frameRate: { num: 25, den: 1 } }
  const found: number[] = []
  while ((found.at(-1) ?? 0) < until) found.push(nextBoundary(cadence, found.at(-1) ?? 0))
  return found
}

test.each<[string, number, number[], number[]]>([
  ['a grid', 50, [], [50, 100, 150]],
  ['a splice point on the grid', 50, [100], [50, 100, 150]],
  ['one between two of its boundaries', 50, [60], [50, 60, 100, 150]],
  ['one picture behind: the grid gives way', 50, [51], [51, 100, 150]],
  ['one picture before', 50, [99], [50, 99, 150]],
  ['just near enough', 50, [56], [56, 100, 150]],
  ['just not near', 50, [57], [50, 57, 100, 150]],
  ['on both sides', 50, [98, 103], [50, 98, 103, 150]],
  ['several within one segment', 50, [10, 20, 52], [10, 20, 52, 100, 150]],
  ['near the beginning', 50, [2], [2, 50, 100, 150]],
  ['segments of one GOP of one picture', 1, [2], [1, 2, 3]],
])('%s', (_name, segmentFrames, spliceFrames, expected) => {
  expect(ends(segmentFrames, spliceFrames, expected.at(-1)!)).toEqual(expected)
})

test('renditions of twice the frame rate are cut at the same moments', () => {
  for (let splice = 1; splice < 200; splice++)
    expect(ends(100, [2 * splice], 400)).toEqual(ends(50, [splice], 200).map((frame) => 2 * frame))
})

test('a chunk begins after the segments of the grid and of the splice points before it', () => {
  const cadence: Cadence = { segmentFrames: 50, spliceFrames: [60, 149], frameRate: { num: 25, den: 1 } }
  expect([0, 50, 100, 200].map((frame) => segmentsBefore(cadence, frame))).toEqual([0, 1, 3, 5])
  // The splice one frame before it takes its place.
  expect(() => segmentsBefore(cadence, 150)).toThrow('No segment begins at frame 150')
})
