// In charge of: what is said of a planted bug, and the files that most of them are planted in.
// Not in charge of: the bugs (the other files here), applying them (test/node/harness/simulation.test.ts).

export interface Planted {
  name: string
  file: string
  /** Stands exactly once in the file. */
  find: string
  replaceWith: string
  /** A seed that finds it, or one shortly before. 1, where it is not rare. */
  from?: number
  /** It must be found within so many. */
  seeds: number
  finds: RegExp
}

export const lifecycle = 'contract/task/lifecycle.ts'
export const tasks = 'worker/db/tasks.ts'
export const parts = 'worker/db/parts.ts'
export const monitor = 'worker/monitor/jobMonitor.ts'
