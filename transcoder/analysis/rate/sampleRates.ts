// In charge of: the rate factors in the plan of a divided job.
// Not in charge of: the search (findRateFactors.ts), one sample (encodePlace.ts), dividing (plan/division/).
import type { FfmpegPrograms } from '../../ffmpeg/run.ts'
import { toNumber } from '../../formats/rational.ts'
import type { Log } from '../../log.ts'
import { placeGops } from '../../plan/division/rateSampling.ts'
import { rateFactorsOf, sampledRenditions, samplePlan } from '../../plan/division/samplePlan.ts'
import type { Plan } from '../../plan/model/plan.ts'
import { encodePlace, type SampleOptions } from './encodePlace.ts'
import { findRateFactors } from './findRateFactors.ts'

interface Options extends SampleOptions {
  url: string
  log: Log
  /** Bytes of the source's video in each stretch of so many seconds of the output; null = not known. */
  sourceBytes: (seconds: number) => Promise<readonly number[] | null>
}

/** The same plan where no rendition needs a factor, or where none was found: chunks then keep the average bitrate. */
export async function withRateFactors(engine: FfmpegPrograms, plan: Plan, options: Options): Promise<Plan> {
  const { url, log, sourceBytes, ...sample } = options
  const sampled = plan.division == null ? null : sampledRenditions(plan)
  if (sampled === null || plan.division == null || plan.durationSeconds === null) return plan
  const gopSeconds = toNumber(sampled.gop)
  const found = await findRateFactors(
    sampled.videos.map(({ codec, bitrateKbps }) => ({ codec, kbps: bitrateKbps })),
    { seconds: plan.durationSeconds, gopSeconds, sourceBytes: await sourceBytes(placeGops(gopSeconds) * gopSeconds) },
    (place, factors) => encodePlace(engine, url, samplePlan(plan, sampled, place, factors), place, sample),
  )
  if (found === null) {
    log.info('no rate factor was found')
    return plan
  }
  const { factors, error, runs } = found
  log.info('rate factors', { factors: factors.join(', '), error: Number(error.toFixed(4)), samples: runs })
  return { ...plan, division: { ...plan.division, rateFactors: rateFactorsOf(plan, sampled, factors) } }
}
