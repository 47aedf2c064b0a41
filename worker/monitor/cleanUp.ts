// In charge of: the pace at which what an ended job left is removed: a batch at a time, all of it once more for late
// writes, again after a failure.
// Not in charge of: what there is to remove (writeJournal.ts), the alarm (jobMonitor.ts).
import type { Journal, Pass } from './writeJournal.ts'
import type { Sink } from '../storage/objectStore.ts'
import { isPassing } from '../storage/objectStore.ts'

/** The job ended then; how far the removal is. */
export interface Over {
  since: number
  pass: Pass
  tries: number
}

/** Before the next try of a commit, or of a removal: doubled each time. */
export const RETRY_MS = 5000
const MAX_RETRY_MS = 5 * 60_000
/** A PUT that was in flight when the job ended is over by then (I8: five minutes after the end). */
const LATE_MS = 2 * 60_000
/** A store that refuses for so long to remove anything keeps it. */
const GIVE_UP_MS = 24 * 3600_000

export function backOff(tries: number): number {
  return Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (tries - 1))
}

/**
 * One bounded step over what attempts before `below` (null = all) left.
 * @returns where it stands and when to come again (milliseconds since 1970); null = nothing is left, or the store keeps it
 */
export async function removeLeft(
  journal: Journal,
  sink: () => Promise<Sink | null>,
  { over, jobId }: { over?: Over; jobId: string },
  below: number | null,
): Promise<{ over: Over; at: number } | null> {
  const { since, pass, tries } = over ?? { since: Date.now(), pass: 'end', tries: 0 }
  // Asked a second time by whoever ended the job: the late pass waits for its time nevertheless.
  if (pass === 'late' && Date.now() < since + LATE_MS) return { over: { since, pass, tries }, at: since + LATE_MS }
  try {
    // An upload that cannot be aborted is no reason to leave the segments: it is told after they are gone.
    const refused = await journal.abortUploads(sink, null).then(
      () => null,
      (error: unknown) => ({ error }),
    )
    let next: { over: Over; at: number } | null = null
    if (await journal.hasObjects(below)) {
      const done = await journal.discard(sink, pass, below)
      if (!done) return { over: { since, pass, tries: 0 }, at: Date.now() }
      if (pass !== 'late') next = { over: { since, pass: 'late', tries: 0 }, at: since + LATE_MS }
    }
    if (refused !== null && isPassing(refused.error)) throw refused.error
    if (refused !== null) tell(refused.error)
    return next
  } catch (error) {
    tell(error)
    if (!isPassing(error) || Date.now() >= since + GIVE_UP_MS) return null
    return { over: { since, pass, tries: tries + 1 }, at: Date.now() + backOff(tries + 1) }
  }

  function tell(error: unknown): void {
    console.error(JSON.stringify({ level: 'warn', msg: 'removal failed', job: jobId, pass, error: String(error) }))
  }
}
