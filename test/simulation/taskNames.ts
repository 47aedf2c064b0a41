// In charge of: the names of tasks, jobs and monitors in the simulation.
// Not in charge of: their form (contract/taskId.ts).
import { MAIN_TASK, parseTaskId, taskIdOf } from '#contract/taskId.ts'

/** A task's id is its job's backend id and a number. */
export function jobOf(task: string): string {
  return task.slice(0, task.lastIndexOf('-'))
}

/** The name of the monitor that watches a task. */
export function monitorOf(task: string): string {
  const { jobId, number } = parseTaskId(task)
  return number === MAIN_TASK ? jobId : task
}

/** Of a job that any of its tasks names. */
export function mainOf(task: string): string {
  return taskIdOf(jobOf(task), MAIN_TASK)
}
