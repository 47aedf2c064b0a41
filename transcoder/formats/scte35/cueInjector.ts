// In charge of: inserting cues into a transport stream while it is written: the program map, and each cue at its
// position. The stream has one program, written by the service's own encoder.
// Not in charge of: finding cues (cueScan.ts), reading and writing bytes (transcoder/analysis/findCues.ts).
import { concatBytes } from '../concatBytes.ts'
import { readPcr, delayPcr, readPesTimestamps, ROUNDING_TICKS, ticksBetween } from '../mpegts/clock.ts'
import { withCueStream } from './cueStream.ts'
import { NULL_PID, PACKET_BYTES, PacketReader, payloadOf, pidOf, isPayloadStart } from '../mpegts/packet.ts'
import type { Cue } from './cueScan.ts'
import { SectionAssembler, toPackets } from '../mpegts/section.ts'
import { shiftSpliceTimes } from './spliceInfo.ts'
import { isVideo, readPat, readPmt, writePmt, type ProgramMap } from '../mpegts/programTables.ts'

export interface InjectorOptions {
  pid: number
  cueStreamType: number
  /**
   * Rate of a constant stream, which is kept: for each added packet the next null packet is removed. null = variable.
   */
  rateKbps: number | null
  /** In order of arrival. */
  cues: readonly Cue[]
}

const PACKET_BITS = PACKET_BYTES * 8

export class CueInjector {
  readonly #options: InjectorOptions
  readonly #reader = new PacketReader()
  readonly #pat = new SectionAssembler()
  readonly #pmt = new SectionAssembler()
  readonly #waiting: Record<Cue['position']['by'], Cue[]>
  readonly #due: Uint8Array[] = []
  /** Packets by which the output is longer than the input. */
  #added = 0
  #mapPid: number | null = null
  #map: ProgramMap | null = null
  #videoPid: number | null = null
  #mapCounter = 0
  #cueCounter = 0
  /** The clock at the first frame, where output time is 0. */
  #origin: number | null = null
  /** The newest PCR, in output time and as it was read. */
  #clock: { ticks: number; read: number } | null = null

  constructor(options: InjectorOptions) {
    this.#options = options
    const placed = (by: Cue['position']['by']): Cue[] =>
      options.cues.filter(({ position }) => position.by === by).toReversed()
    // Reversed, because removing the last element is cheap.
    this.#waiting = { clock: placed('clock'), frame: placed('frame') }
  }

  /** Returns the bytes that are now final. */
  push(block: Uint8Array): Uint8Array {
    const out: Uint8Array[] = []
    for (const packet of this.#reader.push(block)) this.#packet(packet, out)
    return concatBytes(out)
  }

  /** Returns the remaining bytes: the last packets, and cues after the end. */
  end(): Uint8Array {
    const out: Uint8Array[] = []
    for (const packet of this.#reader.end()) this.#packet(packet, out)
    this.#releaseDue('clock', Infinity)
    this.#releaseDue('frame', Infinity)
    this.#add(out)
    return concatBytes(out)
  }

  #packet(packet: Uint8Array, out: Uint8Array[]): void {
    const pid = pidOf(packet)
    if (pid === 0) this.#readPat(packet)
    if (pid === this.#mapPid) {
      this.#added -= 1
      this.#readMap(packet)
    } else {
      if (pid === this.#videoPid && isPayloadStart(packet)) this.#onFrame(packet)
      this.#add(out)
      if (pid !== NULL_PID || this.#added <= 0) out.push(this.#delayPcr(packet))
      else this.#added -= 1
      if (pid === this.#map?.clockPid) this.#readClock(packet)
    }
    this.#add(out)
  }

  #add(out: Uint8Array[]): void {
    this.#added += this.#due.length
    out.push(...this.#due.splice(0))
  }

  /**
   * At a constant rate, a packet at a later position has a later time, until a null packet has been removed for each
   * added one.
   */
  #delayPcr(packet: Uint8Array): Uint8Array {
    const { rateKbps } = this.#options
    return rateKbps === null ? packet : delayPcr(packet, Math.round((this.#added * PACKET_BITS * 27_000) / rateKbps))
  }

  #readPat(packet: Uint8Array): void {
    for (const section of this.#pat.push(packet)) this.#mapPid = readPat(section)?.values().next().value ?? this.#mapPid
  }

  #readMap(packet: Uint8Array): void {
    for (const section of this.#pmt.push(packet)) {
      const map = readPmt(section)
      if (map === null) continue
      this.#map = map
      this.#videoPid = map.streams.find(isVideo)?.pid ?? null
      const table = writePmt(withCueStream(map, this.#options.pid, this.#options.cueStreamType))
      const packets = toPackets(table, this.#mapPid!, this.#mapCounter)
      this.#mapCounter += packets.length
      this.#due.push(...packets)
    }
  }

  #onFrame(packet: Uint8Array): void {
    const stamps = readPesTimestamps(payloadOf(packet))
    if (stamps === null) return
    // GOPs are closed: the first frame of the file is also presented first.
    this.#origin ??= stamps.pts
    // Frames arrive in coded order. This is correct all the same: cues stand before key frames, and those arrive in
    // presentation order.
    this.#releaseDue('frame', this.#unwrap(stamps.pts) + ROUNDING_TICKS)
  }

  #readClock(packet: Uint8Array): void {
    const read = readPcr(packet)
    if (read === null || this.#origin === null) return
    this.#clock = { ticks: this.#unwrap(read), read }
    this.#releaseDue('clock', this.#clock.ticks)
  }

  /** Ticks of output time, which continues where the clock wraps. */
  #unwrap(read: number): number {
    if (this.#clock === null) return ticksBetween(this.#origin!, read)
    return this.#clock.ticks + ticksBetween(this.#clock.read, read)
  }

  #releaseDue(by: Cue['position']['by'], until: number): void {
    const waiting = this.#waiting[by]
    while (waiting.length > 0 && waiting.at(-1)!.position.ticks <= until) {
      const cue = waiting.pop()!
      const section = shiftSpliceTimes(cue.section, cue.shift + (this.#origin ?? 0))
      const packets = toPackets(section, this.#options.pid, this.#cueCounter)
      this.#cueCounter += packets.length
      this.#due.push(...packets)
    }
  }
}
