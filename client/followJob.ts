// In charge of: reading a job until it has ended, through the short absences of a service that restarts.
import type { JobRead } from '#contract/api/answers.ts'
import { isTransient } from './clientErrors.ts'
import { sleep } from './sleep.ts'

export interface FollowOptions {
  /** Milliseconds between two reads. Default: 1000. */
  pollMs?: number | undefined
  /** Milliseconds for which the service may fail or be unreachable in one go. Default: 30000. */
  silenceMs?: number | undefined
  /** Called with each read of the job. Default: nothing is called. */
  show?: ((job: JobRead) => void) | undefined
  /** Ends the reading; the job goes on. Default: none. */
  signal?: AbortSignal | undefined
}

/** @throws ServiceError at once when the answer will not change; the last failure after `silenceMs` */
export async function follow(
  client: { read: (id: number) => Promise<JobRead> },
  id: number,
  options: FollowOptions = {},
): Promise<JobRead> {
  const { pollMs = 1000, silenceMs = 30_000, show, signal } = options
  if (!(pollMs >= 0 && silenceMs >= 0)) throw new TypeError('pollMs and silenceMs must be numbers of milliseconds.')
  let heardAt = performance.now()
  for (;;) {
    signal?.throwIfAborted()
    try {
      const job = await client.read(id)
      heardAt = performance.now()
      show?.(job)
      if (job.status.job_completed) return job
    } catch (error) {
      if (!isTransient(error) || performance.now() - heardAt > silenceMs) throw error
    }
    await sleep(pollMs, signal)
  }
}
