// In charge of: the two forms of a time at which a source is cut: seconds, and a timecode.
// Not in charge of: times against each other (rules/inputs.ts), finding the frame (transcoder/plan/streams/cut.ts).

/**
 * A place in the source, counted from its first frame. A timecode with frames is a place only once the frame rate is
 * known.
 */
export type CutTime =
  | { kind: 'seconds'; seconds: number }
  /** SMPTE ST 12-1. `dropFrame`: the numbers that a semicolon marks as counted with dropped ones. */
  | { kind: 'timecode'; seconds: number; frame: number; dropFrame: boolean }

/** `90`, `90.5`, `00:01:30`, `00:01:30.480`, `00:01:30:12`, `00:01:30;12`. */
export const CUT_TIME = /^(\d{1,6}(\.\d{1,9})?|\d{1,3}:[0-5]\d:[0-5]\d(\.\d{1,9}|[:;]\d{2})?)$/

const TIMECODE = /^(\d+):(\d\d):(\d\d)(?:([:;])(\d\d)|(\.\d+))?$/

/** `value` matches `CUT_TIME`, or is a number of seconds. */
export function parseCutTime(value: string | number): CutTime {
  const match = TIMECODE.exec(`${value}`)
  if (match === null) return { kind: 'seconds', seconds: Number(value) }
  const [, hours, minutes, rest, mark, frame, fraction = ''] = match
  const seconds = (Number(hours) * 60 + Number(minutes)) * 60 + Number(rest)
  return mark === undefined
    ? { kind: 'seconds', seconds: seconds + Number(`0${fraction}`) }
    : { kind: 'timecode', seconds, frame: Number(frame), dropFrame: mark === ';' }
}
