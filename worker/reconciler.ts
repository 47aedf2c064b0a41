// In charge of: the last net, every minute: what nobody watches any more is looked at again, what is over is removed.
// Not in charge of: the usual case (monitor alarms, container hooks).
import { aboutPrefix } from './storage/objectKeys.ts'
import { apply, courierOf, monitorOf } from './scheduler/applyEvent.ts'
import { RETENTION_DAYS, UPLOAD_TOKENS } from '#contract/limits.ts'
import {
  deleteOldJobs,
  forgetIdempotency,
  forgetOutputs,
  forgetSecrets,
  listDeletedJobs,
  listExpiredOutputs,
  listOverdueJobs,
} from './db/jobs.ts'
import { forgetShares } from './db/shares.ts'
import { listNeglectedTasks } from './db/tasks.ts'
import { listLateWebhooks } from './db/webhooks.ts'
import { deleteExpiredTokens } from './db/uploadTokens.ts'
import { deleteUpload, listExpiredUploads } from './db/uploads.ts'
import type { StartMessage } from './scheduler/assignSlots.ts'
import { schedule } from './scheduler/assignSlots.ts'
import { deletePrefix, purgeJob } from './jobs/purgeJob.ts'
import { ownPrefix } from './storage/keyBelow.ts'
import { resumable } from './uploads/tus/resumableUpload.ts'

/** A start message unheard of for so long was lost (a restarted local queue forgets its messages). */
const LOST_MESSAGE_MS = 10_000
/** A running task that D1 has not seen change for so long: is its monitor still awake? */
const QUIET_MS = 5 * 60_000
/** A webhook due for so long: its courier was lost. */
const LATE_WEBHOOK_MS = 2 * 60_000
const BATCH = 100
/** Pages of 1,000 objects that one sweep removes: a job may have 50,000. */
const PAGES = 200
const DAY_MS = 86_400_000
/** decisions: credentials are kept sealed 72 h after the end. */
const SECRETS_MS = 3 * DAY_MS

export async function sweep(env: Env): Promise<void> {
  const now = Date.now()
  for (const overdue of await listOverdueJobs(env.DB, now, BATCH)) {
    await apply(env, { id: overdue.task, jobId: jobIdOf(overdue.task) }, { type: 'deadline' })
  }
  const lost: StartMessage[] = []
  for (const task of await listNeglectedTasks(env.DB, now, LOST_MESSAGE_MS, QUIET_MS, BATCH)) {
    if (task.state !== 'starting') {
      await monitorOf(env, task.job_id).look()
    } else if ((task.lease_until ?? 0) < now) {
      const failed = { type: 'start_failed', attempt: task.attempt, reason: 'no_answer' } as const
      await apply(env, { id: task.id, jobId: task.job_id }, failed)
    } else {
      lost.push({ task: task.id, attempt: task.attempt })
    }
  }
  if (lost.length > 0) await env.QUEUE.sendBatch(lost.map((body) => ({ body })))
  await schedule(env)
  for (const jobId of await listLateWebhooks(env.DB, now - LATE_WEBHOOK_MS, BATCH)) {
    await courierOf(env, jobId).wake(jobId)
  }

  for (const upload of await listExpiredUploads(env.DB, now, BATCH)) {
    // A resumable upload has more than its object to remove, and may be ready by now: it knows.
    if (upload.state === 'receiving' && (await resumable(env, upload.number).expire())) continue
    await env.BUCKET.delete(upload.key)
    await deleteUpload(env.DB, upload.account, upload.number)
  }
  await deleteExpiredTokens(env.DB, now, UPLOAD_TOKENS.per_account)
  const pages = { left: PAGES }
  for (const job of await listExpiredOutputs(env.DB, now - RETENTION_DAYS.outputs * DAY_MS, BATCH)) {
    const gone =
      (await deletePrefix(env.BUCKET, ownPrefix(job.account, job.job_id), pages)) &&
      (await deletePrefix(env.BUCKET, aboutPrefix(job.job_id), pages)) &&
      (await deletePrefix(env.BUCKET, `work/${job.job_id}/`, pages))
    if (!gone) break
    await forgetOutputs(env.DB, job.id)
  }
  for (const job of await listDeletedJobs(env.DB, BATCH)) await purgeJob(env, job, pages)
  await deleteOldJobs(env.DB, now - RETENTION_DAYS.jobs * DAY_MS, BATCH)
  await forgetSecrets(env.DB, now - SECRETS_MS)
  await forgetShares(env.DB, now)
  await forgetIdempotency(env.DB, now - DAY_MS)
}

function jobIdOf(task: string): string {
  return task.slice(0, task.lastIndexOf('-'))
}
