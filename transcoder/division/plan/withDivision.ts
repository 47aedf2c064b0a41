// In charge of: the division of a job in its plan, and the warnings where the job asked for another one.
// Not in charge of: deciding it (planDivision.ts).
import type { Warning } from '#contract/errors.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { longestChunkSeconds } from './chunkGrid.ts'
import { encodedSegments } from './encodedSegments.ts'
import { planDivision, ROUNDING_SECONDS, type DivisionAbilities } from './planDivision.ts'

const FIELD = 'max_chunk_seconds'

/** `reason`: the end of a sentence. */
function notDividedWarning(reason: string): Warning {
  return { code: 'not_divided', field: FIELD, message: `The job is not divided into chunks: ${reason}.` }
}

/** The plan of a divided job for one attempt at all of it. */
export function withoutDivision(plan: Plan, reason: string): Plan {
  return withWarning({ ...plan, division: null }, notDividedWarning(reason))
}

/** `media`: the source that the plan was made for. */
export function withDivision(spec: JobSpec, plan: Plan, media: MediaInfo, abilities: DivisionAbilities): Plan {
  const result = planDivision(spec, plan, media, abilities)
  if (!('division' in result)) {
    return result.left_out === null ? plan : withWarning(plan, notDividedWarning(result.left_out))
  }
  const divided = { ...plan, division: result.division }
  const { packaging } = encodedSegments(divided)
  const longest = packaging === null ? 0 : longestChunkSeconds(result.division, packaging)
  const wanted = spec.maxChunkSeconds ?? null
  if (wanted === null || longest <= wanted + ROUNDING_SECONDS) return divided
  return withWarning(divided, {
    code: 'value_clamped',
    field: FIELD,
    message: `The longest chunk lasts ${Number(longest.toFixed(3))} s instead of ${wanted} s: chunks are whole segments, and a job has at most ${abilities.maxParts} parts.`,
  })
}

function withWarning(plan: Plan, warning: Warning): Plan {
  return { ...plan, warnings: [...plan.warnings, warning] }
}
