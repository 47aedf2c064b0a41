// In charge of: which frames and which renditions a run makes that encodes a range of the video, or none of it.
// Not in charge of: where ranges begin, the arguments (argv/).
import { toNumber, type Rational } from '../../formats/rational.ts'
import type { RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'

type PlanOfRange = Pick<Plan, 'range'> & Partial<Pick<Plan, 'packaging'>>

/** By number, counted from the first frame of the whole output; `end` is the first after the range. */
export interface FrameRange {
  first: number
  /** null = to the end of the source. */
  end: number | null
}

/** The frames of the range at this rate; null = all frames, or none. */
export function rangeFrames({ range, packaging }: PlanOfRange, rate: Rational): FrameRange | null {
  if (range == null || packaging == null) return null
  const { num, den } = packaging.segmentDuration
  const frames = (segments: number) => Math.round((segments * num * rate.num) / (den * rate.den))
  return { first: frames(range.from), end: range.to === null ? null : frames(range.to) }
}

/** Numbers of renditions are those of the whole plan: what a run does not make is skipped. */
export function makesRendition({ range }: Pick<Plan, 'range'>, { kind }: Pick<RenditionPlan, 'kind'>): boolean {
  return range === undefined || (range !== null) === (kind === 'video')
}

/** A run without video reads nothing but audio and text: it makes nothing of frames, and reads no captions in them. */
export function skipsVideo({ range, packaging, extracts }: Plan): boolean {
  if (range !== null) return false
  return packaging?.textTracks !== true && packaging?.thumbnails == null && extracts?.frames == null
}

/** Seconds of output that a run of this plan makes; null = the source does not state its length. */
export function secondsOfRange({ range, packaging, durationSeconds }: Plan): number | null {
  if (range == null || packaging === null) return durationSeconds
  const segment = toNumber(packaging.segmentDuration)
  if (range.to !== null) return (range.to - range.from) * segment
  return durationSeconds === null ? null : Math.max(0, durationSeconds - range.from * segment)
}

/** Seconds of output before those that a run of this plan makes. */
export function secondsBeforeRange({ range, packaging }: PlanOfRange): number {
  return range == null || packaging == null ? 0 : range.from * toNumber(packaging.segmentDuration)
}
