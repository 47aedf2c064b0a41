// In charge of: what an attempt may do to divide its job, by what was divided before. The Worker tells it to real attempts,
// and tests to theirs.
import { MAX_JOB_PARTS } from '../limits.ts'
import { isSurveying, type TaskLifecycle } from './lifecycle.ts'
import type { TaskDescription } from './protocol.ts'

type Division = Pick<TaskLifecycle, 'kind' | 'parts' | 'survey_parts'>

/** It plans the job: at first, or behind a survey. */
export function isPlanning(task: Division): boolean {
  return task.kind !== 'part' && (task.parts === 0 || isSurveying(task))
}

export function divisionAbilities(
  task: Division,
): Pick<NonNullable<TaskDescription['accepts']>, 'parts' | 'surveys' | 'resurveys' | 'mainWork'> {
  if (!isPlanning(task)) return {}
  // The attempt behind a survey uses what that found.
  const surveys = task.parts === 0 ? { surveys: true, resurveys: true } : {}
  return { parts: MAX_JOB_PARTS, mainWork: true, ...surveys }
}
