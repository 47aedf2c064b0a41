// In charge of: where the source's clock stands on the output's time, across wraps and jumps of the clock.
// Not in charge of: reading the clock (clock.ts), what happens at a time (cueScan.ts).
import { wrapTicks, TICKS_PER_SECOND, ticksBetween, type Timestamps } from './clock.ts'

/**
 * ffmpeg takes a larger step of the time stamps as a jump of the clock and goes on as if there had been none
 * (-dts_delta_threshold, 10 s). Smaller ones are gaps, which it fills.
 */
export const JUMP_TICKS = 10 * TICKS_PER_SECOND
/** What a picture lasts where no two have been seen yet. */
const FIRST_FRAME_TICKS = 3600

/** Ticks of the output's time, 0 = its first picture. Not wrapped: a source may be longer than the clock's period. */
export class Timeline {
  /** One moment on both clocks: the newest picture. */
  #clock: number
  #output = 0
  #decoded: number | null = null
  #step = FIRST_FRAME_TICKS

  /** `origin`: the source's clock at the output's first picture. */
  constructor(origin: number) {
    this.#clock = wrapTicks(origin)
  }

  /** A picture begins. Returns when it is shown. */
  setFrame({ pts, dts }: Timestamps): number {
    const step = this.#decoded === null ? 0 : ticksBetween(this.#decoded, dts)
    if (Math.abs(step) > JUMP_TICKS) {
      // The pictures go on at the distance that they had.
      this.#output = this.at(this.#decoded!) + this.#step
      this.#clock = dts
    } else if (step > 0) this.#step = step
    this.#decoded = dts
    const shown = this.at(pts)
    this.#output = shown
    this.#clock = pts
    return shown
  }

  /** When a time on the source's clock comes, as the clock stands now. */
  at(clock: number): number {
    return this.#output + ticksBetween(this.#clock, clock)
  }

  /** Ticks to add to the source's clock for the output's time, on the clock's own period. */
  get shift(): number {
    return wrapTicks(this.#output - this.#clock)
  }
}
