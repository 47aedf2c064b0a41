// In charge of: whether a job is predicted to end by the time that its client wants, and how many transcoders that takes.
// Not in charge of: the division that follows from that time (deadlineDivision.ts).
import type { Warning } from '#contract/errors.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { predictTime } from '../../plan/estimate/costModel.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { dividedSeconds, type Deadline } from './deadlineDivision.ts'
import { planDivision, type DivisionAbilities } from './planDivision.ts'

export interface DeadlineCheck extends Deadline {
  /** Predicted time of the job with all transcoders that exist. */
  predictedSeconds: number
  /** How many transcoders the job needs at the same time to end in time; null = no number is enough. */
  slotsNeeded: number | null
}

/** `plan`: divided, if it is to be. null = the job names no time, or the length of its source is unknown. */
export function checkDeadline(
  spec: JobSpec,
  plan: Plan,
  media: MediaInfo,
  abilities: DivisionAbilities,
): DeadlineCheck | null {
  const { automatic } = abilities
  const deadline = automatic?.deadline
  const one = automatic === undefined ? null : predictTime(plan, media, automatic.vcpus)
  if (automatic === undefined || deadline == null || one === null) return null
  const { secondsLeft, slots } = deadline
  const secondsWith = (made: Plan, count: number) =>
    dividedSeconds(made, media, automatic.vcpus, count) ?? one.wall.likely
  const predictedSeconds = secondsWith(plan, slots)
  const fewest = (made: Plan): number | null => {
    const most = made.division?.chunks.length ?? 1
    const counts = Array.from({ length: most }, (_, index) => index + 1)
    return counts.find((count) => secondsWith(made, count) <= secondsLeft) ?? null
  }
  return {
    ...deadline,
    predictedSeconds,
    slotsNeeded: fewest(plan) ?? fewest(withMoreSlots(spec, plan, media, abilities)),
  }
}

/** The plan of the job as it would be divided if there were more transcoders. */
function withMoreSlots(spec: JobSpec, plan: Plan, media: MediaInfo, abilities: DivisionAbilities): Plan {
  const { automatic, maxParts } = abilities
  if (plan.division != null || automatic?.deadline == null || maxParts === null) return plan
  const more = { ...automatic, deadline: { ...automatic.deadline, slots: maxParts } }
  const result = planDivision(spec, plan, media, { ...abilities, automatic: more })
  return 'division' in result ? { ...plan, division: result.division } : plan
}

export function deadlineWarning({ secondsLeft, slots, predictedSeconds, slotsNeeded }: DeadlineCheck): Warning | null {
  if (slotsNeeded !== null && slotsNeeded <= slots) return null
  const all = slots === 1 ? 'the only transcoder' : `all ${slots} transcoders`
  const needed =
    slotsNeeded === null
      ? 'No number of transcoders is enough'
      : `It would take ${slotsNeeded} of them at the same time`
  return {
    code: 'deadline_unlikely',
    field: 'deadline_seconds',
    message: `The job is predicted to take ${Math.ceil(predictedSeconds)} s of ${all}, and ${Math.floor(secondsLeft)} s are left until its deadline_seconds are over. ${needed}.`,
  }
}
