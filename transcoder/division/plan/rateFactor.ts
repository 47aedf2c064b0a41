// In charge of: the constant rate factor at which an encode reaches its bitrate, from samples encoded at other factors.
// Not in charge of: encoding samples (division/rates/), which places are sampled and their mean (rateSampling.ts).
import type { VideoCodec } from '#contract/codecs.ts'
import { meanBits, type MeanBits } from './rateSampling.ts'

/** Where the search begins: usual bitrates need factors below the encoders' own defaults of 23 and 28. */
export const FIRST_FACTORS: Readonly<Record<VideoCodec, number>> = { h264: 22, hevc: 24, mpeg2: 0 }

/** A lower factor spends bits that nobody sees; with a higher one, little more than the headers is left. */
const LOWEST = 8
const HIGHEST = 46

/** Change of the rate's logarithm if the factor rises by 1: usually −0.09 to −0.13, flatter where the peak rate limits. */
const USUAL_SLOPE = -0.115
const STEEPEST = -0.2
const FLATTEST = -0.04
/** Least difference of two factors: nearer samples say more about chance than about the slope. */
const LEAST_DISTANCE = 0.4

interface Sample {
  factor: number
  bits: number
}

/** The samples of one rendition. Places may be sampled again at another factor. */
export class RateSamples {
  readonly #samples = new Map<number, Sample[]>()
  readonly #places: number
  readonly #sourceBytes: readonly number[] | null

  /** `sourceBytes`: see meanBits. */
  constructor(places: number, sourceBytes: readonly number[] | null) {
    this.#places = places
    this.#sourceBytes = sourceBytes
  }

  add(place: number, factor: number, bits: number): void {
    this.#samples.set(place, [...(this.#samples.get(place) ?? []), { factor, bits }])
  }

  get size(): number {
    return this.#samples.size
  }

  /** The places whose nearest sample is farther from this factor, farthest first. */
  fartherThan(distance: number, factor: number): number[] {
    return [...this.#samples]
      .map(([place, samples]) => ({ place, away: Math.abs(nearest(samples, factor).factor - factor) }))
      .filter(({ away }) => away > distance)
      .toSorted((a, b) => b.away - a.away)
      .map(({ place }) => place)
  }

  /** The mean of a place at this factor. */
  mean(factor: number): MeanBits {
    const slope = this.#slope(factor)
    const moved = [...this.#samples].map(([index, samples]) => {
      const { factor: at, bits } = nearest(samples, factor)
      return { index, bits: bits * Math.exp(slope * (factor - at)) }
    })
    return meanBits(moved, this.#places, this.#sourceBytes)
  }

  /** The factor at which the mean of a place has these bits, to hundredths. */
  factorFor(bits: number, near: number): number {
    let factor = near
    // With another factor, other samples are the nearest.
    for (let step = 0; step < 4; step += 1) {
      const mean = this.mean(factor)
      if (!(mean.bits > 0)) return LOWEST
      factor = limited(factor + Math.log(bits / mean.bits) / this.#slope(factor))
    }
    return factor
  }

  /** The slope at this factor, from places that have two samples near it. */
  #slope(factor: number): number {
    const sums = { low: 0, high: 0, lowFactor: 0, highFactor: 0, count: 0 }
    for (const samples of this.#samples.values()) {
      const a = nearest(samples, factor)
      const others = samples.filter((each) => Math.abs(each.factor - a.factor) >= LEAST_DISTANCE)
      if (others.length === 0) continue
      const b = nearest(others, factor)
      const [low, high] = a.factor < b.factor ? [a, b] : [b, a]
      sums.low += low.bits
      sums.high += high.bits
      sums.lowFactor += low.factor
      sums.highFactor += high.factor
      sums.count += 1
    }
    if (sums.count === 0 || !(sums.low > 0 && sums.high > 0)) return USUAL_SLOPE
    const distance = (sums.highFactor - sums.lowFactor) / sums.count
    return Math.min(FLATTEST, Math.max(STEEPEST, Math.log(sums.high / sums.low) / distance))
  }
}

function nearest(samples: readonly Sample[], factor: number): Sample {
  return samples.reduce(
    (best, each) => (Math.abs(each.factor - factor) < Math.abs(best.factor - factor) ? each : best),
    samples[0]!,
  )
}

function limited(factor: number): number {
  return Math.round(100 * Math.min(HIGHEST, Math.max(LOWEST, factor))) / 100
}
