// In charge of: reading a job until it has ended, through the short absences of a service that restarts.
import { setTimeout as pause } from 'node:timers/promises'
import type { JobRead } from '#contract/answers.ts'
import { isPassing, type Client } from './client.ts'

export interface FollowOptions {
  pollMs: number
  /** How long the service may be away in one go. */
  silenceMs: number
  show: (job: JobRead) => void
  signal?: AbortSignal
}

/** @throws ServiceError at once when it will not be another answer; what the last try met after `silenceMs` */
export async function follow(client: Client, id: number, options: FollowOptions): Promise<JobRead> {
  let heardAt = performance.now()
  for (;;) {
    try {
      const job = await client.read(id)
      heardAt = performance.now()
      options.show(job)
      if (job.status.job_completed) return job
    } catch (error) {
      if (!isPassing(error) || performance.now() - heardAt > options.silenceMs) throw error
    }
    await pause(options.pollMs, null, { signal: options.signal })
  }
}
