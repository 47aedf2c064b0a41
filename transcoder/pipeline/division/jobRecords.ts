// In charge of: reading what other parts of the job delivered.
// Not in charge of: the content of a record (division/partRecord.ts).
import { setTimeout as pause } from 'node:timers/promises'
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../../attempt.ts'
import { AttemptAbort } from '../../errors.ts'

type Reading = Pick<Attempt, 'taskClient' | 'controller'>

/** Records that are read at the same time. */
const PARALLEL = 6
/**
 * How long a part waits for another one. That one may be queued behind this one, so the wait must end; but what this one
 * encoded is lost with it.
 */
export const RECORD_WAIT_MS = 10 * 60_000
const RECORD_POLL_MS = 2000

/** The records of all parts, by index. */
export async function fetchRecords({ taskClient, controller }: Reading, parts: number): Promise<unknown[]> {
  const records = Array.from<unknown>({ length: parts })
  const queue = records.keys()
  const fetchNext = async (): Promise<void> => {
    for (const index of queue) {
      records[index] = await taskClient.fetchPartRecord(index, controller.signal)
      if (records[index] === null) throw new TaskError('internal', `Part ${index} of the job has no record.`)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, fetchNext))
  return records
}

/** Waits until the part has delivered. Gives the task back if that takes too long. */
export async function waitForRecord(
  { taskClient, controller }: Reading,
  index: number,
  { longestMs, pollMs }: { longestMs: number; pollMs: number } = { longestMs: RECORD_WAIT_MS, pollMs: RECORD_POLL_MS },
): Promise<unknown> {
  const began = performance.now()
  for (;;) {
    const record = await taskClient.fetchPartRecord(index, controller.signal)
    if (record !== null) return record
    if (performance.now() - began + pollMs > longestMs)
      throw new AttemptAbort('interrupted', `Another part of the job, number ${index}, is not there yet.`)
    await pause(pollMs, undefined, { signal: controller.signal })
  }
}
