// In charge of: finding the rate factor of each rendition of a divided job by encoding samples of the source.
// Not in charge of: encoding one (encodePlace.ts), the arithmetic (division/plan/rateFactor.ts, rateSampling.ts).
import { FIRST_FACTORS, RateSamples } from '../plan/rateFactor.ts'
import { mostPlaces, placeGops, ratePlaces, type RatePlace, type SampledGop } from '../plan/rateSampling.ts'
import type { VideoCodec } from '#contract/codecs.ts'

/** One rendition whose factor is wanted. */
export interface RateTarget {
  codec: VideoCodec
  kbps: number
}

export interface RateSource {
  seconds: number
  /** The GOP that all renditions have in common. */
  gop: SampledGop
  /** Bytes of each place in the source; null = unknown. */
  sourceBytes: readonly number[] | null
}

/** Encodes one place with a factor for each target: the bits of its counted GOPs; null = the place has no frames. */
export type EncodePlace = (place: RatePlace, factors: readonly number[]) => Promise<readonly number[] | null>

export interface FoundFactors {
  factors: number[]
  /** Standard error of the rates, as a share; the largest of the targets. */
  error: number
  /** Encodes of places. */
  runs: number
}

/** Places with which the search comes near the target, and its steps: the first guess may be far away. */
const FIRST_PLACES = 8
const FIRST_STEPS = 3
/** Places between two corrections of the factor. */
const BATCH = 8
/** The sampling ends at this standard error, but not before this many places, because the first few may be alike. */
const GOOD_ERROR = 0.008
const LEAST_PLACES = 24
/** Samples farther from the result than FAR are taken again: at most MAX_AGAIN of them, in ROUNDS_AGAIN rounds. */
const FAR = 0.6
const MAX_AGAIN = 40
const ROUNDS_AGAIN = 2

/**
 * Each place is encoded near the factor that all places before it suggest: few of them far from the result. null = the
 * source cannot be sampled. `onProgress`: the share of the samples that was taken.
 */
export async function findRateFactors(
  targets: readonly RateTarget[],
  { seconds, gop, sourceBytes }: RateSource,
  encode: EncodePlace,
  onProgress?: (share: number) => void,
): Promise<FoundFactors | null> {
  const places = ratePlaces(seconds, gop)
  const placeSeconds = placeGops(gop.seconds) * gop.seconds
  const most = mostPlaces(places.length)
  const samples = targets.map(() => new RateSamples(places.length, sourceBytes))
  const wanted = targets.map(({ kbps }) => kbps * 1000 * placeSeconds)
  let factors = targets.map(({ codec }) => FIRST_FACTORS[codec])
  let runs = 0
  const measure = async (chosen: readonly RatePlace[]): Promise<void> => {
    for (const place of chosen) {
      runs += 1
      const found = await encode(place, factors)
      onProgress?.(Math.min(1, runs / Math.min(places.length, most)))
      for (const [target, bits] of (found ?? []).entries()) samples[target]!.add(place.index, factors[target]!, bits)
    }
    factors = samples.map((each, target) => each.factorFor(wanted[target]!, factors[target]!))
  }
  const farPlaces = (): RatePlace[] => {
    const far = new Set(samples.flatMap((each, target) => each.fartherThan(FAR, factors[target]!)))
    return places.filter(({ index }) => far.has(index)).slice(0, MAX_AGAIN)
  }
  const error = (): number => Math.max(...samples.map((each, target) => each.mean(factors[target]!).error))

  await measure(places.slice(0, FIRST_PLACES))
  if (samples.some(({ size }) => size === 0)) return null
  for (let step = 1; step < FIRST_STEPS && farPlaces().length > 0; step += 1)
    await measure(places.slice(0, FIRST_PLACES))
  for (let at = FIRST_PLACES; at < Math.min(places.length, most); at += BATCH) {
    if (at >= LEAST_PLACES && error() <= GOOD_ERROR) break
    await measure(places.slice(at, Math.min(at + BATCH, most)))
  }
  for (let round = 0; round < ROUNDS_AGAIN && farPlaces().length > 0; round += 1) await measure(farPlaces())
  return { factors, error: error(), runs }
}
