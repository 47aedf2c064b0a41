// In charge of: a buffer that drains at a constant rate: the transport buffers of ISO/IEC 13818-1, 2.4.2.3.
// Not in charge of: their sizes and rates (bufferLimits.ts).

/** Times are in 27 MHz ticks. */
export const SYSTEM_CLOCK_HZ = 27_000_000
export const TICKS_PER_MS = SYSTEM_CLOCK_HZ / 1000

export class LeakyBucket {
  readonly #bytes: number
  readonly #bytesPerTick: number
  #fill = 0
  #at = 0

  constructor(bytes: number, bitsPerSecond: number) {
    this.#bytes = bytes
    this.#bytesPerTick = bitsPerSecond / 8 / SYSTEM_CLOCK_HZ
  }

  hasRoom(time: number, bytes: number): boolean {
    return this.#level(time) + bytes <= this.#bytes
  }

  add(time: number, bytes: number): void {
    this.#fill = this.#level(time) + bytes
    this.#at = time
  }

  #level(time: number): number {
    return Math.max(0, this.#fill - (time - this.#at) * this.#bytesPerTick)
  }
}
