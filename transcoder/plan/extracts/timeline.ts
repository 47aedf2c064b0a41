// In charge of: the frame that is shown at a time of the outputs.
// Not in charge of: the times themselves (stills.ts, planExtracts.ts).
import type { CutTime } from '#contract/job/cutTime.ts'
import type { Rational } from '../../formats/rational.ts'
import { timecodeSeconds } from '../streams/requestedPart.ts'

/** The outputs, in frames of the source's rate. */
export interface FrameTimeline {
  rate: Rational
  framesPerSecond: number
  /** null = the source does not state its length. */
  seconds: number | null
  frames: number | null
}

/** Times are mostly given in whole milliseconds: one that is rounded down still means the frame that begins there. */
const ROUNDING_SECONDS = 0.0005

export function secondsOf(time: CutTime, { rate }: FrameTimeline, field: string): number {
  return time.kind === 'seconds' ? time.seconds : timecodeSeconds(time, rate, field)
}

export function frameAt(seconds: number, { framesPerSecond }: FrameTimeline): number {
  return Math.floor((seconds + ROUNDING_SECONDS) * framesPerSecond + 1e-6)
}
