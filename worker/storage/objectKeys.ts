// In charge of: the keys of a job's poster and logs in the service's own store, wherever its outputs go. They are
// deleted with the job's outputs (reconciler.ts), or with the job (purgeJob.ts).
// Not in charge of: their content (taskApi/receiveReports.ts).

/** Not below `work/`, which is deleted as soon as the job ends. */
export function jobFilesPrefix(jobId: string): string {
  return `about/${jobId}/`
}

/** One per attempt, so that a late request cannot replace what a later attempt stored. */
export function posterKey(jobId: string, attempt: number): string {
  return `${jobFilesPrefix(jobId)}poster-${attempt}.jpg`
}

export function jobLogPrefix(jobId: string): string {
  return `${jobFilesPrefix(jobId)}log-`
}

/** Zero-padded, so that keys sort by attempt. */
export function jobLogKey(jobId: string, attempt: number): string {
  return `${jobLogPrefix(jobId)}${String(attempt).padStart(6, '0')}.json`
}
