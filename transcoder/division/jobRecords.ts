// In charge of: reading what other parts of the job delivered.
// Not in charge of: the content of a record (division/partRecord.ts).
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../attempt.ts'
import { AttemptAbort } from '../errors.ts'

type Reading = Pick<Attempt, 'taskClient' | 'controller'>

/** Records that are read at the same time. */
const PARALLEL = 6

/** The records of `parts` parts from number `first` on, in their order. */
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

/** The record of another part, which is stored before this part starts. If it is not there, the task is given back. */
export async function requireRecord({ taskClient, controller }: Reading, index: number): Promise<unknown> {
  const record = await taskClient.fetchPartRecord(index, controller.signal)
  if (record === null) throw new AttemptAbort('interrupted', `Another part of the job, number ${index}, is not there.`)
  return record
}
