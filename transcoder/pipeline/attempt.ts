// In charge of: what the steps of one run share.
// Not in charge of: the steps (runTask.ts, encode.ts).
import type { Door } from '../taskApi/taskClient.ts'
import type { Engine } from '../ffmpeg/locate.ts'
import type { Gateway } from '../source/loopbackServer.ts'
import type { Log } from '../log.ts'
import type { Progress } from './progress.ts'
import type { Settings } from '../settings.ts'
import type { Lanes } from '../upload/transferLimiter.ts'
import type { Workspace } from '../workspace.ts'

export interface Attempt {
  engine: Engine
  settings: Settings
  log: Log
  door: Door
  gateway: Gateway
  workspace: Workspace
  lanes: Lanes
  progress: Progress
  /** Aborted with the first reason that ends the run; everything under way listens to it. */
  halt: AbortController
}
