// In charge of: the cron run of every minute: finds tasks, jobs and webhooks that nothing else watches any more, and
// removes expired data.
// Not in charge of: the normal case (alarms of monitors, events of containers).
import { settings } from './env.ts'
import { log } from './log.ts'
import { jobFilesPrefix } from './storage/objectKeys.ts'
import {
  applyEvent,
  checkMain,
  endParts,
  webhookScheduler,
  taskMonitor,
  scheduleSpendNotices,
} from './scheduler/applyEvent.ts'
import { parseTaskId } from '#contract/taskId.ts'
import { FORGOTTEN_MS } from '#contract/task/registration.ts'
import { UPLOAD_TOKENS } from '#contract/limits.ts'
import {
  deleteOldJobs,
  deleteExpiredIdempotencyKeys,
  deleteUnlistedJobs,
  clearOutputs,
  clearExpiredSecrets,
  listDeletedJobs,
  listExpiredOutputs,
} from './db/jobRetention.ts'
import { listOverdueJobs } from './db/jobs.ts'
import { deleteExpiredShares } from './db/shares.ts'
import { listOrphanedParts, listSettledMains } from './db/parts.ts'
import { listUnattendedTasks } from './db/tasks.ts'
import { listAccountsWithOverdueNotices } from './db/spendNotices.ts'
import { deleteSilentTranscoders } from './db/transcoders.ts'
import { listOverdueWebhooks } from './db/webhooks.ts'
import { deleteExpiredUploadTokens } from './db/uploadTokens.ts'
import { deleteUpload, listExpiredUploads } from './db/uploads.ts'
import { assignSlots, type StartMessage } from './scheduler/assignSlots.ts'
import { UNLISTED_MS } from './jobs/createJob.ts'
import { deletePrefix, purgeJob } from './jobs/purgeJob.ts'
import { ownPrefix } from './storage/keyBelow.ts'
import { resumableUpload } from './uploads/tus/resumableUpload.ts'

/** After this time a start message counts as lost (a restarted local queue forgets its messages). */
const MESSAGE_TIMEOUT_MS = 10_000
/** A running task is unchanged in D1 for this long: the reconciler checks that its monitor has an alarm. */
const MONITOR_SILENCE_MS = 5 * 60_000
/** A webhook is overdue for this long: the alarm of its scheduler was lost. */
const WEBHOOK_OVERDUE_MS = 2 * 60_000
const BATCH = 100
/**
 * Rows that one statement of a run changes: more than any service creates between two runs. After a long stop everything
 * expires at once, and the database answers nobody meanwhile: 87,000 jobs took 8 s.
 */
const ROWS = 5_000
/**
 * A run begins to remove the objects of no further job after this time. On own servers the store is in the thread that
 * answers requests, and a list reads all of its keys (0.2 s for 200,000).
 */
const REMOVAL_MS = { containers: 20_000, own: 2_000 }
/** Pages of 1,000 objects that one run deletes: a job may have 50,000 objects. */
const MAX_DELETE_PAGES = 200
const DAY_MS = 86_400_000
/** Design decision: credentials are kept sealed for 72 h after the end. */
const SECRETS_RETENTION_MS = 3 * DAY_MS

export async function reconcile(
  env: Env,
  removalMs = settings(env).transcoders === 'containers' ? REMOVAL_MS.containers : REMOVAL_MS.own,
): Promise<void> {
  const now = Date.now()
  const { retentionDays, transcoders } = settings(env)
  for (const overdue of await listOverdueJobs(env.DB, now, BATCH)) {
    await applyEvent(env, { id: overdue.task, jobId: parseTaskId(overdue.task).jobId }, { type: 'deadline' })
  }
  for (const main of await listSettledMains(env.DB, BATCH)) await checkMain(env, { id: main.id, jobId: main.job_id })
  await endParts(env, await listOrphanedParts(env.DB, BATCH))
  const undelivered: StartMessage[] = []
  for (const task of await listUnattendedTasks(env.DB, now, MESSAGE_TIMEOUT_MS, MONITOR_SILENCE_MS, BATCH)) {
    if (task.state !== 'starting') {
      await taskMonitor(env, task.id).ensureAlarm()
    } else if ((task.lease_until ?? 0) < now) {
      const failed = { type: 'start_failed', attempt: task.attempt, reason: 'no_answer' } as const
      await applyEvent(env, { id: task.id, jobId: task.job_id }, failed)
    } else {
      undelivered.push({ task: task.id, attempt: task.attempt })
    }
  }
  if (transcoders === 'registered') await forgetTranscoders(env, now)
  if (undelivered.length > 0) await env.QUEUE.sendBatch(undelivered.map((body) => ({ body })))
  await assignSlots(env)
  for (const jobId of await listOverdueWebhooks(env.DB, now - WEBHOOK_OVERDUE_MS, BATCH)) {
    await webhookScheduler(env, jobId).schedule(jobId)
  }
  for (const account of await listAccountsWithOverdueNotices(env.DB, now - WEBHOOK_OVERDUE_MS, BATCH)) {
    await scheduleSpendNotices(env, account)
  }

  for (const upload of await listExpiredUploads(env.DB, now, BATCH)) {
    // A resumable upload has more data than its object, and may be complete by now: its Durable Object decides.
    if (upload.state === 'receiving' && (await resumableUpload(env, upload.number).expire())) continue
    await env.BUCKET.delete(upload.key)
    await deleteUpload(env.DB, upload.account, upload.number)
  }
  await deleteExpiredUploadTokens(env.DB, now, UPLOAD_TOKENS.per_account)
  const pages = { left: MAX_DELETE_PAGES }
  const removeUntil = Date.now() + removalMs
  for (const job of await listExpiredOutputs(env.DB, now - retentionDays.outputs * DAY_MS, BATCH)) {
    const gone =
      (await deletePrefix(env.BUCKET, ownPrefix(job.account, job.job_id), pages)) &&
      (await deletePrefix(env.BUCKET, jobFilesPrefix(job.job_id), pages)) &&
      (await deletePrefix(env.BUCKET, `work/${job.job_id}/`, pages))
    if (!gone) break
    await clearOutputs(env.DB, job.id)
    if (Date.now() > removeUntil) break
  }
  await deleteUnlistedJobs(env.DB, now - UNLISTED_MS, now, ROWS)
  for (const job of await listDeletedJobs(env.DB, BATCH)) {
    await purgeJob(env, job, pages)
    if (Date.now() > removeUntil) break
  }
  await deleteOldJobs(env.DB, now - retentionDays.jobs * DAY_MS, BATCH)
  await clearExpiredSecrets(env.DB, now - SECRETS_RETENTION_MS, ROWS)
  await deleteExpiredShares(env.DB, now, ROWS)
  await deleteExpiredIdempotencyKeys(env.DB, now - DAY_MS, ROWS)
}

async function forgetTranscoders(env: Env, now: number): Promise<void> {
  for (const id of await deleteSilentTranscoders(env.DB, now - FORGOTTEN_MS))
    log.warn('transcoder forgotten', { transcoder: id })
}
