// In charge of: what the steps of one run share.
// Not in charge of: the steps (run.ts, encode.ts).
import type { Door } from './door.ts'
import type { Engine } from './ffmpeg/locate.ts'
import type { Gateway } from './gateway.ts'
import type { Log } from './log.ts'
import type { Progress } from './report.ts'
import type { Settings } from './settings.ts'
import type { Lanes } from './upload/lanes.ts'
import type { Workspace } from './workspace.ts'

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
