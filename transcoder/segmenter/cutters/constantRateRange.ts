// In charge of: which chunks of a constant bitrate get another first access unit, and which another end.
// Not in charge of: making them (rangeStartCutter.ts, rangeEndCutter.ts).
import { chunkEnd, ticksBefore } from '../../plan/video/rangeBuffer.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { ChunkEndCutter } from './rangeEndCutter.ts'
import { ChunkStartCutter } from './rangeStartCutter.ts'
import type { Cutter } from './cutter.ts'

interface ConstantRateChunk {
  cutter: Cutter
  /** As ChunkEndCutter.overrun. */
  overrun: () => number
}

/** Wraps the cutter of a chunk of a constant bitrate. Every other stream keeps its cutter. `plan`: of the part. */
export function constantRateChunk(
  cutter: Cutter,
  plan: Pick<Plan, 'part' | 'packaging'>,
  video: VideoPlan | null,
): ConstantRateChunk {
  const end = video === null ? null : chunkEnd(plan, video)
  const ticks = video === null ? null : ticksBefore(plan, video)
  const ended = end === null ? null : new ChunkEndCutter(cutter, end)
  const inner = ended ?? cutter
  return { cutter: ticks === null ? inner : new ChunkStartCutter(inner, ticks), overrun: () => ended?.overrun ?? 0 }
}
