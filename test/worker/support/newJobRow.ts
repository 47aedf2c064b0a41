// In charge of: the row of a job as its creation inserts it, for tests of the ledger.
// Not in charge of: jobs that come in through the API (apiClient.ts).
import type { NewJobRow } from '../../../worker/db/jobs.ts'

export function newJobRow(jobId: string, change: Partial<NewJobRow> = {}): NewJobRow {
  const { now = Date.now() } = change
  return {
    jobId,
    account: 'a',
    config: '{}',
    sealed: '{}',
    warnings: '[]',
    priority: 0,
    now,
    deadlineAt: now + 1e9,
    hurryAt: null,
    retryOf: null,
    webhook: null,
    inputName: 'film.mp4',
    searchText: 'film.mp4',
    maxActive: 10_000,
    maxAffordable: null,
    isUnlisted: false,
    ...change,
  }
}
