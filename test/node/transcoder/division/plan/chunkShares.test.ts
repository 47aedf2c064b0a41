// How long the chunks of a job are: equal, or shorter towards its end.
import { describe, expect, test } from 'vitest'
import { equalShares, taperedShares } from '../../../../../transcoder/division/plan/planDivision.ts'
import { SlotTimes } from '../../../../../transcoder/division/plan/deadlineDivision.ts'

const MANY = 399
const sum = (shares: readonly number[]) => shares.reduce((all, share) => all + share, 0)
const wall = (shares: readonly number[], slots: number) => {
  const times = new SlotTimes(slots)
  return Math.max(...shares.map((share) => times.run(share)))
}

test('equal chunks: as few as are short enough, and no more than there may be', () => {
  expect(equalShares(100, 30, MANY)).toEqual([25, 25, 25, 25])
  expect(equalShares(100, 30, 2)).toEqual([50, 50])
})

test('one half of a chunk for each slot at the end, then one quarter', () => {
  expect(taperedShares(35, { most: 8, least: 1, slots: 2 }, MANY)).toEqual([23 / 3, 23 / 3, 23 / 3, 4, 4, 2, 2])
  expect(taperedShares(31, { most: 8, least: 3, slots: 2 }, MANY)).toEqual([23 / 3, 23 / 3, 23 / 3, 4, 4])
})

describe('chunks are equal', () => {
  test.each([
    ['for one slot', { most: 8, least: 1, slots: 1 }, MANY],
    ['where halves would be too short', { most: 8, least: 5, slots: 2 }, MANY],
    ['where not every slot would have a chunk of full length before', { most: 8, least: 1, slots: 6 }, MANY],
    ['where there would be more than the service accepts', { most: 8, least: 1, slots: 4 }, 14],
  ])('%s', (_, options, maxChunks) => {
    expect(taperedShares(80, options, maxChunks)).toEqual(equalShares(80, 8, maxChunks))
  })
})

test('for every length and number of slots: all of the video, none too long, and at most a quarter of a chunk later', () => {
  for (let length = 5; length < 1500; length += 37)
    for (const slots of [1, 2, 3, 4, 7, 16, 32, 100]) {
      const shares = taperedShares(length, { most: 20, least: 2.5, slots }, MANY)
      expect(sum(shares)).toBeCloseTo(length, 6)
      expect(Math.max(...shares)).toBeLessThanOrEqual(20)
      const equal = wall(equalShares(length, 20, MANY), slots)
      expect(wall(shares, slots), `${length} on ${slots}`).toBeLessThanOrEqual(equal + 5)
    }
})
