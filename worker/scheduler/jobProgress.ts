// In charge of: merging progress reports of a job so that the values never decrease.
import type { ProgressPost } from '#contract/task/protocol.ts'

/** Latest progress, never lower than the progress of an earlier attempt (I4). */
export interface JobProgress extends ProgressPost {
  attempt: number
  /** What this attempt alone has encoded, 0…1. */
  reached: number
}

/** Reported progress never decreases (I4), even when a second attempt starts from zero. */
export function mergeProgress(before: JobProgress | null, now: Omit<JobProgress, 'reached'>): JobProgress {
  if (!before) return { ...now, reached: now.transcoded }
  const stored = storedFraction(before) > storedFraction(now) ? before : now
  return {
    ...now,
    reached: Math.max(now.transcoded, before.attempt === now.attempt ? before.reached : 0),
    transcoded: Math.max(before.transcoded, now.transcoded),
    bytes_stored: stored.bytes_stored,
    bytes_produced: stored.bytes_produced,
  }
}

function storedFraction(live: ProgressPost): number {
  return live.bytes_produced > 0 ? live.bytes_stored / live.bytes_produced : 0
}
