// In charge of: what a dry run says of the division of a job, and of the time at which its client wants it.
// Not in charge of: the rest of the answer (plan/estimate/estimateJob.ts).
import type { Estimate } from '#contract/task/dryRunEstimate.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { longestChunkSeconds } from './chunkGrid.ts'
import type { DeadlineCheck } from './deadlineCheck.ts'
import { encodedSegments } from './encodedSegments.ts'

export function divisionReports(
  spec: JobSpec,
  plan: Plan,
  deadline: DeadlineCheck | null,
): Pick<Estimate['plan'], 'division' | 'deadline'> {
  return { ...divisionReport(spec, plan), ...deadlineReport(deadline) }
}

function divisionReport({ maxChunkSeconds }: JobSpec, plan: Plan): Pick<Estimate['plan'], 'division'> {
  const { division, packaging } = encodedSegments(plan)
  if (division == null || packaging === null) return {}
  const seconds = longestChunkSeconds(division, packaging)
  return {
    division: {
      chunks: division.chunks.length,
      chunk_seconds: Number(seconds.toFixed(3)),
      chosen_by: maxChunkSeconds == null ? 'prediction' : 'request',
    },
  }
}

function deadlineReport(deadline: DeadlineCheck | null): Pick<Estimate['plan'], 'deadline'> {
  if (deadline === null) return {}
  const { secondsLeft, slots, predictedSeconds, slotsNeeded } = deadline
  return {
    deadline: {
      seconds: secondsLeft,
      predicted_seconds: Number(predictedSeconds.toFixed(1)),
      slots,
      slots_needed: slotsNeeded,
    },
  }
}
