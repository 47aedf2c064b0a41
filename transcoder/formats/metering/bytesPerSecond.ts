// In charge of: bytes for each second of playback, and the second with the most bytes.
// Not in charge of: reading bytes and times (sampleTables.ts, tsMeter.ts).

/** Ten days. A later time stamp in an output would be an error. */
const MAX_SECONDS = 864_000

export class BytesPerSecond {
  readonly #bytes: number[] = []

  /** Adds bytes at one time, in seconds from the first. */
  add(at: number, bytes: number): void {
    const second = Math.floor(at)
    if (second < 0 || second > MAX_SECONDS) return
    this.#bytes[second] = (this.#bytes[second] ?? 0) + bytes
  }

  /** Spreads bytes evenly over an interval. */
  addInterval(from: number, to: number, bytes: number): void {
    if (to <= from) return this.add(from, bytes)
    if (to > MAX_SECONDS) return
    for (let at = from; at < to;) {
      const next = Math.min(to, Math.floor(at) + 1)
      this.add(at, (bytes * (next - at)) / (to - from))
      at = next
    }
  }

  /**
   * kbps of the largest of the full seconds before `end`; null where there is none. The last second is usually
   * incomplete.
   */
  peakKbps(end: number): number | null {
    // Time stamps are rounded: 9.999999 s counts as ten.
    const complete = this.#bytes.slice(0, Math.floor(end + 1e-3))
    const most = complete.reduce((peak, bytes) => Math.max(peak, bytes ?? 0), 0)
    return most === 0 ? null : most / 125
  }
}
