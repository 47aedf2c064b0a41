// In charge of: start_seconds and end_seconds against each other, before the source is known.
// Not in charge of: their form (cutTime.ts), the source's length and frame rate (transcoder/plan/streams/cutPlan.ts).
import { parseCutTime } from '../cutTime.ts'
import type { Findings } from '../findings.ts'
import type { JobDraft } from '../requestSchema.ts'

export function checkCut({ start_seconds: from, end_seconds: to }: JobDraft, findings: Findings): void {
  if (to === undefined) return
  const [start, end] = [parseCutTime(from ?? 0), parseCutTime(to)]
  // Frames count within a second, and drop-frame numbers never go back.
  const frame = (time: typeof start): number => (time.kind === 'timecode' ? time.frame : 0)
  const isAfter = end.seconds > start.seconds || (end.seconds === start.seconds && frame(end) > frame(start))
  if (!isAfter)
    findings.problem('out_of_range', 'end_seconds', `end_seconds ${to} must be after start_seconds ${from ?? 0}`)
}
