// In charge of: whether the rate samples of a divided job are taken by parts of it, and by how many.
// Not in charge of: what they do (division/rates/surveyRates.ts), the parts behind them (partPlan.ts).
import type { DivisionPlan } from '#contract/task/plan/divisionPlan.ts'

/** Seconds of sampling by one transcoder from which parts do it: a part and the attempt behind it have to start. */
const SURVEY_ABOVE_SECONDS = 60
/** Of one part. */
const PART_SECONDS = 20
/** Of the parts of a job, so many are left for the survey: the longest videos need one most. */
export const MAX_SURVEY_PARTS = 16

/** null = the attempt that plans does it by itself. `seconds`: that one transcoder would take. */
export function surveyParts(seconds: number): number | null {
  return seconds <= SURVEY_ABOVE_SECONDS ? null : Math.min(MAX_SURVEY_PARTS, Math.ceil(seconds / PART_SECONDS))
}

/** The parts before the chunks. */
export function surveyPartsOf({ survey }: DivisionPlan): number {
  return survey?.parts ?? 0
}
