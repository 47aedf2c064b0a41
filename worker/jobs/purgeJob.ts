// In charge of: removing a job that its owner deleted: objects in the service's own store in batches, then the row with
// its secrets. The reconciler completes a removal that was interrupted.
// Not in charge of: objects in a customer's store, which are never deleted here.
import { jobFilesPrefix } from '../storage/objectKeys.ts'
import { jobMonitor } from '../scheduler/applyEvent.ts'
import { deleteJob } from '../db/jobRetention.ts'
import { ownPrefix } from '../storage/keyBelow.ts'

/** How long the credentials are kept for a monitor that still aborts uploads in a customer's store. */
const MAX_CLEANUP_WAIT_MS = 25 * 3600_000

export interface DeletedJob {
  id: number
  account: string
  job_id: string
  finished_at: number | null
}

/** @returns false when objects remain: the next run of the reconciler continues */
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

/** @returns false when the page budget is used up before all objects are deleted: the next reconciler run continues */
export async function deletePrefix(bucket: R2Bucket, prefix: string, pageBudget: { left: number }): Promise<boolean> {
  while (pageBudget.left > 0) {
    pageBudget.left--
    const page = await bucket.list({ prefix, limit: 1000 })
    if (page.objects.length > 0) await bucket.delete(page.objects.map((object) => object.key))
    if (!page.truncated) return true
  }
  return false
}
