// In charge of: the tasks of a divided job: taking samples, making a part, dividing after the samples, putting the parts
// together.
// Not in charge of: dividing a job at first (divideJob.ts), making all of it after all (attemptSteps.ts).
import type { TaskDescription } from '#contract/task/protocol.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { Attempt } from '../attempt.ts'
import type { Surroundings } from '../pipeline/openTask.ts'
import type { AttemptResult } from '../pipeline/reportResult.ts'
import { undividedPlan } from './dividedPlan.ts'
import { joinParts } from './joinParts.ts'
import { makePart } from './makePart.ts'
import { divideSurveyed } from './survey.ts'
import { UnlikeChunks } from './unlikeChunks.ts'

/** One attempt has to make the whole job, with this plan. */
export interface Undivided {
  kind: 'undivided'
  plan: Plan
}

/** null = the job is not divided, or not yet. */
export async function runPartTask(
  attempt: Attempt,
  task: TaskDescription,
  surroundings: Surroundings,
): Promise<AttemptResult | Undivided | null> {
  const { assemble, surveyed, part } = task
  if (assemble !== undefined) return joinOrMake(attempt, task, surroundings, assemble)
  if (surveyed !== undefined)
    return { kind: 'divide', post: await divideSurveyed(attempt, task, surroundings, surveyed.parts) }
  if (part !== undefined) return { kind: 'deliver', post: await makePart(attempt, task, surroundings, part.index) }
  return null
}

async function joinOrMake(
  attempt: Attempt,
  task: TaskDescription,
  surroundings: Surroundings,
  parts: { parts: number; first?: number },
): Promise<AttemptResult | Undivided> {
  try {
    return { kind: 'finish', post: await joinParts(attempt, task, surroundings, parts) }
  } catch (error) {
    if (!(error instanceof UnlikeChunks)) throw error
    attempt.log.warn('the parts of the job do not fit together', { reason: error.message })
    return { kind: 'undivided', plan: undividedPlan(attempt, task, error.message) }
  }
}
