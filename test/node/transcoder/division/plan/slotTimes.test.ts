// When parts of a job end that slots take as they become free.
import { expect, test } from 'vitest'
import { SlotTimes } from '../../../../../transcoder/division/plan/deadlineDivision.ts'

const endsOf = (slots: number, seconds: readonly number[]) => {
  const times = new SlotTimes(slots)
  return seconds.map((each) => times.run(each))
}

test('one slot takes them one after the other, many take them at once', () => {
  expect(endsOf(1, [3, 1, 2])).toEqual([3, 4, 6])
  expect(endsOf(5, [3, 1, 2])).toEqual([3, 1, 2])
})

test('the slot that is free first takes the next', () => {
  expect(endsOf(2, [5, 1, 1, 1, 4, 1])).toEqual([5, 1, 2, 3, 7, 6])
})
