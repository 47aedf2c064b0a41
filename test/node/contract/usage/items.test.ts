import { expect, test } from 'vitest'
import { variableProblems } from '#contract/serviceVariables.ts'
import { heightClass, renditionClass } from '#contract/usage/items.ts'
import { parsePriceList, unitPrice } from '#contract/usage/priceList.ts'

test.each([
  [1920, 1080, '1080p'],
  [1920, 1088, '1080p'],
  [1920, 800, '1080p'],
  [1080, 1920, '1080p'],
  [1440, 1080, '1080p'],
  [1922, 1090, '1440p'],
  [854, 480, '480p'],
  [720, 576, '576p'],
  [3840, 2160, '2160p'],
  [64, 64, '144p'],
  [16_384, 8640, '4320p'],
])('%i × %i is %s', (width, height, expected) => {
  expect(heightClass({ width, height })).toBe(expected)
})

test('audio is a class of its own, and so is everything that is copied', () => {
  const video = { width: 1280, height: 720 }
  expect(renditionClass({ codec: 'hevc', video, copied: false })).toBe('720p hevc')
  expect(renditionClass({ codec: 'opus', video: null, copied: false })).toBe('audio opus')
  expect(renditionClass({ codec: 'hevc', video, copied: true })).toBe('copy')
  expect(renditionClass({ codec: 'aac', video: null, copied: true })).toBe('copy')
})

test('the most specific price counts; lost attempts and dry runs cost nothing', () => {
  const prices = parsePriceList(
    '{"currency":"EUR","output_hour":{"1080p h264":0.5,"1080p":0.8,"default":0.3},"cpu_hour":0.04,"job":0.000001}',
  )
  if ('problem' in prices) throw new Error(prices.problem)
  const price = (usageClass: string) => unitPrice(prices, 'output_hours', usageClass)
  expect(['1080p h264', '1080p hevc', '720p h264', 'audio aac', 'copy'].map(price)).toEqual([
    500_000, 800_000, 300_000, 300_000, 300_000,
  ])
  expect(unitPrice(prices, 'jobs', 'failed')).toBe(1)
  expect(unitPrice(prices, 'gb_out', '')).toBe(0)
  expect(['', 'lost attempts', 'dry runs'].map((each) => unitPrice(prices, 'cpu_hours', each))).toEqual([40_000, 0, 0])
  expect(unitPrice(null, 'cpu_hours', '')).toBe(0)
})

test.each([
  ['EUR', 'USAGE_PRICES must be a JSON object such as'],
  ['[]', 'USAGE_PRICES must be a JSON object (docs'],
  ['{}', 'USAGE_PRICES: currency must be three capital letters (ISO 4217), like EUR'],
  ['{"currency":"EUR","cpu":1}', 'USAGE_PRICES: "cpu" is unknown; known are currency, output_hour, source_hour'],
  ['{"currency":"EUR","output_hour":{"HD":1}}', 'USAGE_PRICES: output_hour has no class "HD"; classes are like'],
  [
    '{"currency":"EUR","output_hour":{"720p":"1"}}',
    'USAGE_PRICES: output_hour.720p must be a number from 0 to 1000000',
  ],
  ['{"currency":"EUR","gb_in":0.0000001}', 'USAGE_PRICES: gb_in must be a number from 0 to 1000000 with at most 6'],
  ['{"currency":"EUR","gb_in":null}', 'USAGE_PRICES: gb_in must be a number'],
])('the price list %s is refused by name', (text, message) => {
  expect(variableProblems({ USAGE_PRICES: text })).toEqual([expect.stringContaining(message)])
})

test('no price list, and prices with decimals, are valid', () => {
  expect(variableProblems({ USAGE_PRICES: '' })).toEqual([])
  expect(variableProblems({ USAGE_PRICES: '{"currency":"JPY","still":0.1,"output_hour":{"audio aac":0.29}}' })).toEqual(
    [],
  )
})
