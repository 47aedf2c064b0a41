// In charge of: start_seconds and end_seconds against each other, before the source is known.
// Not in charge of: their form (cutTime.ts), the source's length and frame rate (transcoder/plan/streams/cut.ts).
import { parseCutTime } from '../cutTime.ts'
import type { Findings } from '../findings.ts'

interface CutFields {
  start_seconds?: number | string | undefined
  end_seconds?: number | string | undefined
}

/** `prefix`: the path of the object that has the two fields, with a dot at its end; '' = the body. */
export function checkCut(
  { start_seconds: from, end_seconds: to }: CutFields,
  prefix: string,
  findings: Findings,
): void {
  if (to === undefined) return
  const [start, end] = [parseCutTime(from ?? 0), parseCutTime(to)]
  // Frames count within a second, and drop-frame numbers never go back.
  const frame = (time: typeof start): number => (time.kind === 'timecode' ? time.frame : 0)
  const isAfter = end.seconds > start.seconds || (end.seconds === start.seconds && frame(end) > frame(start))
  if (isAfter) return
  const message = `${prefix}end_seconds ${to} must be after start_seconds ${from ?? 0}`
  findings.problem('out_of_range', `${prefix}end_seconds`, message)
}
