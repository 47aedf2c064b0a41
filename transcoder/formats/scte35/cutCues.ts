// In charge of: the cues of a part of the source, with their times from the beginning of that part.
// Not in charge of: finding the cues (cueScan.ts), choosing the part (plan/streams/cut.ts).
import { TICKS_PER_SECOND, wrapTicks } from '../mpegts/clock.ts'
import type { CueFindings } from './cueScan.ts'

/** `outside`: the number of cues that arrive before or after the part, and are left out. */
export function cutCues(
  found: CueFindings | null,
  part: { startSeconds: number; endSeconds: number | null } | undefined | null,
): (CueFindings & { outside: number }) | null {
  if (found === null) return null
  if (part == null) return { ...found, outside: 0 }
  const start = Math.round(part.startSeconds * TICKS_PER_SECOND)
  const length = part.endSeconds === null ? Infinity : Math.round(part.endSeconds * TICKS_PER_SECOND) - start
  const isInside = (ticks: number) => ticks >= 0 && ticks < length
  const cues = found.cues
    .map((cue) => ({
      ...cue,
      shift: wrapTicks(cue.shift - start),
      position: { ...cue.position, ticks: cue.position.ticks - start },
    }))
    .filter(({ position }) => isInside(position.ticks))
  return {
    ...found,
    cues,
    splicePoints: new Set([...found.splicePoints].map((ticks) => ticks - start).filter(isInside)),
    outside: found.cues.length - cues.length,
  }
}
