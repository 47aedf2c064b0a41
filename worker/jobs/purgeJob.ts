// In charge of: removing a job that its owner deleted: own-store objects in batches, then the record with its secrets.
// Whoever stops half way is followed by the sweep.
// Not in charge of: a customer's objects: they are never deleted here.
import { jobFilesPrefix } from '../storage/objectKeys.ts'
import { jobMonitor } from '../scheduler/applyEvent.ts'
import { deleteJob } from '../db/jobs.ts'
import { ownPrefix } from '../storage/keyBelow.ts'

/** While the monitor still aborts uploads in a customer's store, it needs the credentials: for so long at most. */
const MAX_CLEANUP_WAIT_MS = 25 * 3600_000

export interface DeletedJob {
  id: number
  account: string
  job_id: string
  finished_at: number | null
}

/** @returns false when something is left: the next sweep goes on */
export async function purgeJob(env: Env, job: DeletedJob, pageBudget: { left: number }): Promise<boolean> {
  const gone =
    (await deletePrefix(env.BUCKET, ownPrefix(job.account, job.job_id), pageBudget)) &&
    (await deletePrefix(env.BUCKET, jobFilesPrefix(job.job_id), pageBudget)) &&
    (await deletePrefix(env.BUCKET, `work/${job.job_id}/`, pageBudget))
  if (!gone) return false
  const late = Date.now() > (job.finished_at ?? 0) + MAX_CLEANUP_WAIT_MS
  if (!late && !(await jobMonitor(env, job.job_id).isCleanedUp())) return false
  await deleteJob(env.DB, job.id)
  return true
}

/** @returns false when the budget ended before the objects did: the next sweep goes on */
export async function deletePrefix(bucket: R2Bucket, prefix: string, pageBudget: { left: number }): Promise<boolean> {
  while (pageBudget.left > 0) {
    pageBudget.left--
    const page = await bucket.list({ prefix, limit: 1000 })
    if (page.objects.length > 0) await bucket.delete(page.objects.map((object) => object.key))
    if (!page.truncated) return true
  }
  return false
}
