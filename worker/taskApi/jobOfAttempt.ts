// In charge of: the job of an attempt that may read its source and the other files of the client.
// Not in charge of: whether its token is genuine (taskRoutes.ts), writing (the monitor, monitor/currentAttempt.ts).
import { terminal } from '#contract/task/lifecycle.ts'
import { findJobByJobId, type Job } from '../db/jobs.ts'
import { findTask } from '../db/tasks.ts'
import { staleAttempt } from '../http/requestError.ts'
import type { TaskEnv } from './taskContext.ts'

/** Refuses an attempt that is not its task's current one, and every attempt once its task or its job has ended. */
export async function jobOfAttempt(env: Env, { jobId, task, attempt }: TaskEnv['Variables']): Promise<Job> {
  const job = await findJobByJobId(env.DB, jobId)
  if (!job || terminal[job.task_state]) throw staleAttempt()
  if (task === job.task) {
    if (job.attempt !== attempt) throw staleAttempt()
    return job
  }
  const part = await findTask(env.DB, task)
  if (part?.main !== job.task || terminal[part.state] || part.attempt !== attempt) throw staleAttempt()
  return job
}
