// In charge of: the places between segments at which a chunk may begin, and how long chunks are.
// Not in charge of: choosing them (planDivision.ts), cutting segments (transcoder/segmenter/cutters/cutter.ts).
import { toNumber } from '../../formats/rational.ts'
import type { DivisionPlan } from '#contract/task/plan/divisionPlan.ts'
import type { PackagingPlan, RenditionPlan } from '#contract/task/plan/packagingPlan.ts'

/**
 * The share of a segment within which a splice point takes the place of a regular boundary: at least the share
 * within which the cutters begin no segment (nextBoundary).
 */
const SPLICE_SHARE = 1 / 8

/** Whether a segment of every rendition begins at this place of the regular grid. */
export function isRegularBoundary({ renditions }: PackagingPlan, segment: number): boolean {
  return renditions.every((rendition) => !hasSpliceNear(rendition, segment))
}

function hasSpliceNear({ video, segmentFrames }: RenditionPlan, segment: number): boolean {
  if (video === null) return false
  const start = segment * segmentFrames
  return video.spliceFrames.some((frame) => Math.abs(frame - start) < segmentFrames * SPLICE_SHARE)
}

/** Seconds of each chunk. `seconds`: of all of them. */
export function chunkSecondsOf(
  { chunks }: DivisionPlan,
  { segmentDuration }: Pick<PackagingPlan, 'segmentDuration'>,
  seconds: number,
): number[] {
  const begins = chunks.map((from) => from * toNumber(segmentDuration))
  return begins.map((begin, chunk) => (begins[chunk + 1] ?? seconds) - begin)
}

/** Seconds of the longest chunk; the last one is not much longer than the others (planDivision.ts). */
export function longestChunkSeconds(
  { chunks }: DivisionPlan,
  { segmentDuration }: Pick<PackagingPlan, 'segmentDuration'>,
): number {
  const segments = chunks.slice(1).map((start, chunk) => start - chunks[chunk]!)
  return Math.max(...segments) * toNumber(segmentDuration)
}
