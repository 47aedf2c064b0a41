// In charge of: the latest figures of a job, which never go back.
import type { ProgressPost } from '#contract/task/protocol.ts'

/** Latest figures, never lower than those of an earlier attempt (I4). */
export interface JobProgress extends ProgressPost {
  attempt: number
}

/** What people see never goes back (I4), also when a second attempt starts from nothing. */
export function mergeProgress(before: JobProgress | null, now: JobProgress): JobProgress {
  if (!before) return now
  const stored = storedFraction(before) > storedFraction(now) ? before : now
  return {
    ...now,
    transcoded: Math.max(before.transcoded, now.transcoded),
    bytes_stored: stored.bytes_stored,
    bytes_produced: stored.bytes_produced,
  }
}

function storedFraction(live: JobProgress): number {
  return live.bytes_produced > 0 ? live.bytes_stored / live.bytes_produced : 0
}
