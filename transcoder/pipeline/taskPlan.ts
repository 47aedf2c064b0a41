// In charge of: what a task fixes for all its attempts: its specification and its plan.
// Not in charge of: making the plan (plan/planJob.ts).
import { TASK_PROTOCOL, type RunRequest, type TaskDescription } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../attempt.ts'
import { StaleAttempt } from '../errors.ts'
import { fitsEngine, forEngine, withEngine } from '../plan/planEngine.ts'
import type { Plan } from '#contract/task/plan/plan.ts'

export function requireMatchingTask(task: TaskDescription, request: RunRequest): void {
  if (task.protocol !== TASK_PROTOCOL)
    throw new TaskError(
      'protocol_mismatch',
      `The service uses protocol ${task.protocol}; this transcoder supports ${TASK_PROTOCOL}.`,
    )
  if (task.attempt !== request.attempt) throw new StaleAttempt()
}

export function hasStoredPlan({ plan }: Pick<TaskDescription, 'plan'>): boolean {
  return plan !== null && plan !== undefined
}

/** There is a plan, and it reads the source as one file: every part of a job has to do the same. */
export function followsOneFile(task: TaskDescription): boolean {
  return task.part !== undefined || (hasStoredPlan(task) && readPlan(task.plan)?.reads.kind !== 'pieces')
}

/**
 * The plan of an earlier attempt; null if there is none, or if this transcoder cannot follow it: it was made for an
 * ffmpeg with other features, or by another version of this program. It is then made again: nothing that an earlier
 * attempt encoded is used.
 */
export function storedPlanFor({ engine, log }: Attempt, task: TaskDescription): Plan | null {
  if (!hasStoredPlan(task)) return null
  const plan = readPlan(task.plan)
  if (plan === null) {
    log.info('the plan of another version is made again')
    return null
  }
  // Another build encodes nothing of a divided job (division/dividedPlan.ts).
  const canDivide = plan.division == null || plan.engine?.build === engine.build
  const fits = canDivide && fitsEngine(plan, engine.features)
  if (plan.engine !== undefined && plan.engine.build !== engine.build)
    log.info(fits ? 'the plan of another ffmpeg is followed' : 'the plan of another ffmpeg is made again', {
      planned_with: `${plan.engine.version} (${plan.engine.build})`,
      encodes_with: `${engine.version} (${engine.build})`,
    })
  return fits ? forEngine(plan, engine.features) : null
}

/** The first plan that is stored through the task API is used by all attempts that can carry it out. */
export async function storePlan(
  { taskClient, engine, controller }: Attempt,
  ours: Plan,
  replaces: boolean,
): Promise<Plan> {
  const post = { plan: withEngine(ours, engine), warnings: ours.warnings, ...(replaces ? { replaces } : {}) }
  const plan = readPlan(await taskClient.postPlan(post, controller.signal))
  if (plan === null)
    throw new TaskError('protocol_mismatch', 'The stored plan was made by a different version of the transcoder.')
  if (!fitsEngine(plan, engine.features))
    throw new TaskError('protocol_mismatch', `The stored plan was made for another ffmpeg (${plan.engine?.version}).`)
  return forEngine(plan, engine.features)
}

/** null = made by another version of this program, before an upgrade or during a rollout. */
export function readPlan(value: unknown): Plan | null {
  const plan = value as Partial<Plan> | null
  const files = (plan?.outputs?.length ?? 0) + (plan?.audioFiles?.length ?? 0)
  if (plan?.version !== 3 || !Array.isArray(plan.outputs) || (files === 0 && !plan.packaging && !plan.extracts))
    return null
  return plan as Plan
}
