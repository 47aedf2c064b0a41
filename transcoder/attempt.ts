// In charge of: the values that all steps of one run share.
// Not in charge of: the steps (attemptSteps.ts).
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
  taskClient: TaskClient
  loopback: LoopbackServer
  workspace: Workspace
  limiter: TransferLimiter
  progress: ProgressTracker
  /** Aborted with the first reason that ends the run; everything in progress listens to it. */
  controller: AbortController
}

/** What an attempt reports about its end while it runs. */
export interface AttemptOutlook {
  /** Only the report of success to the Worker is left. */
  onCommitting: () => void
  /** Sets the function that predicts how many seconds the attempt still needs; null = unknown. */
  setEstimator: (rest: () => number | null) => void
}
