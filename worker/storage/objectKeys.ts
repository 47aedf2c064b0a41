// In charge of: the keys of a job's poster and logs in the service's own store, wherever its outputs go. They are
// deleted with the job's outputs (reconciler.ts), or with the job (purgeJob.ts).
// Not in charge of: their content (taskApi/receiveReports.ts).
import { MAIN_TASK } from '#contract/taskId.ts'

/** Not below `work/`, which is deleted as soon as the job ends. */
export function jobFilesPrefix(jobId: string): string {
  return `about/${jobId}/`
}

/** One per attempt, so that a late request cannot replace what a later attempt stored. */
export function posterKey(jobId: string, attempt: number): string {
  return `${jobFilesPrefix(jobId)}poster-${attempt}.jpg`
}

/** Prefix of the logs of one task; `task`: its number in the job. */
export function logPrefix(jobId: string, task: number): string {
  return `${jobFilesPrefix(jobId)}${task === MAIN_TASK ? '' : `part-${task}/`}log-`
}

/** Zero-padded, so that keys sort by attempt. */
export function logKey(jobId: string, task: number, attempt: number): string {
  return `${logPrefix(jobId, task)}${String(attempt).padStart(6, '0')}.json`
}
