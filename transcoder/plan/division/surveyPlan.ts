// In charge of: whether the source of a divided job is surveyed by parts of it, and by how many.
// Not in charge of: what they do (analysis/rate/surveyRates.ts), the parts behind them (partPlan.ts).
import type { DivisionPlan } from '../model/divisionPlan.ts'

/** Seconds of sampling by one transcoder from which parts do it: a part and the attempt behind it have to start. */
const SURVEY_ABOVE_SECONDS = 60
/** Of one part. */
const PART_SECONDS = 20
const MAX_SURVEY_PARTS = 16

/** How many; null = the attempt that plans samples by itself. `seconds`: those of sampling by one transcoder. */
export function surveyParts(seconds: number, division: DivisionPlan, maxParts: number): number | null {
  if (seconds <= SURVEY_ABOVE_SECONDS) return null
  const left = maxParts - division.chunks.length - 1
  const parts = Math.min(MAX_SURVEY_PARTS, Math.ceil(seconds / PART_SECONDS), left)
  return parts < 2 ? null : parts
}

/** The parts before the chunks. */
export function surveyPartsOf({ survey }: DivisionPlan): number {
  return survey?.parts ?? 0
}
