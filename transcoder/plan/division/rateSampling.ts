// In charge of: where a source is sampled to find the rate of its chunks, and what the samples say about all of it.
// Not in charge of: encoding samples (analysis/rate/), the factor that follows (rateFactor.ts).

/** A place of the video, in GOPs counted from 0. The GOPs before `counted` only bring the encoder into its stride. */
export interface RatePlace {
  /** Position among all places of the video. */
  index: number
  from: number
  counted: number
  to: number
}

/** Seconds that count at one place, at least one GOP. */
const PLACE_SECONDS = 2
/** The first GOP of an encode is 5 % smaller than it would be later (measured: x264, x265). */
export const RUN_IN_GOPS = 1
/**
 * A sixteenth of the video, but two to four minutes: the sampling is the work of one task, for which the chunks wait. A
 * video of two minutes is sampled completely.
 */
const SHARE = 1 / 16
const MAX_PLACES = { least: 60, most: 120 }

export function placeGops(gopSeconds: number): number {
  return Math.max(1, Math.round(PLACE_SECONDS / gopSeconds))
}

/** Of all places of a video, how many are sampled at the most. */
export function mostPlaces(places: number): number {
  return Math.round(Math.min(MAX_PLACES.most, Math.max(MAX_PLACES.least, places * SHARE)))
}

/** All places of a video, in an order whose every beginning is spread over all of it. */
export function ratePlaces(seconds: number, gopSeconds: number): RatePlace[] {
  const gops = placeGops(gopSeconds)
  const count = Math.floor(seconds / gopSeconds / gops + ROUNDING)
  return spread(count).map((index) => {
    const counted = index * gops
    return { index, from: Math.max(0, counted - RUN_IN_GOPS), counted, to: counted + gops }
  })
}

const ROUNDING = 1e-6

/** Van der Corput's sequence in base 2 over the numbers below `count`: each once. */
function spread(count: number): number[] {
  const bits = Math.ceil(Math.log2(Math.max(1, count)))
  const order: number[] = []
  for (let n = 0; n < 2 ** bits; n += 1) {
    let reversed = 0
    for (let bit = 0; bit < bits; bit += 1) reversed |= ((n >> bit) & 1) << (bits - 1 - bit)
    if (reversed < count) order.push(reversed)
  }
  return order
}

/** What one place was found to need. */
export interface PlaceBits {
  index: number
  bits: number
}

export interface MeanBits {
  bits: number
  /** Standard error of `bits`, as a share of it. */
  error: number
}

/** With fewer samples, the line through them follows chance. */
const LEAST_FOR_LINE = 10

/**
 * The mean over all places. `sourceBytes`: the size of each place in the source, where its index says it: what was
 * difficult for one encoder is difficult for the next, and the samples say how much of it holds here.
 */
export function meanBits(
  samples: readonly PlaceBits[],
  places: number,
  sourceBytes: readonly number[] | null,
): MeanBits {
  const ys = samples.map(({ bits }) => bits)
  const y = mean(ys)
  const n = ys.length
  if (n < 2 || y <= 0) return { bits: y, error: Infinity }
  const xs = sourceBytes === null ? [] : samples.map(({ index }) => sourceBytes[index] ?? 0)
  const usesLine = sourceBytes !== null && n >= LEAST_FOR_LINE && squares(xs) > 0
  const slope = usesLine ? products(xs, ys) / squares(xs) : 0
  const bits = usesLine ? y + slope * (mean(sourceBytes) - mean(xs)) : y
  const left = Math.max(0, squares(ys) - slope * slope * (usesLine ? squares(xs) : 0))
  const variance = left / (n - (usesLine ? 2 : 1))
  // What was sampled is known: nothing is uncertain if all of it was.
  const unknown = Math.max(0, 1 - n / places)
  // A line through unlike samples may lead anywhere.
  if (bits < y / 2 || bits > y * 2) return meanBits(samples, places, null)
  return { bits, error: Math.sqrt((variance / n) * unknown) / bits }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function squares(values: readonly number[]): number {
  return products(values, values)
}

function products(xs: readonly number[], ys: readonly number[]): number {
  const [x, y] = [mean(xs), mean(ys)]
  return xs.reduce((sum, value, index) => sum + (value - x) * (ys[index]! - y), 0)
}
