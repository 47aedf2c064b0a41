// In charge of: the names of tasks.
// Not in charge of: what a task does (task/lifecycle.ts).

/** The number of the task that each job has. The parts of a divided job have the next numbers. */
export const MAIN_TASK = 0

/** `number`: from 0. */
export function taskIdOf(jobId: string, number: number): string {
  return `${jobId}-${number}`
}

/** The job's backend id, a hyphen and the number of the task in its job. */
export function parseTaskId(id: string): { jobId: string; number: number } {
  const at = id.lastIndexOf('-')
  return { jobId: id.slice(0, at), number: Number(id.slice(at + 1)) }
}

/** The task number of a part, which counts from 0. */
export function partTaskNumber(part: number): number {
  return MAIN_TASK + 1 + part
}

/** A twin has the number of its part, and so much more: above those of all parts, surveys included. */
export const TWIN_TASKS = 1000

/**
 * The number of a twin's only attempt. No other task gets so far within its deadline, so the number of a part and that of an
 * attempt say which of both made something.
 */
export const TWIN_ATTEMPT = 10_000

/** The part that a task makes, also a twin; null = the main task. */
export function partOf(number: number): number | null {
  return number === MAIN_TASK ? null : (number - MAIN_TASK - 1) % TWIN_TASKS
}

/** The twin of a part, by the id of its task. */
export function twinOf(id: string): string {
  const { jobId, number } = parseTaskId(id)
  return taskIdOf(jobId, number + TWIN_TASKS)
}

/** The number under which a task stores objects and logs. */
export function storedNumber(number: number): number {
  const part = partOf(number)
  return part === null ? MAIN_TASK : partTaskNumber(part)
}
