// In charge of: an input that can be read: its address on this machine and what was probed.
// Not in charge of: opening it (openInputs.ts).
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Timeline } from '../../plan/planContext.ts'
import type { LoopbackServer } from '../../source/loopbackServer.ts'

export interface OpenInput {
  loopback: LoopbackServer
  media: MediaInfo
  /** Of `media`, as a job of its own. */
  timeline: Timeline
  sizeBytes: number | null
  seekable: boolean
}
