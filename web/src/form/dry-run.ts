// In charge of: asking what a body would make, and waiting for the answer.
import type { PublicStatus } from '#contract/status.ts'
import { createJob, isFinal } from '../api.ts'
import { watchJob } from '../live.ts'

export interface DryRun {
  id: number
  status: PublicStatus
}

/** Tells every news of it, the last one with the estimate or the error. */
export async function dryRun(body: unknown, signal: AbortSignal, onNews: (news: DryRun) => void): Promise<void> {
  const { _auto_generated_id_: id } = await createJob(body, true, crypto.randomUUID())
  await new Promise<void>((resolve, reject) => {
    const stop = watchJob(id, {
      onJob: ({ status }) => {
        onNews({ id, status })
        if (status.job_completed) resolve()
      },
      onTrouble: (trouble) => {
        if (isFinal(trouble)) reject(trouble)
      },
    })
    signal.addEventListener('abort', () => {
      stop()
      resolve()
    })
  })
}
