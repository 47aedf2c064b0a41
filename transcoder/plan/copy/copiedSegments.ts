// In charge of: where segments begin in a copied video: at the key frames that are nearest to the segment length.
// Not in charge of: whether the segments are too long (videoVerdict.ts).
import type { SegmentStarts } from '#contract/task/plan/packagingPlan.ts'
import type { VideoSurvey } from '../model/videoSurvey.ts'
import { toNumber, type Rational } from '../../formats/rational.ts'
import type { CopiedPart } from './copiedPart.ts'

/** A share of a frame: rounding of the container. */
const ON_GRID = 0.1

/**
 * Key frames that a segment may begin with, with the number of frames of the part before each. `grid`: the lowest rate of
 * the encoded renditions, on which they must lie too; null = all renditions are copied.
 */
export function segmentCandidates(survey: VideoSurvey, part: CopiedPart, grid: Rational | null): SegmentStarts {
  const { times, closedKeyFrames } = survey
  const open = openKeyFrames(survey)
  const found: SegmentStarts = { frames: [], seconds: [] }
  for (const [number, frame] of part.frames.entries()) {
    if (!closedKeyFrames.has(frame) || open.has(frame)) continue
    const seconds = Math.max(0, times[frame]! - part.startSeconds)
    const onGrid = grid === null ? 0 : seconds * toNumber(grid)
    if (Math.abs(onGrid - Math.round(onGrid)) > ON_GRID) continue
    found.frames.push(number)
    found.seconds.push(seconds)
  }
  return found
}

/** Key frames with frames after them that are shown before them. */
export function openKeyFrames({ times, keyFrames }: VideoSurvey): Set<number> {
  const open = new Set<number>()
  for (const [at, frame] of keyFrames.entries()) {
    const end = keyFrames[at + 1] ?? times.length
    for (let next = frame + 1; next < end && !open.has(frame); next++) if (times[next]! < times[frame]!) open.add(frame)
  }
  return open
}

/** The candidates that are nearest to the wanted length, one after the other. The end counts as one of them. */
export function chooseStarts(candidates: SegmentStarts, wantedSeconds: number, endSeconds: number): SegmentStarts {
  const { frames } = candidates
  const seconds = [...candidates.seconds, endSeconds]
  const chosen: SegmentStarts = { frames: [], seconds: [] }
  let last = -Infinity
  for (let at = 0; at < frames.length;) {
    chosen.frames.push(frames[at]!)
    chosen.seconds.push(seconds[at]!)
    last = seconds[at]!
    let next = at + 1
    while (next < frames.length && distance(next + 1) <= distance(next)) next += 1
    at = next
  }
  return chosen

  function distance(at: number): number {
    return Math.abs(seconds[at]! - last - wantedSeconds)
  }
}

/** The duration of each segment in seconds. */
export function segmentLengths({ seconds }: SegmentStarts, endSeconds: number): number[] {
  return seconds.map((start, at) => (seconds[at + 1] ?? endSeconds) - start)
}
