// In charge of: where a source is sampled to find the rate of its chunks, and what the samples say about all of it.
// Not in charge of: encoding samples (division/rates/), the factor that follows (rateFactor.ts).
import type { VideoCodec } from '#contract/codecs.ts'

/**
 * A place of the video, in shares of a GOP counted from 0. What is encoded before `counted` and from `to` on has another
 * size than in the middle of an encode, and does not count.
 */
export interface RatePlace {
  /** Position among all places of the video. */
  index: number
  /** Shares of a GOP. `counted` and `to` are multiples of it. */
  sharesPerGop: number
  /** The first that is encoded. */
  from: number
  counted: number
  to: number
  /** The first share that is not encoded any more; the video may end before. */
  end: number
}

/** The common GOP of what is sampled. */
export interface SampledGop {
  seconds: number
  /** How many shares of whole frames the GOP can be divided into: a place begins and ends between two shares. */
  shares: number
  /** Seconds that the encoder needs before what counts. */
  runInSeconds: number
}

/** Seconds that count at one place, at least one GOP. */
const PLACE_SECONDS = 2
/**
 * Seconds encoded before what counts, and after it. Frames at the beginning of an encode are too small, because its rate
 * control has seen nothing yet, and so are frames at its end, because nothing refers to them. Measured: bits of the GOPs
 * against the same GOPs in an encode of all at the same factor. x264, 120 places of a film, 2 s before and nothing after:
 * -5 % (veryfast) to -12 % (slow); 1 s on both sides: +0.4 to -1.1 %. x265, 12 places: -1.0 % with 1 s before, +0.0 % with
 * 2 s.
 */
export const RUN_IN_SECONDS: Readonly<Record<VideoCodec, number>> = { h264: 1, hevc: 2, mpeg2: 1 }
const RUN_OUT_SECONDS = 1
/**
 * A sixteenth of the video, but two to four minutes: the sampling is the work of one task, for which the chunks wait. A
 * video of two minutes is sampled completely.
 */
const SHARE = 1 / 16
const MAX_PLACES = { least: 60, most: 120 }

export function placeGops(gopSeconds: number): number {
  return Math.max(1, Math.round(PLACE_SECONDS / gopSeconds))
}

/** Seconds that are encoded for one place in the middle of a video. */
export function encodedSeconds(gop: SampledGop): number {
  const { perGop, before, behind } = margins(gop)
  return (placeGops(gop.seconds) + (before + behind) / perGop) * gop.seconds
}

/** In the shortest shares of at least the run-out; in whole GOPs, where these are not longer or cannot be divided. */
function margins({ seconds, shares, runInSeconds }: SampledGop): { perGop: number; before: number; behind: number } {
  let perGop = Math.max(1, Math.min(shares, Math.floor(seconds / RUN_OUT_SECONDS + ROUNDING)))
  while (shares % perGop !== 0) perGop -= 1
  const sharesOf = (margin: number) => Math.ceil((margin * perGop) / seconds - ROUNDING)
  return { perGop, before: sharesOf(runInSeconds), behind: sharesOf(RUN_OUT_SECONDS) }
}

/** How many of all places of a video are sampled at the most. */
export function mostPlaces(places: number): number {
  return Math.round(Math.min(MAX_PLACES.most, Math.max(MAX_PLACES.least, places * SHARE)))
}

/** All places of a video, in an order whose every beginning is spread over all of it. */
export function ratePlaces(seconds: number, gop: SampledGop): RatePlace[] {
  const gops = placeGops(gop.seconds)
  const { perGop, before, behind } = margins(gop)
  const count = Math.floor(seconds / gop.seconds / gops + ROUNDING)
  return spread(count).map((index) => {
    const [counted, to] = [index * gops * perGop, (index + 1) * gops * perGop]
    return { index, sharesPerGop: perGop, from: Math.max(0, counted - before), counted, to, end: to + behind }
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
  // Only places that were not sampled are uncertain: the error is 0 if all of them were.
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
