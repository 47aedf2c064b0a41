// In charge of: the pace at which what an ended job left is removed: a batch at a time, all of it once more for late
// writes, again after a failure.
// Not in charge of: what there is to remove (writeJournal.ts), the alarm (jobMonitor.ts).
import type { WriteJournal, CleanUpPass } from './writeJournal.ts'
import type { Sink } from '../storage/objectStore.ts'
import { isTransient } from '../storage/objectStore.ts'

/** The job ended then; how far the removal is. */
export interface CleanUpState {
  since: number
  pass: CleanUpPass
  tries: number
}

/** Before the next try of a commit, or of a removal: doubled each time. */
export const CLEANUP_RETRY_MS = 5000
const MAX_CLEANUP_RETRY_MS = 5 * 60_000
/** A PUT that was in flight when the job ended is over by then (I8: five minutes after the end). */
const LATE_PASS_DELAY_MS = 2 * 60_000
/** A store that refuses for so long to remove anything keeps it. */
const CLEANUP_TIMEOUT_MS = 24 * 3600_000

export function retryBackoffMs(tries: number): number {
  return Math.min(MAX_CLEANUP_RETRY_MS, CLEANUP_RETRY_MS * 2 ** (tries - 1))
}

/**
 * One bounded step over what attempts before `below` (null = all) left.
 * @returns where it stands and when to come again (milliseconds since 1970); null = nothing is left, or the store keeps it
 */
export async function cleanUpStep(
  journal: WriteJournal,
  sink: () => Promise<Sink | null>,
  { over: cleanUpState, jobId }: { over?: CleanUpState; jobId: string },
  below: number | null,
): Promise<{ over: CleanUpState; at: number } | null> {
  const { since, pass, tries } = cleanUpState ?? { since: Date.now(), pass: 'end', tries: 0 }
  // Asked a second time by whoever ended the job: the late pass waits for its time nevertheless.
  if (pass === 'late' && Date.now() < since + LATE_PASS_DELAY_MS)
    return { over: { since, pass, tries }, at: since + LATE_PASS_DELAY_MS }
  try {
    // An upload that cannot be aborted is no reason to leave the segments: it is told after they are gone.
    const refused = await journal.abortUploads(sink, null).then(
      () => null,
      (error: unknown) => ({ error }),
    )
    let next: { over: CleanUpState; at: number } | null = null
    if (await journal.hasObjects(below)) {
      const done = await journal.deleteBatch(sink, pass, below)
      if (!done) return { over: { since, pass, tries: 0 }, at: Date.now() }
      if (pass !== 'late') next = { over: { since, pass: 'late', tries: 0 }, at: since + LATE_PASS_DELAY_MS }
    }
    if (refused !== null && isTransient(refused.error)) throw refused.error
    if (refused !== null) logFailure(refused.error)
    return next
  } catch (error) {
    logFailure(error)
    if (!isTransient(error) || Date.now() >= since + CLEANUP_TIMEOUT_MS) return null
    return { over: { since, pass, tries: tries + 1 }, at: Date.now() + retryBackoffMs(tries + 1) }
  }

  function logFailure(error: unknown): void {
    console.error(JSON.stringify({ level: 'warn', msg: 'removal failed', job: jobId, pass, error: String(error) }))
  }
}
