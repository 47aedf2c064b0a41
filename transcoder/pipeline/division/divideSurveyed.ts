// In charge of: the attempt behind the survey of a divided job: what the records of the survey say goes into the plan, and
// the job is divided into chunks; or into more parts that survey the source, where the records do not say enough. It reads
// no source.
// Not in charge of: the samples (surveyPart.ts), the factors that follow (analysis/rate/surveyRates.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { DividePost, TaskDescription } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import { factorsOfSamples } from '../../analysis/rate/surveyRates.ts'
import { rateTargets, surveyedFactors } from '../../analysis/rate/sampleRates.ts'
import type { Attempt } from '../../attempt.ts'
import { decodeSurveyRecord, type AskedSurvey, type SurveyRecord } from '../../division/surveyRecord.ts'
import { encodedSegments } from '../../plan/division/encodedSegments.ts'
import { gainsToTry, joinReadings, surveyedMixes, withGains, withTries } from '../../plan/division/loudnessSurvey.ts'
import { partsOf } from '../../plan/division/partPlan.ts'
import { firstRoundOf } from '../../plan/division/surveyPlan.ts'
import type { SurveyPlan } from '../../plan/model/divisionPlan.ts'
import type { Plan } from '../../plan/model/plan.ts'
import type { Surroundings } from '../openTask.ts'
import { dividedPlan, specOf } from '../taskPlan.ts'
import { fetchRecords } from './jobRecords.ts'

export async function divideSurveyed(
  attempt: Attempt,
  task: TaskDescription,
  { headStart }: Surroundings,
  parts: number,
): Promise<DividePost> {
  const { taskClient, controller, progress } = attempt
  progress.setPhase('analyzing')
  await headStart.end()
  const plan = dividedPlan(task)
  const division = plan.division!
  const { survey } = division
  if (survey === undefined || (parts !== firstRoundOf(survey) && parts !== survey.parts))
    throw new TaskError('internal', `The plan has a survey of ${survey?.parts ?? 0} parts, and the job has ${parts}.`)
  const post = (made: Plan) =>
    taskClient.postPlan({ plan: made, warnings: made.warnings, replaces: true }, controller.signal)
  const records = (await fetchRecords(attempt, parts)).map((record, part) =>
    decodeSurveyRecord(record, askedOf(plan, survey, part)),
  )
  const { plan: measured, tries } = loudnessOf(specOf(task), plan, survey, records)
  if (tries !== null) {
    const [first, both] = [parts, 2 * parts]
    await post({
      ...plan,
      division: { ...division, survey: { ...survey, parts: both, loudness: { parts: first, tries } } },
    })
    return { parts: both, survey: true }
  }
  const rateFactors = factorsOf(attempt, plan, survey, records)
  // The build of the plan stays that of the samples, whichever this attempt has: it encodes nothing.
  await post({
    ...measured,
    division: {
      ...division,
      survey: { parts, factors: survey.factors },
      ...(rateFactors === null ? {} : { rateFactors }),
    },
  })
  return { parts: parts + partsOf(division).length }
}

/** As surveyPart.ts reads it from the plan. */
function askedOf(plan: Plan, survey: SurveyPlan, part: number): AskedSurvey {
  const { factors, loudness } = survey
  const isFirstRound = part < firstRoundOf(survey)
  const levels = isFirstRound ? surveyedMixes(plan).length : (loudness?.tries ?? []).flat().length
  return { targets: isFirstRound ? factors.length : 0, levels: loudness === undefined ? null : levels }
}

/** The plan with its gains; `tries`: what has to be tried before. */
function loudnessOf(
  spec: JobSpec,
  plan: Plan,
  { loudness }: SurveyPlan,
  records: readonly SurveyRecord[],
): { plan: Plan; tries: number[][] | null } {
  // An earlier attempt was lost behind its plan.
  if (loudness === undefined) return { plan, tries: null }
  const levels = records.map((record) => record.loudness ?? [])
  const readings = joinReadings(surveyedMixes(plan), levels.slice(0, loudness.parts))
  if (records.length === loudness.parts) {
    const tries = gainsToTry(spec, readings)
    return { plan: withGains(spec, plan, readings), tries }
  }
  const tried = withTries(readings, loudness.tries ?? [], levels.slice(loudness.parts))
  return { plan: withGains(spec, plan, tried), tries: null }
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
