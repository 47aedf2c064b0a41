// In charge of: whether the time stamps of streams in a stretch of a transport stream run on without a jump: then a frame
// has the same time wherever ffmpeg begins to read.
// Not in charge of: which stretches are read.
import { readPesTimestamps, ticksBetween, TICKS_PER_SECOND } from './clock.ts'
import { isPayloadStart, PacketReader, payloadOf, pidOf } from './packet.ts'

/** ffmpeg takes smaller steps as gaps, and removes larger ones (-dts_delta_threshold, 10 s). */
const LONGEST_STEP = 9 * TICKS_PER_SECOND
/** ffmpeg takes a larger step backwards as a jump. */
const STEP_BACK = TICKS_PER_SECOND / 20

export class ContinuityScan {
  readonly #packets = new PacketReader()
  readonly #pids: ReadonlySet<number>
  /** Decoding times, by PID. */
  readonly #last = new Map<number, number>()
  #jumps = 0

  constructor(pids: Iterable<number>) {
    this.#pids = new Set(pids)
  }

  get jumps(): number {
    return this.#jumps
  }

  push(bytes: Uint8Array): void {
    for (const packet of this.#packets.push(bytes)) {
      if (!isPayloadStart(packet) || !this.#pids.has(pidOf(packet))) continue
      const dts = readPesTimestamps(payloadOf(packet))?.dts
      if (dts === undefined) continue
      const last = this.#last.get(pidOf(packet))
      const step = last === undefined ? 0 : ticksBetween(last, dts)
      if (step > LONGEST_STEP || step < -STEP_BACK) this.#jumps += 1
      this.#last.set(pidOf(packet), dts)
    }
  }
}
