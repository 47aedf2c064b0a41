// In charge of: polling a job until it has ended, tolerating short outages while the service restarts.
import type { JobRead } from '#contract/api/answers.ts'
import { isTransient } from './clientErrors.ts'
import { sleep } from './sleep.ts'

export interface FollowOptions {
  /** Milliseconds between two reads. Default: 1000. */
  pollMs?: number | undefined
  /** Longest outage of the service that is tolerated, in milliseconds. Default: 30000. */
  silenceMs?: number | undefined
  /** Called with each read of the job. Default: none. */
  show?: ((job: JobRead) => void) | undefined
  /** Stops polling; the job continues. Default: none. */
  signal?: AbortSignal | undefined
}

/** @throws ServiceError at once if a retry cannot help; otherwise the last error after `silenceMs` */
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
