// In charge of: the survey of a divided job: the parts that take its rate samples, their records, and the attempt after
// them, which reads no source: what the records say goes into the plan, and the job is divided into chunks.
// Not in charge of: the search, the factors that follow (rates/surveyRates.ts).
import type { DeliverPost, DividePost, TaskDescription } from '#contract/task/protocol.ts'
import { sampleShare, factorsOfSamples } from './rates/surveyRates.ts'
import { rateSampling, surveyedBytes, rateTargets, surveyedFactors } from './rates/sampleRates.ts'
import { sourceBytes } from './rates/sourceBytes.ts'
import { encodedSegments } from './plan/encodedSegments.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { OpenTask, Surroundings } from '../pipeline/openTask.ts'
import { sampleOptions } from './divideJob.ts'
import * as z from 'zod/mini'
import { MAX_AMOUNT } from '#contract/task/reportSchemas.ts'
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../attempt.ts'
import { partsOf } from './plan/partPlan.ts'
import type { SurveyPlan } from '#contract/task/plan/divisionPlan.ts'
import { dividedPlan } from './dividedPlan.ts'
import { fetchRecords } from './jobRecords.ts'

const amount = z.number().check(z.gte(0), z.lte(MAX_AMOUNT))

const surveyRecordSchema = z.object({
  kind: z.literal('survey'),
  samples: z.array(
    z.object({ place: z.number().check(z.int(), z.gte(0)), factors: z.array(amount), bits: z.array(amount) }),
  ),
  /** Bytes that each place of the video has in the source. Only the first part states them. null = not known. */
  sourceBytes: z.nullable(z.array(amount)),
})
export type SurveyRecord = z.infer<typeof surveyRecordSchema>

/** `targets`: number of renditions whose bits each sample states. Throws internal. */
export function decodeSurveyRecord(record: unknown, targets: number): SurveyRecord {
  const parsed = surveyRecordSchema.safeParse(record)
  if (!parsed.success) throw new TaskError('internal', 'The record of a part that surveyed the source cannot be read.')
  const isOther = ({ factors, bits }: { factors: number[]; bits: number[] }) =>
    factors.length !== targets || bits.length !== targets
  if (parsed.data.samples.some(isOther))
    throw new TaskError('internal', `The samples of a part are not those of ${targets} renditions.`)
  return parsed.data
}

/** `whole`: the plan of the job, with a survey. */
export async function makeSurveyPart(open: OpenTask, whole: Plan, part: number): Promise<DeliverPost> {
  const { progress, controller } = open.attempt
  progress.setPhase('sampling')
  const record: SurveyRecord = { kind: 'survey', ...(await sampleRates(open, whole, part)) }
  controller.signal.throwIfAborted()
  progress.onEncodeEnd()
  return { record, warnings: [], progress: progress.snapshot() }
}

async function sampleRates(
  open: OpenTask,
  whole: Plan,
  part: number,
): Promise<Pick<SurveyRecord, 'samples' | 'sourceBytes'>> {
  const { attempt, probed } = open
  const { engine, loopback, progress, controller } = attempt
  const { parts, factors } = whole.division!.survey!
  const sampling = rateSampling(engine, encodedSegments(whole), { url: loopback.url, ...sampleOptions(open) })
  if (sampling === null) return { samples: [], sourceBytes: null }
  const { targets, source, encode } = sampling
  const samples = await sampleShare(targets, source, encode, { part, parts, factors }, (fraction) =>
    progress.onEncoderProgress({ fraction, speed: null }),
  )
  const bytes =
    part === 0
      ? await surveyedBytes(source, (seconds) =>
          sourceBytes(loopback, probed, { plan: whole, seconds }, controller.signal),
        )
      : null
  return { samples, sourceBytes: bytes }
}

export async function divideSurveyed(
  attempt: Attempt,
  task: TaskDescription,
  { headStart }: Surroundings,
  parts: number,
): Promise<DividePost> {
  const { taskClient, controller, progress } = attempt
  progress.setPhase('sampling')
  await headStart.end()
  const plan = dividedPlan(task)
  const division = plan.division!
  const { survey } = division
  if (survey === undefined || parts !== survey.parts)
    throw new TaskError('internal', `The plan has a survey of ${survey?.parts ?? 0} parts, and the job has ${parts}.`)
  const records = (await fetchRecords(attempt, parts)).map((record) =>
    decodeSurveyRecord(record, survey.factors.length),
  )
  const rateFactors = factorsOf(attempt, plan, survey, records)
  // The plan keeps the ffmpeg build of the samples, even if this attempt has another build: it encodes nothing.
  const made = rateFactors === null ? plan : { ...plan, division: { ...division, rateFactors } }
  await taskClient.postPlan({ plan: made, warnings: made.warnings, replaces: true }, controller.signal)
  return { parts: parts + partsOf(division).length }
}

/** null = no rendition needs one, or none was found. */
function factorsOf(
  { log }: Attempt,
  plan: Plan,
  survey: SurveyPlan,
  records: readonly SurveyRecord[],
): (number | null)[] | null {
  const encoded = encodedSegments(plan)
  const sampled = rateTargets(encoded)
  const samples = records.flatMap((record) => record.samples)
  const sourceBytes = records[0]?.sourceBytes ?? null
  const found =
    sampled === null
      ? null
      : factorsOfSamples(sampled.targets, { ...sampled.source, sourceBytes }, samples, survey.factors)
  if (found === null) return null
  log.info('rate factors', {
    factors: found.factors.join(', '),
    error: Number(found.error.toFixed(4)),
    samples: samples.length,
  })
  return surveyedFactors(encoded, found.factors)
}
