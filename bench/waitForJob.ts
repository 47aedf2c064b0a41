// In charge of: following one job to its end, and the duration of each phase.
import { setTimeout as pause } from 'node:timers/promises'
import type { PublicStatus } from '#contract/api/status.ts'
import type { Created } from '#contract/api/answers.ts'
import type { Client } from '../client/nodeClient.ts'

const POLL_MS = 200
/** Poll interval in the middle of an encode: each poll costs about 15 ms of the CPU time that is measured. */
const IDLE_POLL_MS = 1000
const NEARLY_DONE_PERCENT = 97

/** @throws Error if the job does not succeed */
export async function followJob(
  client: Client,
  { _auto_generated_id_: id }: Created,
): Promise<{ status: PublicStatus; phases: string }> {
  const seen: { phase: string; at: number }[] = []
  for (;;) {
    const { status } = await client.read(id)
    if (seen.at(-1)?.phase !== status.phase) seen.push({ phase: status.phase, at: performance.now() })
    if (status.job_completed) {
      if (status.error) throw new Error(`Job ${id} failed: ${status.error.code}: ${status.error.message}`)
      return { status, phases: phases(seen) }
    }
    const encoding = status.phase === 'transcoding' && Number(status.tcode_progress) < NEARLY_DONE_PERCENT
    await pause(encoding ? IDLE_POLL_MS : POLL_MS)
  }
}

function phases(seen: readonly { phase: string; at: number }[]): string {
  return seen
    .slice(0, -1)
    .map(({ phase, at }, index) => `${phase} ${(((seen[index + 1]?.at ?? at) - at) / 1000).toFixed(1)}`)
    .join(', ')
}
