// In charge of: how many segments a job may have: each is an object of its store and a line of a playlist.
// Not in charge of: how long they are (packagingPlan.ts, audioSegments.ts).
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import { TaskError } from '#contract/taskError.ts'
import { toNumber } from '../formats/rational.ts'

/** 27 hours of one second each. */
export const MAX_RENDITION_SEGMENTS = 100_000
/** A day of six seconds each in 34 renditions, or of two seconds in 11. */
const MAX_SEGMENTS = 500_000

/** `seconds`: of the outputs; null = unknown, so that segments are counted as they are made. Throws output_too_large. */
export function requireFewSegments(packaging: PackagingPlan | null, seconds: number | null): void {
  if (packaging === null || seconds === null) return
  const each = Math.ceil(seconds / toNumber(packaging.segmentDuration))
  const all = packaging.renditions.reduce((sum, { forms }) => sum + each * forms.length, 0)
  if (each > MAX_RENDITION_SEGMENTS || all > MAX_SEGMENTS) throw tooManySegments(each, all)
}

/** `each`: of one rendition. */
export function tooManySegments(each: number, all = each): TaskError {
  return new TaskError(
    'output_too_large',
    `The outputs would have ${all} segments, ${each} in a rendition; a job makes at most ${MAX_SEGMENTS}, and ${MAX_RENDITION_SEGMENTS} in a rendition. Set a longer segment_length and gop_length, or fewer renditions.`,
    { field: 'segment_length', details: { segments: all, maximum: MAX_SEGMENTS } },
  )
}
