// In charge of: putting cues into a transport stream while it is being written: its program map, and each cue in its place.
// Not in charge of: finding them (cueScan.ts), bytes in and out (transcoder/analysis/findCues.ts). The stream has one program: it is our own encoder's.
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
  /** Rate of a constant stream, which stays: for every packet that is added, the next null packet is left out. null = variable. */
  rateKbps: number | null
  /** In the order in which they arrived. */
  cues: readonly Cue[]
}

const PACKET_BITS = PACKET_BYTES * 8

export class CueInjector {
  readonly #options: InjectorOptions
  readonly #reader = new PacketReader()
  readonly #pat = new SectionAssembler()
  readonly #pmt = new SectionAssembler()
  readonly #waiting: Record<Cue['place']['by'], Cue[]>
  readonly #due: Uint8Array[] = []
  /** Packets by which the stream is longer than it came. */
  #added = 0
  #mapPid: number | null = null
  #map: ProgramMap | null = null
  #videoPid: number | null = null
  #mapCounter = 0
  #cueCounter = 0
  /** The clock at the first picture, where the output's time is 0. */
  #origin: number | null = null
  /** The newest PCR on the output's time, and as it was read. */
  #clock: { ticks: number; read: number } | null = null

  constructor(options: InjectorOptions) {
    this.#options = options
    const placed = (by: Cue['place']['by']): Cue[] => options.cues.filter(({ place }) => place.by === by).toReversed()
    // Reversed: the next one is the last, which is cheap to take.
    this.#waiting = { clock: placed('clock'), picture: placed('picture') }
  }

  /** The bytes that are final now. */
  push(chunk: Uint8Array): Uint8Array {
    const out: Uint8Array[] = []
    for (const packet of this.#reader.push(chunk)) this.#packet(packet, out)
    return concatBytes(out)
  }

  /** What is left: a stream's last packets, and cues that come after its end. */
  end(): Uint8Array {
    const out: Uint8Array[] = []
    for (const packet of this.#reader.end()) this.#packet(packet, out)
    this.#releaseDue('clock', Infinity)
    this.#releaseDue('picture', Infinity)
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

  /** At a constant rate, a packet that stands later says a later time, for as long as nothing was left out for what was added. */
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
    // GOPs are closed: the first picture of the file is the first one shown.
    this.#origin ??= stamps.pts
    // Pictures come out of order; only the anchors' order matters, and a place is a key frame's.
    this.#releaseDue('picture', this.#unwrap(stamps.pts) + ROUNDING_TICKS)
  }

  #readClock(packet: Uint8Array): void {
    const read = readPcr(packet)
    if (read === null || this.#origin === null) return
    this.#clock = { ticks: this.#unwrap(read), read }
    this.#releaseDue('clock', this.#clock.ticks)
  }

  /** Ticks of the output's time, which goes on where the clock wraps. */
  #unwrap(read: number): number {
    if (this.#clock === null) return ticksBetween(this.#origin!, read)
    return this.#clock.ticks + ticksBetween(this.#clock.read, read)
  }

  #releaseDue(by: Cue['place']['by'], until: number): void {
    const waiting = this.#waiting[by]
    while (waiting.length > 0 && waiting.at(-1)!.place.ticks <= until) {
      const cue = waiting.pop()!
      const section = shiftSpliceTimes(cue.section, cue.shift + (this.#origin ?? 0))
      const packets = toPackets(section, this.#options.pid, this.#cueCounter)
      this.#cueCounter += packets.length
      this.#due.push(...packets)
    }
  }
}
