// In charge of: the stored plan of a divided job, and what it demands of the attempts that follow it.
// Not in charge of: making it (divideJob.ts), storing it (pipeline/taskPlan.ts).
import type { TaskDescription } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import type { SourceVersion } from '#contract/task/plan/divisionPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { Attempt } from '../attempt.ts'
import { AttemptAbort } from '../errors.ts'
import { readPlan } from '../pipeline/taskPlan.ts'
import { fitsEngine, forEngine } from '../plan/planEngine.ts'
import { withoutDivision } from './plan/withDivision.ts'

/** The plan of a divided job, which is never made again: parts of it are stored. */
export function dividedPlan({ plan: stored }: TaskDescription): Plan {
  const plan = readPlan(stored)
  if (plan?.division == null)
    throw new TaskError(
      'protocol_mismatch',
      'The plan of the divided job was made by a different version of the transcoder.',
    )
  return plan
}

/** For one attempt at all of a divided job. It is not stored: the next attempt finds the same parts. */
export function undividedPlan({ engine }: Attempt, task: TaskDescription, reason: string): Plan {
  const plan = dividedPlan(task)
  if (!fitsEngine(plan, engine.features))
    throw new AttemptAbort('interrupted', 'The job was planned for another build of ffmpeg.')
  return forEngine(withoutDivision(plan, reason), engine.features)
}

/** Each part opens the source by itself: chunks of two versions would be joined without a trace. */
export function requirePlannedSource(plan: Plan, opened: SourceVersion): void {
  const planned = plan.division?.source
  if (planned == null || (planned.size === opened.size && planned.etag === opened.etag)) return
  throw new TaskError('source_changed', 'The source changed while the parts of the job were read.')
}

/**
 * Chunks of one rendition have one header, so another build of ffmpeg, whose encoders may write another one, encodes none
 * of them: the task is given back.
 */
export function requirePlannedBuild({ engine }: Attempt, plan: Plan): void {
  if (plan.engine?.build === engine.build) return
  throw new AttemptAbort('interrupted', 'The other parts of the job are made with another build of ffmpeg.')
}
