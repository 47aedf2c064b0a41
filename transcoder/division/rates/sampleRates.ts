// In charge of: the rate factors in the plan of a divided job.
// Not in charge of: the search (findRateFactors.ts), one sample (encodePlace.ts), dividing (division/plan/).
import type { FfmpegPrograms } from '../../ffmpeg/run.ts'
import type { Log } from '../../log.ts'
import { placeGops } from '../plan/rateSampling.ts'
import { rateFactorsOf, sampledGop, sampledRenditions, samplePlan, type SampledRenditions } from '../plan/samplePlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { encodePlace, type SampleOptions } from './encodePlace.ts'
import { firstFactors } from './surveyRates.ts'
import { findRateFactors, type EncodePlace, type RateSource, type RateTarget } from './findRateFactors.ts'

interface Sampling extends SampleOptions {
  url: string
}

/** Bytes of the source's video in each stretch of `seconds` of the output; null = not known. */
type SourceBytes = (seconds: number) => Promise<number[] | null>

interface Options extends Sampling {
  log: Log
  /** The share of the samples that was taken. */
  onProgress: (share: number) => void
  sourceBytes: SourceBytes
}

/** What is to be found for a plan; null = no rendition needs a factor. */
export function rateTargets(
  plan: Plan,
): { sampled: SampledRenditions; targets: RateTarget[]; source: RateSource } | null {
  const sampled = plan.division == null ? null : sampledRenditions(plan)
  if (sampled === null || plan.durationSeconds === null) return null
  const targets = sampled.videos.map(({ codec, bitrateKbps }) => ({ codec, kbps: bitrateKbps }))
  return {
    sampled,
    targets,
    source: {
      seconds: plan.durationSeconds,
      gop: sampledGop(sampled),
      sourceBytes: null,
    },
  }
}

/** The same with the means to find it. */
export function rateSampling(engine: FfmpegPrograms, plan: Plan, { url, ...options }: Sampling) {
  const wanted = rateTargets(plan)
  if (wanted === null) return null
  const encode: EncodePlace = (place, factors) =>
    encodePlace(engine, url, samplePlan(plan, wanted.sampled, place, factors), place, options)
  return { ...wanted, encode }
}

/** `RateSource.sourceBytes`. */
export function surveyedBytes({ gop }: RateSource, sourceBytes: SourceBytes): Promise<number[] | null> {
  return sourceBytes(placeGops(gop.seconds) * gop.seconds)
}

/** `factors`: of the targets. */
export function surveyedFactors(plan: Plan, factors: readonly number[]): (number | null)[] {
  const sampled = sampledRenditions(plan)
  return sampled === null ? [] : rateFactorsOf(plan, sampled, factors)
}

/** The same plan where no rendition needs a factor, or where none was found: chunks then keep the average bitrate. */
export async function withRateFactors(engine: FfmpegPrograms, plan: Plan, options: Options): Promise<Plan> {
  const { log, sourceBytes, onProgress, ...sampling } = options
  const wanted = rateSampling(engine, plan, sampling)
  if (wanted === null || plan.division == null) return plan
  const { targets, source, encode } = wanted
  const found = await findRateFactors(
    targets,
    { ...source, sourceBytes: await surveyedBytes(source, sourceBytes) },
    encode,
    onProgress,
  )
  if (found === null) {
    log.info('no rate factor was found')
    return plan
  }
  const { factors, error, runs } = found
  log.info('rate factors', { factors: factors.join(', '), error: Number(error.toFixed(4)), samples: runs })
  return { ...plan, division: { ...plan.division, rateFactors: surveyedFactors(plan, factors) } }
}

/** Factors near which parts of the job begin their search; null = no rendition needs a factor, or none was found. */
export async function roughFactors(engine: FfmpegPrograms, plan: Plan, sampling: Sampling): Promise<number[] | null> {
  const wanted = rateSampling(engine, plan, sampling)
  return wanted === null ? null : firstFactors(wanted.targets, wanted.source, wanted.encode)
}
