// In charge of: bytes by the second in which they are played, and the most that one second has.
// Not in charge of: where bytes and times come from (sampleTables.ts, tsMeter.ts).

/** A time stamp of ours beyond ten days is none. */
const MAX_SECONDS = 864_000

export class BytesPerSecond {
  readonly #bytes: number[] = []

  /** At one moment; seconds from the first one. */
  add(at: number, bytes: number): void {
    const second = Math.floor(at)
    if (second < 0 || second > MAX_SECONDS) return
    this.#bytes[second] = (this.#bytes[second] ?? 0) + bytes
  }

  /** Evenly from one moment to another. */
  addInterval(from: number, to: number, bytes: number): void {
    if (to <= from) return this.add(from, bytes)
    if (to > MAX_SECONDS) return
    for (let at = from; at < to;) {
      const next = Math.min(to, Math.floor(at) + 1)
      this.add(at, (bytes * (next - at)) / (to - from))
      at = next
    }
  }

  /** kbps of the fullest of the whole seconds before `end`; null where there is none. The last second is rarely a whole one. */
  peakKbps(end: number): number | null {
    // A stamp is rounded: 9.999999 s are ten.
    const whole = this.#bytes.slice(0, Math.floor(end + 1e-3))
    const most = whole.reduce((peak, bytes) => Math.max(peak, bytes ?? 0), 0)
    return most === 0 ? null : most / 125
  }
}
