// In charge of: whether the source of a divided job is surveyed by parts of it, and by how many.
// Not in charge of: what they do (analysis/rate/surveyRates.ts, loudnessSurvey.ts), the parts behind them (partPlan.ts).
import type { DivisionPlan, SurveyPlan } from '../model/divisionPlan.ts'

/** Seconds of sampling and measuring by one transcoder from which parts do it: a part and the attempt behind it have to start. */
const SURVEY_ABOVE_SECONDS = 60
/** Of one part. */
const PART_SECONDS = 20
const MAX_SURVEY_PARTS = 16
/** Of the parts of a job, so many are left for two rounds of a survey: the longest videos need one most. */
export const SURVEY_PARTS_LEFT = 2 * MAX_SURVEY_PARTS

/**
 * How many in each round; null = the attempt that plans does it by itself. `seconds`: that one transcoder would take.
 */
export function surveyParts(
  seconds: number,
  division: DivisionPlan,
  maxParts: number,
  rounds: 1 | 2 = 1,
): number | null {
  if (seconds <= SURVEY_ABOVE_SECONDS) return null
  const left = Math.floor((maxParts - division.chunks.length - 1) / rounds)
  const parts = Math.min(MAX_SURVEY_PARTS, Math.ceil(seconds / PART_SECONDS), left)
  return parts < 2 ? null : parts
}

/** Of the source, by one reader. */
const BYTES_PER_SECOND = 100e6

/** null = unknown. */
export function readingSeconds(bytes: number | null): number {
  return (bytes ?? 0) / BYTES_PER_SECOND
}

/** What its survey finds is not in the plan yet. */
export function isProvisional({ survey }: DivisionPlan): boolean {
  return survey?.loudness !== undefined || waitsForCues(survey)
}

export function waitsForCues(survey: SurveyPlan | undefined): boolean {
  return survey?.cues !== undefined && survey.cues.known !== true
}

/** The parts before the chunks. */
export function surveyPartsOf({ survey }: DivisionPlan): number {
  return survey?.parts ?? 0
}

/** The parts with which a survey begins, which may be all. */
export function firstRoundOf({ loudness, parts }: SurveyPlan): number {
  return loudness?.parts ?? parts
}
