// In charge of: converting times of the source's clock to output time, across wraps and jumps of the clock.
// Not in charge of: reading the clock (clock.ts), the cues at those times (cueScan.ts).
import { wrapTicks, TICKS_PER_SECOND, ticksBetween, type Timestamps } from './clock.ts'

/**
 * ffmpeg treats a larger step of the time stamps as a jump of the clock and removes it (-dts_delta_threshold, 10 s).
 * Smaller steps are gaps, which it fills.
 */
export const JUMP_TICKS = 10 * TICKS_PER_SECOND
/** Assumed duration of a frame before two have been seen. */
const FIRST_FRAME_TICKS = 3600

/** Ticks of output time, 0 = the first frame. Not wrapped: a source may be longer than the clock's period. */
export class Timeline {
  /** The newest frame's time on the source's clock and in output time. */
  #clock: number
  #output = 0
  #decoded: number | null = null
  #step = FIRST_FRAME_TICKS

  /** `origin`: the source's clock at the output's first frame. */
  constructor(origin: number) {
    this.#clock = wrapTicks(origin)
  }

  /** A frame begins. Returns its presentation time. */
  setFrame({ pts, dts }: Timestamps): number {
    const step = this.#decoded === null ? 0 : ticksBetween(this.#decoded, dts)
    if (Math.abs(step) > JUMP_TICKS) {
      // After a jump, frames continue at the previous distance.
      this.#output = this.at(this.#decoded!) + this.#step
      this.#clock = dts
    } else if (step > 0) this.#step = step
    this.#decoded = dts
    const time = this.at(pts)
    this.#output = time
    this.#clock = pts
    return time
  }

  /** Converts a time of the source's clock, as the clock stands now. */
  at(clock: number): number {
    return this.#output + ticksBetween(this.#clock, clock)
  }

  /** Ticks to add to the source's clock to get output time, wrapped to the clock's period. */
  get shift(): number {
    return wrapTicks(this.#output - this.#clock)
  }
}
