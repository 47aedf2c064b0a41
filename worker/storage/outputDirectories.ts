// In charge of: the directories of the attempts that made a job's outputs, with those of parts.
// Not in charge of: their names (contract/job/paths/outputNames.ts), which objects may be in them
// (contract/task/allowedOutputs.ts).
import { attemptDirectory } from '#contract/job/paths/outputNames.ts'
import { partTaskNumber } from '#contract/taskId.ts'
import type { Job } from '../db/jobs.ts'
import { listPartStates } from '../db/parts.ts'

/** The directory of the main task's attempt, and for each part the directory of the attempt that delivered it. */
export async function attemptDirectories(
  db: D1Database,
  job: Pick<Job, 'job_id' | 'attempt' | 'parts' | 'task'>,
): Promise<string[]> {
  const parts = job.parts === 0 ? [] : await listPartStates(db, job.task)
  return [
    attemptDirectory(job.job_id, job.attempt),
    ...parts.flatMap(({ state, attempt }, index) =>
      state === 'completed' ? [attemptDirectory(job.job_id, attempt, partTaskNumber(index))] : [],
    ),
  ]
}
