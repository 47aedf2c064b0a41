// In charge of: cues in a multiplex, each at the time or before the frame of its position in the source.
// Not in charge of: finding them (formats/scte35/cueScan.ts), the map that lists them (formats/scte35/cueStream.ts).
import { ROUNDING_TICKS } from '../mpegts/clock.ts'
import type { Cue } from '../scte35/cueScan.ts'
import { toPackets } from '../mpegts/section.ts'
import { shiftSpliceTimes } from '../scte35/spliceInfo.ts'
import type { PacketWriter } from './packetWriter.ts'

export class CueQueue {
  readonly #pid: number
  readonly #origin: number
  readonly #waiting: Record<Cue['position']['by'], Cue[]>
  readonly #due: Uint8Array[] = []
  #counter = 0

  /** `origin`: the clock in 90 kHz ticks at the first frame, where output time is 0. */
  constructor(pid: number, cues: readonly Cue[], origin: number) {
    this.#pid = pid
    this.#origin = origin
    const placed = (by: Cue['position']['by']): Cue[] => cues.filter(({ position }) => position.by === by).toReversed()
    // Reversed, because removing the last element is cheap.
    this.#waiting = { clock: placed('clock'), frame: placed('frame') }
  }

  /** Number of packets due at clock time `ticks`, and before a frame of `pts` if the next packet begins one. */
  count(ticks: number, pts: number | null): number {
    this.#releaseDue('clock', ticks - this.#origin)
    if (pts !== null) this.#releaseDue('frame', pts - this.#origin + ROUNDING_TICKS)
    return this.#due.length
  }

  send(out: PacketWriter): void {
    out.copyPacket(this.#due.shift()!, this.#counter)
    this.#counter = (this.#counter + 1) & 15
  }

  #releaseDue(by: Cue['position']['by'], until: number): void {
    const waiting = this.#waiting[by]
    while (waiting.length > 0 && waiting.at(-1)!.position.ticks <= until) {
      const { section, shift } = waiting.pop()!
      this.#due.push(...toPackets(shiftSpliceTimes(section, shift + this.#origin), this.#pid, 0))
    }
  }
}
