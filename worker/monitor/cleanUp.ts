// In charge of: when the stored objects of an ended job are removed: in batches, in a second pass for late writes, and
// again after a failure.
// Not in charge of: which objects there are (writeJournal.ts), setting the alarm (jobMonitor.ts).
import { log } from '../log.ts'
import { listBegunParts } from '../db/parts.ts'
import { taskMonitor } from '../scheduler/applyEvent.ts'
import { mapConcurrent } from '../util/mapConcurrent.ts'
import type { WriteJournal, CleanUpPass } from './writeJournal.ts'
import { isTransient, type Sink } from '../storage/objectStore.ts'

/** When the job ended, and how far the removal has come. */
export interface CleanUpState {
  since: number
  pass: CleanUpPass
  tries: number
}

/** Delay before a commit or a removal is tried again; doubled after each failure. */
export const CLEANUP_RETRY_MS = 5000
const MAX_CLEANUP_RETRY_MS = 5 * 60_000
/** By then every PUT that was in flight when the job ended has finished (I8: five minutes after the end). */
const LATE_PASS_DELAY_MS = 2 * 60_000
/** If the store has refused removals for this long, the objects stay. */
const CLEANUP_TIMEOUT_MS = 24 * 3600_000

export function retryBackoffMs(tries: number): number {
  return Math.min(MAX_CLEANUP_RETRY_MS, CLEANUP_RETRY_MS * 2 ** (tries - 1))
}

/** Parts that are cleaned up at the same time. */
const CONCURRENT_PARTS = 6
/** How often the main task asks whether its parts are removed. */
const PARTS_CHECK_MS = 30_000

/**
 * The clean-up of a divided job includes the clean-up of its parts, each by its own monitor: until the last of them has
 * nothing left, the job keeps its credentials.
 * @param own the rest of the main task's own clean-up
 */
export async function cleanUpParts(
  env: Env,
  { over, jobId, task }: { over?: CleanUpState; jobId: string; task: string },
  own: { over: CleanUpState; at: number } | null,
): Promise<{ over: CleanUpState; at: number } | null> {
  const begun = await listBegunParts(env.DB, task)
  const open = await mapConcurrent(begun, CONCURRENT_PARTS, (part) =>
    taskMonitor(env, part)
      .jobEnded()
      .then(
        (isClean) => !isClean,
        (error: unknown) => {
          log.warn('clean-up failed', { task: part, error: String(error) })
          return true
        },
      ),
  )
  if (own !== null || begun.length === 0) return own
  const { since, pass, tries } = over ?? { since: Date.now(), pass: 'end', tries: 0 }
  if (!open.some((isOpen) => isOpen)) {
    // A request of a part may still be storing its record, or an object for the attempt that puts the parts together.
    return pass === 'late' ? null : { over: { since, pass: 'late', tries: 0 }, at: since + LATE_PASS_DELAY_MS }
  }
  if (Date.now() >= since + CLEANUP_TIMEOUT_MS) return null
  log.info('parts are being removed', { job: jobId, parts: open.filter((isOpen) => isOpen).length })
  return { over: { since, pass, tries }, at: Date.now() + PARTS_CHECK_MS }
}

/**
 * Removes one batch of what attempts before `below` (null = all) stored.
 * @returns the new state and when to continue (milliseconds since 1970); null = nothing remains, or the store refuses
 */
export async function cleanUpStep(
  journal: WriteJournal,
  sink: () => Promise<Sink | null>,
  { over: cleanUpState, jobId }: { over?: CleanUpState; jobId: string },
  below: number | null,
): Promise<{ over: CleanUpState; at: number } | null> {
  const { since, pass, tries } = cleanUpState ?? { since: Date.now(), pass: 'end', tries: 0 }
  // The caller that ended the job may ask a second time. The late pass still waits until it is due.
  if (pass === 'late' && Date.now() < since + LATE_PASS_DELAY_MS)
    return { over: { since, pass, tries }, at: since + LATE_PASS_DELAY_MS }
  try {
    // If an upload cannot be aborted, the segments are removed all the same. The error is logged afterwards.
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
    log.warn('removal failed', { job: jobId, pass, error: String(error) })
  }
}
