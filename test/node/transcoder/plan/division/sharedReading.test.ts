// Behind how many chunks the rest of a job begins that uses what they leave of the source.
import { describe, expect, test } from 'vitest'
import { chunksBeforeRest } from '../../../../../transcoder/plan/division/sharedReading.ts'

const equal = (count: number, seconds: number) => Array.from({ length: count }, () => ({ seconds, share: 1 / count }))

test('one slot makes all chunks before', () => {
  expect(chunksBeforeRest(equal(7, 60), 100, 1)).toBe(7)
})

test('as many slots as there are parts: none waits for the others', () => {
  expect(chunksBeforeRest(equal(7, 60), 100, 8)).toBe(7)
})

describe('with two slots, 20 chunks of 60 s, and so many seconds of audio', () => {
  // Times are predicted with a margin of a fifth.
  test.each([
    [20, 'both slots end at 600 s, and the audio takes 20 s more', 20],
    [400, 'from 420 s on, the other slot has five chunks until 780 s, and the last two of audio take 40 s', 15],
    [1000, 'from 180 s on, the other slot is faster', 7],
  ])('%d: %s', (audio, _, expected) => {
    expect(chunksBeforeRest(equal(20, 60), audio / 1.2, 2)).toBe(expected)
  })
})

test('where audio is the longest of all, it begins on the first slot that is free once the last chunk is stored', () => {
  expect(chunksBeforeRest(equal(20, 60), 3000, 4)).toBe(7)
})
