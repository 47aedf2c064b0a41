// In charge of: timecodes of caption files as exact seconds (SMPTE ST 12-1), and the hour at which a programme starts.
// Not in charge of: the files (sccReader.ts, stlReader.ts, ttmlReader.ts).

export interface FrameCount {
  /** Frames per second, exact: 30000/1001 for 29.97. */
  rate: { num: number; den: number }
  /** Numbers that drop-frame counting leaves out in a minute; 0 = it counts all. */
  dropped: number
}

export interface Timecode {
  hours: number
  minutes: number
  seconds: number
  /** May have a fraction (subframes). */
  frames: number
}

export function timecodeSeconds({ hours, minutes, seconds, frames }: Timecode, { rate, dropped }: FrameCount): number {
  const nominal = Math.round(rate.num / rate.den)
  const wholeMinutes = hours * 60 + minutes
  const left = dropped * (wholeMinutes - Math.floor(wholeMinutes / 10))
  return (((wholeMinutes * 60 + seconds) * nominal + frames - left) * rate.den) / rate.num
}

/**
 * Timecodes of a programme often begin at a full hour, as on tape: mostly 01:00:00:00 in America and 10:00:00:00 in
 * Europe. A first caption after an hour or more is taken for that.
 */
export function startHour(first: Timecode | undefined): number {
  return first?.hours ?? 0
}

export function startRemark(start: string): { kind: 'programme start'; message: string } {
  return {
    kind: 'programme start',
    message: `${start} was taken as the start of the programme, and its times count from there; if that is wrong, set offset_seconds (0 = the times as they are written).`,
  }
}

export function printedHour(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00:00:00`
}
