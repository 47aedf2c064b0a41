// In charge of: reading what other parts of the job delivered.
// Not in charge of: the content of a record (division/partRecord.ts).
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../../attempt.ts'
import { AttemptAbort } from '../../errors.ts'

type Reading = Pick<Attempt, 'taskClient' | 'controller'>

/** Records that are read at the same time. */
const PARALLEL = 6

/** The records of so many parts behind the `first`, in their order. */
export async function fetchRecords({ taskClient, controller }: Reading, parts: number, first = 0): Promise<unknown[]> {
  const records = Array.from<unknown>({ length: parts })
  const queue = records.keys()
  const fetchNext = async (): Promise<void> => {
    for (const index of queue) {
      records[index] = await taskClient.fetchPartRecord(first + index, controller.signal)
      if (records[index] === null) throw new TaskError('internal', `Part ${first + index} of the job has no record.`)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, fetchNext))
  return records
}

/** What a part needs of an earlier one. That one is stored before this one starts; otherwise the task is given back. */
export async function requireRecord({ taskClient, controller }: Reading, index: number): Promise<unknown> {
  const record = await taskClient.fetchPartRecord(index, controller.signal)
  if (record === null) throw new AttemptAbort('interrupted', `Another part of the job, number ${index}, is not there.`)
  return record
}
