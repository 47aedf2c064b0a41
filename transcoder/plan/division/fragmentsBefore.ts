// In charge of: how many movie fragments the chunks before a chunk have.
// Not in charge of: writing them (segmenter/cutters/cmafVideoCutter.ts, chunkEndCutter.ts).
import { chunkFrames } from '../model/partFrames.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

/**
 * One for each GOP, and one for the last frame of each chunk of a constant bitrate, whose size is known after the others
 * are stored. Fragments are numbered without gaps over the whole output: dash.js takes a gap for a discontinuity, and drops
 * CEA-608 captions that lie over it. 0 = the plan makes no chunk.
 */
export function fragmentsBefore(plan: Pick<Plan, 'part' | 'packaging'>, video: VideoPlan): number {
  const range = chunkFrames(plan, video.frameRate)
  if (range === null || plan.part?.kind !== 'chunk') return 0
  const { gopFrames, mode, spliceFrames } = video
  const ofGrid = Math.ceil(range.first / gopFrames)
  const ofSplices = new Set(spliceFrames.filter((frame) => frame < range.first && frame % gopFrames !== 0)).size
  const ofEnds = mode === 'cbr' && gopFrames > 1 ? plan.part.chunk : 0
  return ofGrid + ofSplices + ofEnds
}
