// Finding rate factors in parts, from samples of a film that is a formula; no ffmpeg.
import { expect, test } from 'vitest'
import {
  findRateFactors,
  type EncodePlace,
  type RateTarget,
} from '../../../../../transcoder/division/rates/findRateFactors.ts'
import {
  factorsOfSamples,
  firstFactors,
  sampleShare,
  type PlaceSample,
} from '../../../../../transcoder/division/rates/surveyRates.ts'
import { surveyParts } from '../../../../../transcoder/division/plan/surveyPlan.ts'
import { Random } from '../../../../support/seededRandom.ts'

const GOP = { seconds: 2, shares: 50, runInSeconds: 1 }
const TARGETS: RateTarget[] = [
  { codec: 'h264', kbps: 5000 },
  { codec: 'h264', kbps: 400 },
]
const PARTS = 8

/** Difficulty of each place: scenes of some seconds, most of them easy. */
function film(places: number, seed: number): number[] {
  const random = new Random(seed)
  let scene = 1
  return Array.from({ length: places }, () => {
    if (random.next() < 0.3) scene = 0.3 + 2 * random.next() ** 2
    return scene * (0.9 + 0.2 * random.next())
  })
}

/** The rate falls with the factor; difficult places stay below the peak. */
function bitsOf(difficulty: number, factor: number, { kbps }: RateTarget): number {
  return Math.min(difficulty * 1.1 * kbps * Math.exp(-0.11 * (factor - 20)), 1.5 * kbps) * 1000 * GOP.seconds
}

test.each([1, 2, 3, 4])('parts find together the factors of a film (film %d)', async (seed) => {
  const difficulties = film(1800, seed)
  const source = { seconds: 3600, gop: GOP, sourceBytes: difficulties.map((each) => each * 1e6) }
  let runs = 0
  const encode: EncodePlace = async ({ index }, factors) => {
    runs += 1
    return factors.map((factor, target) => bitsOf(difficulties[index]!, factor, TARGETS[target]!))
  }
  const factors = (await firstFactors(TARGETS, source, encode))!
  const samples: PlaceSample[] = []
  for (let part = 0; part < PARTS; part++) {
    const shares: number[] = []
    samples.push(
      ...(await sampleShare(TARGETS, source, encode, { part, parts: PARTS, factors }, (s) => shares.push(s))),
    )
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
    expect(shares.at(-1)).toBeLessThan(1)
  }
  // Each place is sampled by one part.
  const places = new Set(samples.map(({ place }) => place))
  expect(places.size).toBe(113)
  expect(runs).toBeLessThan(160)
  const found = factorsOfSamples(TARGETS, source, samples, factors)!
  const alone = (await findRateFactors(TARGETS, source, encode))!
  // A hundredth of the rate is about a tenth of a factor.
  for (const target of TARGETS.keys())
    expect(Math.abs(found.factors[target]! - alone.factors[target]!)).toBeLessThan(0.15 + 10 * alone.error)
  for (const [target, { kbps }] of TARGETS.entries()) {
    const bits = difficulties.reduce((sum, each) => sum + bitsOf(each, found.factors[target]!, TARGETS[target]!), 0)
    const rate = bits / difficulties.length / GOP.seconds / 1000
    expect(Math.abs(rate / kbps - 1)).toBeLessThan(0.01 + 3 * found.error)
  }
})

test('without any sample there are no factors', async () => {
  const source = { seconds: 60, gop: GOP, sourceBytes: null }
  expect(await firstFactors(TARGETS, source, async () => null)).toBeNull()
  expect(factorsOfSamples(TARGETS, source, [], [22, 22])).toBeNull()
})

test('parts take the samples where one transcoder would take longer than a minute', () => {
  expect(surveyParts(60)).toBeNull()
  expect(surveyParts(100)).toBe(5)
  expect(surveyParts(5000)).toBe(16)
})
