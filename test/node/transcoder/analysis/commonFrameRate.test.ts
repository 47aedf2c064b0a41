import { expect, test } from 'vitest'
import { ratesOf } from '../../../../transcoder/analysis/commonFrameRate.ts'
import { ratio } from '../../../../transcoder/formats/rational.ts'

/** Times that a container rounds to milliseconds. */
const steady = (count: number, rate: number, from = 0): number[] =>
  Array.from({ length: count }, (_, index) => Math.round((from + index / rate) * 1000) / 1000)
const variable = (rate: number) => ({ frameRate: ratio(Math.round(rate * 1000), 1000), variableFrameRate: true })
const grid = { frameRate: ratio(1000, 1), variableFrameRate: false, rateEvidence: 'grid' as const }
const header = (rate: number) => ({
  frameRate: ratio(rate, 1),
  variableFrameRate: false,
  rateEvidence: 'header' as const,
})
const constant = (num: number, den = 1) => ({
  frameRate: { num, den },
  variableFrameRate: false,
  commonFrameRate: null,
})

test.each([
  ['30 fps in milliseconds', steady(30, 30), constant(30)],
  ['29.97 fps in milliseconds', steady(300, 30000 / 1001), constant(30000, 1001)],
  ['15 fps', steady(40, 15).toReversed(), constant(15)],
  ['1000 fps', steady(500, 1000), constant(1000)],
  ['one frame in two seconds', [0, 2, 4, 6], constant(1, 2)],
])('without a stated rate: %s', (_name, times, rates) => {
  expect(ratesOf(times, grid)).toEqual(rates)
})

test.each([
  // 39 of 40 intervals of a phone's clip are equal.
  ['a pause', [...steady(40, 30), 40 / 30 + 2], 12, 30],
  // 3:2 pulldown by flags: both intervals are equally common, and 24 frames per second show every frame.
  ['pulldown', steady(24, 11.988).flatMap((time) => [time, time + 0.05005]), 23.976, null],
  ['a few pictures', [0, 1, 2], 0.5, 1],
  // A browser whose timer alternates around 30 fps, after a slower part.
  ['jitter', [...steady(20, 15), ...steady(20, 15, 2).flatMap((time) => [time, time + 0.021])], 17.3, 29.9],
  ['bursts', [0, 1, 2, 3].flatMap((from) => steady(20, 60, from)), 20, 60],
])('a variable rate: %s', (_name, times, average, common) => {
  const found = ratesOf(times, variable(average))
  expect(found).toMatchObject({ variableFrameRate: true })
  const rate = found.commonFrameRate
  expect(rate == null ? null : rate.num / rate.den).toEqual(common === null ? null : expect.closeTo(common, 0))
})

test('a header that states too low a rate is contradicted, one that states the right or a higher one is not', () => {
  expect(ratesOf(steady(90, 60), header(30))).toMatchObject({ variableFrameRate: true, commonFrameRate: ratio(60, 1) })
  expect(ratesOf(steady(90, 30), header(30))).toEqual({})
  expect(ratesOf(steady(90, 15), header(30))).toEqual({})
})

test('a count of all frames that agrees with the packets makes the rate constant', () => {
  expect(ratesOf(steady(90, 25), variable(25))).toEqual(constant(25))
})

test.each([[[]], [[0]], [[3, 3]]])('nothing follows from the times %j', (times) => {
  expect(ratesOf(times, grid)).toEqual({})
})
