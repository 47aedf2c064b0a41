// Finding the rate factor of a rendition from samples of a film that is a formula; no ffmpeg.
import { expect, test } from 'vitest'
import {
  findRateFactors,
  type EncodePlace,
  type RateTarget,
} from '../../../../../transcoder/division/rates/findRateFactors.ts'
import { RateSamples } from '../../../../../transcoder/division/plan/rateFactor.ts'
import { meanBits, ratePlaces } from '../../../../../transcoder/division/plan/rateSampling.ts'
import { Random } from '../../../../support/seededRandom.ts'

const GOP = { seconds: 2, shares: 50, runInSeconds: 1 }
const TARGETS: RateTarget[] = [
  { codec: 'h264', kbps: 5000 },
  { codec: 'h264', kbps: 400 },
]

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
  const free = difficulty * 1.1 * kbps * Math.exp(-0.11 * (factor - 20))
  return Math.min(free, 1.5 * kbps) * 1000 * GOP.seconds
}

const encoderOf =
  (difficulties: readonly number[]): EncodePlace =>
  async ({ index }, factors) =>
    factors.map((factor, target) => bitsOf(difficulties[index]!, factor, TARGETS[target]!))

function rateOf(difficulties: readonly number[], factor: number, target: RateTarget): number {
  const bits = difficulties.reduce((sum, each) => sum + bitsOf(each, factor, target), 0)
  return bits / difficulties.length / GOP.seconds / 1000
}

test.each([1, 2, 3, 4, 5])('a clip of two minutes is within 1 percent of its rate (film %d)', async (seed) => {
  const clip = film(60, seed)
  const found = await findRateFactors(TARGETS, { seconds: 120, gop: GOP, sourceBytes: null }, encoderOf(clip))
  for (const [index, target] of TARGETS.entries())
    expect(Math.abs(rateOf(clip, found!.factors[index]!, target) / target.kbps - 1)).toBeLessThan(0.01)
  expect(found!.error).toBe(0)
})

test.each([1, 2, 3])(
  'what the source says of a film makes up for places that are not sampled (film %d)',
  async (seed) => {
    const difficulties = film(3600, seed)
    const random = new Random(seed + 100)
    const sourceBytes = difficulties.map((each) => each * 1e6 * (0.95 + 0.1 * random.next()))
    const source = { seconds: 7200, gop: GOP, sourceBytes }
    const found = await findRateFactors(TARGETS, source, encoderOf(difficulties))
    for (const [index, target] of TARGETS.entries())
      expect(Math.abs(rateOf(difficulties, found!.factors[index]!, target) / target.kbps - 1)).toBeLessThan(
        0.01 + 3 * found!.error,
      )
    expect(found!.runs).toBeLessThan(220)
  },
)

test('without the source’s sizes, its error says how far away it may be', async () => {
  const difficulties = film(3600, 7)
  const source = { seconds: 7200, gop: GOP, sourceBytes: null }
  const found = await findRateFactors(TARGETS, source, encoderOf(difficulties))
  const off = Math.abs(rateOf(difficulties, found!.factors[0]!, TARGETS[0]!) / TARGETS[0]!.kbps - 1)
  expect(found!.error).toBeGreaterThan(0.01)
  expect(off).toBeLessThan(3 * found!.error)
})

test('a source that cannot be sampled has no factor; black has the lowest', async () => {
  const source = { seconds: 60, gop: GOP, sourceBytes: null }
  expect(await findRateFactors(TARGETS, source, async () => null)).toBeNull()
  expect(await findRateFactors(TARGETS, source, async () => [1000, 1000])).toMatchObject({ factors: [8, 8] })
})

test('places cover the video once, and their beginnings all of it', () => {
  const places = ratePlaces(61, { seconds: 1, shares: 25, runInSeconds: 1 })
  expect(places.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n))
  expect(places.slice(0, 4).map(({ index }) => index)).toEqual([0, 16, 8, 24])
  expect(places.find(({ index }) => index === 1)).toMatchObject({ sharesPerGop: 1, from: 1, counted: 2, to: 4, end: 5 })
  expect(places.find(({ index }) => index === 0)).toMatchObject({ from: 0, counted: 0, to: 2, end: 3 })
})

test('a place that was sampled again counts once, by the nearest factor', () => {
  const samples = new RateSamples(2, null)
  samples.add(0, 22, 1000)
  samples.add(1, 22, 3000)
  samples.add(1, 20, 4000)
  expect(samples.fartherThan(1, 20)).toEqual([0])
  expect(samples.mean(22).bits).toBe(2000)
  expect(samples.mean(20).bits).toBeGreaterThan(2500)
  expect(samples.size).toBe(2)
})

test('sizes that have nothing to do with the samples change little', () => {
  const samples = Array.from({ length: 40 }, (_, index) => ({ index, bits: 1000 + 100 * (index % 2) }))
  const sizes = Array.from({ length: 80 }, (_, index) => 500 + (index % 7))
  const { bits } = meanBits(samples, 80, sizes)
  expect(Math.abs(bits / meanBits(samples, 80, null).bits - 1)).toBeLessThan(0.01)
})
