// In charge of: what is kept about a job in the service's own store, whatever store its outputs go to: where it lies. Its
// objects go with the job's outputs (reconciler.ts), or with the job (purgeJob.ts).
// Not in charge of: what is in them (taskApi/receiveReports.ts).

/** Not below `work/`: that is removed as soon as the job ends. */
export function jobFilesPrefix(jobId: string): string {
  return `about/${jobId}/`
}

/** Of an attempt's own, so that no late request replaces what a later attempt stored. */
export function posterKey(jobId: string, attempt: number): string {
  return `${jobFilesPrefix(jobId)}poster-${attempt}.jpg`
}

export function jobLogPrefix(jobId: string): string {
  return `${jobFilesPrefix(jobId)}log-`
}

/** In the order of attempts. */
export function jobLogKey(jobId: string, attempt: number): string {
  return `${jobLogPrefix(jobId)}${String(attempt).padStart(6, '0')}.json`
}
