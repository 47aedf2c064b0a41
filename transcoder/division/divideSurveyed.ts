// In charge of: the attempt after the survey of a divided job: what the records of the survey say goes into the plan, and
// the job is divided into chunks. It reads no source.
// Not in charge of: the samples (surveyPart.ts), the factors that follow (division/rates/surveyRates.ts).
import type { DividePost, TaskDescription } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import { factorsOfSamples } from './rates/surveyRates.ts'
import { rateTargets, surveyedFactors } from './rates/sampleRates.ts'
import type { Attempt } from '../attempt.ts'
import { decodeSurveyRecord, type SurveyRecord } from './surveyRecord.ts'
import { encodedSegments } from './plan/encodedSegments.ts'
import { partsOf } from './plan/partPlan.ts'
import type { SurveyPlan } from '#contract/task/plan/divisionPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { Surroundings } from '../pipeline/openTask.ts'
import { dividedPlan } from '../pipeline/taskPlan.ts'
import { fetchRecords } from './jobRecords.ts'

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
