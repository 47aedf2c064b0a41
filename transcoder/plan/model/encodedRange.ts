// In charge of: which frames and which renditions the plan of a part makes.
// Not in charge of: that plan (division/plan/partPlan.ts), the arguments (argv/).
import { toNumber, type Rational } from '../../formats/rational.ts'
import type { RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'

type PartOfPlan = Pick<Plan, 'part'> & Partial<Pick<Plan, 'packaging'>>

/** By number, counted from the first frame of the whole output; `end` is the first after the chunk. */
export interface FrameRange {
  first: number
  /** null = to the end of the source. */
  end: number | null
}

/** The frames of the part's chunk at this rate; null = it is no chunk: all frames, or none. */
export function chunkFrames({ part, packaging }: PartOfPlan, rate: Rational): FrameRange | null {
  if (part?.kind !== 'chunk' || packaging == null) return null
  const { num, den } = packaging.segmentDuration
  const frames = (segments: number) => Math.round((segments * num * rate.num) / (den * rate.den))
  return { first: frames(part.from), end: part.to === null ? null : frames(part.to) }
}

/** Numbers of renditions are those of the whole plan: what a part does not make is skipped. */
export function makesRendition({ part }: Pick<Plan, 'part'>, { kind }: Pick<RenditionPlan, 'kind'>): boolean {
  return part === undefined || (part.kind === 'chunk') === (kind === 'video')
}

/** Seconds of output that this plan's task makes; null = the source does not state its length. */
export function secondsOfPart({ part, packaging, durationSeconds }: Plan): number | null {
  if (part?.kind !== 'chunk' || packaging === null) return durationSeconds
  const segment = toNumber(packaging.segmentDuration)
  if (part.to !== null) return (part.to - part.from) * segment
  return durationSeconds === null ? null : Math.max(0, durationSeconds - part.from * segment)
}

/** Seconds of output before those that this plan's task makes. */
export function secondsBeforePart({ part, packaging }: PartOfPlan): number {
  return part?.kind !== 'chunk' || packaging == null ? 0 : part.from * toNumber(packaging.segmentDuration)
}
