// In charge of: the stretch of a video that can be cut out without decoding: from a key frame to a place that no frame refers
// across.
// Not in charge of: whether it may be copied (videoVerdict.ts).
import type { VideoSurvey } from '../model/videoSurvey.ts'

export interface CopiedStretch {
  startSeconds: number
  /** null = the end of the source. */
  endSeconds: number | null
  /** Positions in the survey of the frames that are kept, in decoding order. */
  frames: number[]
}

/** Far shorter than a frame; containers round times to a millisecond. */
const TOLERANCE_SECONDS = 0.002

/**
 * The key frame at or before the start, or the first one where there is none before; the end is moved to the next place
 * at which all frames before it can be shown without those after it. null = there is no key frame. `isUsable`: key frames
 * that may be the first.
 */
export function copiedStretch(
  { times, keyFrames }: VideoSurvey,
  wanted: { startSeconds: number; endSeconds: number | null },
  isUsable: (frame: number) => boolean = () => true,
): CopiedStretch | null {
  const usable = keyFrames.filter((frame) => times[frame]! >= -TOLERANCE_SECONDS && isUsable(frame))
  const first = usable.findLast((frame) => times[frame]! <= wanted.startSeconds + TOLERANCE_SECONDS) ?? usable[0]
  if (first === undefined) return null
  const startSeconds = Math.max(0, times[first]!)
  const end = wanted.endSeconds === null ? times.length : endOf(times, first, Math.max(wanted.endSeconds, startSeconds))
  const frames: number[] = []
  // Leading pictures of an open GOP are shown before its key frame, and refer to the GOP before.
  for (let frame = first; frame < end; frame++)
    if (times[frame]! >= startSeconds - TOLERANCE_SECONDS) frames.push(frame)
  const endSeconds =
    end === times.length ? null : times.slice(end).reduce((least, time) => Math.min(least, time), Infinity)
  return { startSeconds, endSeconds, frames }
}

/** The first frame, in decoding order, that is left out. */
function endOf(times: readonly number[], first: number, wantedSeconds: number): number {
  const leastFrom = new Float64Array(times.length + 1).fill(Infinity)
  for (let frame = times.length - 1; frame >= first; frame--)
    leastFrom[frame] = Math.min(times[frame]!, leastFrom[frame + 1]!)
  let latest = times[first]!
  for (let frame = first + 1; frame < times.length; frame++) {
    if (leastFrom[frame]! > latest && leastFrom[frame]! >= wantedSeconds - TOLERANCE_SECONDS) return frame
    latest = Math.max(latest, times[frame]!)
  }
  return times.length
}
