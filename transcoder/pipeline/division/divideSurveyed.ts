// In charge of: the attempt behind the survey of a divided job: what the records of the survey say goes into the plan, and
// the job is divided into chunks; or into more parts that survey the source, where the records do not say enough. It reads
// the source only where the plan follows from cues, or where parts could not measure: then it plans the job again.
// Not in charge of: the samples (surveyPart.ts), the factors that follow (analysis/rate/surveyRates.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { DividePost, TaskDescription } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import { factorsOfSamples } from '../../analysis/rate/surveyRates.ts'
import { rateTargets, surveyedFactors } from '../../analysis/rate/sampleRates.ts'
import type { Attempt } from '../../attempt.ts'
import { decodeSurveyRecord, type AskedSurvey, type SurveyRecord } from '../../division/surveyRecord.ts'
import { encodedSegments } from '../../plan/division/encodedSegments.ts'
import {
  gainsToTry,
  joinReadings,
  surveyedMixes,
  withGains,
  withReadings,
  withTries,
} from '../../plan/division/loudnessSurvey.ts'
import { partsOf } from '../../plan/division/partPlan.ts'
import { firstRoundOf, waitsForCues } from '../../plan/division/surveyPlan.ts'
import type { SurveyPlan } from '../../plan/model/divisionPlan.ts'
import type { MeasuredLoudness } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '../../plan/model/plan.ts'
import { withEngine } from '../../plan/planEngine.ts'
import { openTask, type OpenTask, type Surroundings } from '../openTask.ts'
import { AttemptCues } from '../sourceCues.ts'
import { surveyAndPlan, type Surveyed } from '../surveyAndPlan.ts'
import { dividedPlan, requirePlannedSource, specOf } from '../taskPlan.ts'
import { withStoredSubtitles } from './drawnSubtitles.ts'
import { fetchRecords } from './jobRecords.ts'
import { cuesOfRecords } from './surveyedCues.ts'

export type DividedAfterSurvey =
  | { kind: 'divided'; post: DividePost }
  /** With what the survey found, one task makes the whole job. */
  | { kind: 'undivided'; open: OpenTask; made: Surveyed }

export async function divideSurveyed(
  attempt: Attempt,
  task: TaskDescription,
  surroundings: Surroundings,
  parts: number,
): Promise<DividedAfterSurvey> {
  const { taskClient, controller, progress, engine } = attempt
  progress.setPhase('analyzing')
  await surroundings.headStart.end()
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
  const loudness = loudnessOf(specOf(task), plan, survey, records)
  const isMeasured = loudness?.readings.includes(null) !== true
  if (isMeasured && loudness?.tries != null) {
    const [first, both] = [parts, 2 * parts]
    await post({
      ...plan,
      division: { ...division, survey: { ...survey, parts: both, loudness: { parts: first, tries: loudness.tries } } },
    })
    return { kind: 'divided', post: { parts: both, survey: true } }
  }
  const rates = factorsOf(attempt, plan, survey, records)
  const surveyed = { parts, factors: survey.factors, ...(survey.cues === undefined ? {} : { cues: survey.cues }) }
  if (isMeasured && !waitsForCues(survey)) {
    const made = loudness === null ? plan : withGains(specOf(task), plan, loudness.readings)
    // The build of the plan stays that of the samples, whichever this attempt has: it encodes nothing.
    await post(withSurveyed(made, surveyed, rates))
    return { kind: 'divided', post: { parts: parts + partsOf(division).length } }
  }
  const { open, areCuesFound } = await openSurveyed(attempt, task, surroundings, plan, records)
  const mixes = surveyedMixes(plan)
  const planned = await surveyAndPlan(open, {
    parts,
    withLoudness: isMeasured && loudness !== null ? (media) => withReadings(media, mixes, loudness.readings) : null,
  })
  if (planned.plan.division == null) return { kind: 'undivided', open, made: planned }
  const { cues: asked, ...others } = surveyed
  const known = asked === undefined || !areCuesFound ? {} : { cues: { parts: asked.parts, known: true } }
  const made = withSurveyed(await withStoredSubtitles(open, planned), { ...others, ...known }, rates)
  await post(withEngine(made, engine))
  return { kind: 'divided', post: { parts: parts + partsOf(made.division!).length } }
}

function withSurveyed(plan: Plan, survey: SurveyPlan, rates: (number | null)[] | null): Plan {
  return { ...plan, division: { ...plan.division!, survey, ...(rates === null ? {} : { rateFactors: rates }) } }
}

/** The source that parts of the job saw; what they did not find of its cues is read by this attempt. */
async function openSurveyed(
  attempt: Attempt,
  task: TaskDescription,
  surroundings: Surroundings,
  plan: Plan,
  records: readonly SurveyRecord[],
): Promise<{ open: OpenTask; areCuesFound: boolean }> {
  const parts = plan.division?.survey?.cues?.parts ?? 0
  let areCuesFound = false
  const open = await openTask(attempt, task, surroundings, (source) => {
    const found = parts === 0 ? null : cuesOfRecords(source, records.slice(0, parts))
    areCuesFound = found !== null
    return found ?? AttemptCues.ofSource(source)
  })
  requirePlannedSource(plan, await attempt.loopback.version())
  if (parts > 0) attempt.log.info('cues', { found_by_parts: areCuesFound })
  return { open, areCuesFound }
}

/** As surveyPart.ts reads it from the plan. */
function askedOf(plan: Plan, survey: SurveyPlan, part: number): AskedSurvey {
  const { factors, loudness } = survey
  const isFirstRound = part < firstRoundOf(survey)
  const levels = isFirstRound ? surveyedMixes(plan).length : (loudness?.tries ?? []).flat().length
  return { targets: isFirstRound ? factors.length : 0, levels: loudness === undefined ? null : levels }
}

/** What is known of each mix; `tries`: what has to be tried before its gain is. null = nothing was measured. */
function loudnessOf(
  spec: JobSpec,
  plan: Plan,
  { loudness }: SurveyPlan,
  records: readonly SurveyRecord[],
): { readings: (MeasuredLoudness | null)[]; tries: number[][] | null } | null {
  // An earlier attempt was lost behind its plan.
  if (loudness === undefined) return null
  const levels = records.map((record) => record.loudness ?? [])
  const readings = joinReadings(surveyedMixes(plan), levels.slice(0, loudness.parts))
  if (records.length === loudness.parts) return { readings, tries: gainsToTry(spec, readings) }
  return { readings: withTries(readings, loudness.tries ?? [], levels.slice(loudness.parts)), tries: null }
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
