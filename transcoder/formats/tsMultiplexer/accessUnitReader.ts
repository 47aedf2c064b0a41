// In charge of: splitting an encoder's transport stream into PES packets of one access unit each.
// Not in charge of: scheduling them (multiplexer.ts).
import { readPesTimestamps, ticksBetween } from '../mpegts/clock.ts'
import { PacketReader, PAT_PID, payloadOf, pidOf, isPayloadStart } from '../mpegts/packet.ts'
import { SectionAssembler } from '../mpegts/section.ts'
import { readPat, readPmt, type ProgramMap } from '../mpegts/programTables.ts'

/** One PES packet: a video frame, an audio frame, or a data unit. Times in 90 kHz ticks that do not wrap. */
export interface AccessUnit {
  pid: number
  pts: number
  dts: number
  /** random_access_indicator. */
  isKey: boolean
  /** The PES packet in several byte arrays. The first one contains the header. */
  blocks: Uint8Array[]
  bytes: number
  headerBytes: number
}

export class AccessUnitReader {
  readonly #reader = new PacketReader()
  readonly #pat = new SectionAssembler()
  readonly #pmt = new SectionAssembler()
  readonly #pids = new Set<number>()
  #mapPid: number | null = null
  #map: ProgramMap | null = null
  #open: AccessUnit | null = null
  /** The newest time stamp, as read and unwrapped. */
  #clock: { read: number; ticks: number } | null = null

  /** The first program map; null until it arrives. */
  get map(): ProgramMap | null {
    return this.#map
  }

  push(block: Uint8Array): AccessUnit[] {
    const units: AccessUnit[] = []
    for (const packet of this.#reader.push(block)) this.#packet(packet, units)
    return units
  }

  end(): AccessUnit[] {
    const units: AccessUnit[] = []
    for (const packet of this.#reader.end()) this.#packet(packet, units)
    this.#close(units)
    return units
  }

  #packet(packet: Uint8Array, units: AccessUnit[]): void {
    const pid = pidOf(packet)
    if (this.#pids.has(pid)) return this.#media(pid, packet, units)
    if (pid === PAT_PID && this.#mapPid === null)
      for (const section of this.#pat.push(packet)) this.#mapPid = readPat(section)?.values().next().value ?? null
    else if (pid === this.#mapPid && this.#map === null)
      for (const section of this.#pmt.push(packet)) {
        this.#map = readPmt(section)
        for (const stream of this.#map?.streams ?? []) this.#pids.add(stream.pid)
      }
  }

  /**
   * ffmpeg writes a PES packet without interruption: the start of the next one ends it, whether or not it states its
   * length.
   */
  #media(pid: number, packet: Uint8Array, units: AccessUnit[]): void {
    const payload = payloadOf(packet)
    if (payload.length === 0) return
    if (isPayloadStart(packet)) {
      this.#close(units)
      const stamps = readPesTimestamps(payload)
      if (stamps === null) return
      const dts = this.#unwrap(stamps.dts)
      const isKey = (packet[3]! & 0x20) !== 0 && packet[4]! > 0 && (packet[5]! & 0x40) !== 0
      const pts = dts + ticksBetween(stamps.dts, stamps.pts)
      this.#open = { pid, pts, dts, isKey, blocks: [], bytes: 0, headerBytes: 9 + payload[8]! }
    }
    if (this.#open?.pid !== pid) return
    this.#open.blocks.push(payload)
    this.#open.bytes += payload.length
  }

  #close(units: AccessUnit[]): void {
    if (this.#open !== null) units.push(this.#open)
    this.#open = null
  }

  #unwrap(read: number): number {
    const ticks = this.#clock === null ? read : this.#clock.ticks + ticksBetween(this.#clock.read, read)
    this.#clock = { read, ticks }
    return ticks
  }
}
