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

/** The reverse; null = the main task. */
export function partOf(number: number): number | null {
  return number === MAIN_TASK ? null : number - MAIN_TASK - 1
}
