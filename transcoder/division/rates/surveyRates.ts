// In charge of: the same search as findRateFactors.ts, spread over parts of the job: where they begin, the samples of one
// part, and the factors that follow from the samples of all parts.
// Not in charge of: encoding one sample (encodePlace.ts), the arithmetic (division/plan/rateFactor.ts), records
// (division/survey.ts).
import { FIRST_FACTORS, RateSamples } from '../plan/rateFactor.ts'
import { mostPlaces, placeGops, ratePlaces, type RatePlace } from '../plan/rateSampling.ts'
import type { EncodePlace, RateSource, RateTarget } from './findRateFactors.ts'

/** One encode of one place. `factors` and `bits`: for each target. */
export interface PlaceSample {
  place: number
  factors: number[]
  bits: number[]
}

/** One part of a survey. */
interface SurveyShare {
  part: number
  parts: number
  /** Rate factors with which the search begins. */
  factors: readonly number[]
}

/** Places with which the first attempt finds about where the parts should sample. */
const FIRST_PLACES = 4
/** Places of a part between two corrections of its factors. */
const BATCH = 4
/** Samples farther from the result are taken again, at most BATCH times. The pairs also tell how the rate follows the factor. */
const FAR = 0.6

/** Factors with which the parts begin: near enough, not exact. null = the source cannot be sampled. */
export async function firstFactors(
  targets: readonly RateTarget[],
  source: RateSource,
  encode: EncodePlace,
): Promise<number[] | null> {
  const begun = targets.map(({ codec }) => FIRST_FACTORS[codec])
  const samples: PlaceSample[] = []
  for (const place of placesOf(source).slice(0, FIRST_PLACES)) await sample(place, begun, encode, samples)
  return samples.length === 0 ? null : estimate(targets, source, samples, begun).factors
}

/** `onProgress`: the share that is done. */
export async function sampleShare(
  targets: readonly RateTarget[],
  source: RateSource,
  encode: EncodePlace,
  { part, parts, factors: begun }: SurveyShare,
  onProgress: (share: number) => void,
): Promise<PlaceSample[]> {
  const places = placesOf(source).filter((_place, at) => at % parts === part)
  const samples: PlaceSample[] = []
  let factors: readonly number[] = begun
  for (const [at, place] of places.entries()) {
    await sample(place, factors, encode, samples)
    onProgress((at + 1) / (places.length + BATCH))
    const isCorrected = (at + 1) % BATCH === 0 || at + 1 === places.length
    if (isCorrected && samples.length > 0) ({ factors } = estimate(targets, source, samples, factors))
  }
  for (let left = BATCH; left > 0 && samples.length > 0;) {
    const far = farPlaces(samples, factors)
    const again = places.filter(({ index }) => far.has(index)).slice(0, left)
    if (again.length === 0) break
    left -= again.length
    for (const place of again) await sample(place, factors, encode, samples)
    ;({ factors } = estimate(targets, source, samples, factors))
  }
  return samples
}

/** The factors at which all of the video has its rates, and their error as in findRateFactors.ts; null = nothing was found. */
export function factorsOfSamples(
  targets: readonly RateTarget[],
  source: RateSource,
  samples: readonly PlaceSample[],
  near: readonly number[],
): { factors: number[]; error: number } | null {
  return samples.length === 0 ? null : estimate(targets, source, samples, near)
}

/** As many places as one task would sample, in an order whose every share is spread over the video. */
function placesOf({ seconds, gop }: RateSource): RatePlace[] {
  const places = ratePlaces(seconds, gop)
  return places.slice(0, mostPlaces(places.length))
}

/** Places without a sample near these factors. */
function farPlaces(samples: readonly PlaceSample[], factors: readonly number[]): Set<number> {
  const isNear = (each: PlaceSample) =>
    each.factors.every((factor, target) => Math.abs(factor - factors[target]!) <= FAR)
  const near = new Set(samples.filter(isNear).map(({ place }) => place))
  return new Set(samples.map(({ place }) => place).filter((place) => !near.has(place)))
}

async function sample(
  place: RatePlace,
  factors: readonly number[],
  encode: EncodePlace,
  samples: PlaceSample[],
): Promise<void> {
  const bits = await encode(place, factors)
  if (bits !== null) samples.push({ place: place.index, factors: [...factors], bits: [...bits] })
}

function estimate(
  targets: readonly RateTarget[],
  { seconds, gop, sourceBytes }: RateSource,
  samples: readonly PlaceSample[],
  near: readonly number[],
): { factors: number[]; error: number } {
  const count = ratePlaces(seconds, gop).length
  const placeSeconds = placeGops(gop.seconds) * gop.seconds
  const found = targets.map(({ kbps }, target) => {
    const own = new RateSamples(count, sourceBytes)
    for (const { place, factors, bits } of samples) own.add(place, factors[target]!, bits[target]!)
    const factor = own.factorFor(kbps * 1000 * placeSeconds, near[target]!)
    return { factor, error: own.mean(factor).error }
  })
  return { factors: found.map(({ factor }) => factor), error: Math.max(...found.map(({ error }) => error)) }
}
