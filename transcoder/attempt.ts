// In charge of: the values that all steps of one run share.
// Not in charge of: the steps (pipeline/runTask.ts, pipeline/encode.ts).
import type { TaskClient } from './taskApi/taskClient.ts'
import type { Engine } from './ffmpeg/locate.ts'
import type { LoopbackServer } from './source/loopbackServer.ts'
import type { Log } from './log.ts'
import type { ProgressTracker } from './pipeline/progress.ts'
import type { Settings } from './settings.ts'
import type { TransferLimiter } from './upload/transferLimiter.ts'
import type { Workspace } from './workspace.ts'

export interface Attempt {
  engine: Engine
  settings: Settings
  log: Log
  door: TaskClient
  gateway: LoopbackServer
  workspace: Workspace
  lanes: TransferLimiter
  progress: ProgressTracker
  /** Aborted with the first reason that ends the run; everything in progress listens to it. */
  halt: AbortController
}

/** What an attempt reports about its end while it runs. */
export interface AttemptOutlook {
  /** Only the report of success to the Worker is left. */
  ending: () => void
  /** Sets the function that predicts how many seconds the attempt still needs; null = unknown. */
  predict: (rest: () => number | null) => void
}
