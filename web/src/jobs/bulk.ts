// In charge of: applying one action to several jobs, one after the other, and its result.
// Not in charge of: asking for confirmation, and showing the result (selection.tsx).
import type { ListedJob } from '#contract/api/answers.ts'
import { cancelJob, deleteJob, retryJob, asError } from '../api/api.ts'
import { idOf, type BulkAction } from './bulkSelection.ts'

export interface BulkResult {
  done: number[]
  failed: { id: number; message: string }[]
}

const deeds: Readonly<Record<BulkAction, (id: number) => Promise<unknown>>> = {
  cancel: cancelJob,
  delete: deleteJob,
  retry: (id) => retryJob(id, crypto.randomUUID()),
}

/** One after the other: a hundred requests at once would be rejected by the rate limit. */
export async function applyToAll(
  deed: BulkAction,
  jobs: readonly ListedJob[],
  onProgress: (count: number) => void,
): Promise<BulkResult> {
  const outcome: BulkResult = { done: [], failed: [] }
  for (const [index, job] of jobs.entries()) {
    const id = idOf(job)
    try {
      await deeds[deed](id)
      outcome.done.push(id)
    } catch (error) {
      outcome.failed.push({ id, message: asError(error).message })
    }
    onProgress(index + 1)
  }
  return outcome
}
