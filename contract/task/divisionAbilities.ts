// In charge of: what an attempt may do to divide its job, by what was divided before. The Worker tells it to real attempts,
// and tests to theirs.
import { MAX_JOB_PARTS } from '../limits.ts'
import type { TaskLifecycle } from './lifecycle.ts'
import type { TaskDescription } from './protocol.ts'

type Division = Pick<TaskLifecycle, 'kind' | 'parts'>

/** Whether the attempt plans the job. After a survey, the plan exists. */
export function isPlanning({ kind, parts }: Division): boolean {
  return kind !== 'part' && parts === 0
}

export function divisionAbilities(task: Division): Pick<NonNullable<TaskDescription['accepts']>, 'parts'> {
  return isPlanning(task) ? { parts: MAX_JOB_PARTS } : {}
}
