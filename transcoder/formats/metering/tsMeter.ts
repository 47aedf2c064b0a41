// In charge of: counting the bytes of a transport stream while this program writes it: of each stream, and of the whole
// per second.
// Not in charge of: cutting it (segmenter/cutters), checking that it is complete (outputAnalysis/fileAnalysis.ts).
import { readPcr, readPesTimestamps, TICKS_PER_SECOND, ticksBetween } from '../mpegts/clock.ts'
import { PACKET_BYTES, PacketReader, PAT_PID, payloadOf, pidOf, isPayloadStart } from '../mpegts/packet.ts'
import { SectionAssembler } from '../mpegts/section.ts'
import { isVideo, readPat, readPmt, type ProgramMap } from '../mpegts/programTables.ts'
import { concatBytes } from '../concatBytes.ts'
import { codecString } from '../video/annexB.ts'
import type { MediaCounts, TrackCount } from './byteCounts.ts'
import { BytesPerSecond } from './bytesPerSecond.ts'

/** Bytes of the first frame that are searched for its parameter sets. */
const HEAD_BYTES = 64 * 1024

/** The counts of one PID so far. */
interface StreamCount {
  bytes: number
  /** Ticks from the first time stamp to the last, and the bytes before the last one. */
  ticks: number
  upTo: number
  last: number | null
}

export class TsMeter {
  readonly #reader = new PacketReader()
  readonly #pat = new SectionAssembler()
  readonly #pmt = new SectionAssembler()
  readonly #seconds = new BytesPerSecond()
  readonly #streams = new Map<number, StreamCount>()
  #mapPid: number | null = null
  #map: ProgramMap | null = null
  #videoPid: number | null = null
  #head: Uint8Array[] = []
  #headBytes = 0
  /** Bytes of the stream so far, and the position of the last PCR. */
  #position = 0
  #clock: { ticks: number; elapsed: number; position: number } | null = null

  push(block: Uint8Array): void {
    for (const packet of this.#reader.push(block)) this.#packet(packet)
  }

  end(): MediaCounts {
    for (const packet of this.#reader.end()) this.#packet(packet)
    // Bytes after the last PCR are added to its second.
    if (this.#clock !== null)
      this.#seconds.add(this.#clock.elapsed / TICKS_PER_SECOND, this.#position - this.#clock.position)
    const streams = this.#map?.streams ?? []
    const video = streams.find(isVideo)
    return {
      tracks: streams.map(({ pid }) => ({ id: pid, ...lengthOf(this.#streams.get(pid)) })),
      seconds: this.#seconds,
      codecString: video === undefined ? null : codecString(video.type, concatBytes(this.#head)),
    }
  }

  #packet(packet: Uint8Array): void {
    const pid = pidOf(packet)
    if (pid === PAT_PID) {
      for (const section of this.#pat.push(packet))
        this.#mapPid = readPat(section)?.values().next().value ?? this.#mapPid
    } else if (pid === this.#mapPid) {
      for (const section of this.#pmt.push(packet)) this.#read(readPmt(section))
    } else this.#count(pid, packet)
    if (pid === this.#map?.clockPid) this.#readClock(packet)
    this.#position += PACKET_BYTES
  }

  #read(map: ProgramMap | null): void {
    if (map === null) return
    this.#map = map
    this.#videoPid = map.streams.find(isVideo)?.pid ?? null
  }

  #count(pid: number, packet: Uint8Array): void {
    const payload = payloadOf(packet)
    const media = isPayloadStart(packet) ? payload.subarray(headerBytes(payload)) : payload
    const passed = this.#streams.get(pid) ?? { bytes: 0, ticks: 0, upTo: 0, last: null }
    const stamps = isPayloadStart(packet) ? readPesTimestamps(payload) : null
    if (stamps !== null) {
      passed.ticks += passed.last === null ? 0 : Math.max(0, ticksBetween(passed.last, stamps.dts))
      passed.upTo = passed.bytes
      passed.last = stamps.dts
    }
    passed.bytes += media.length
    this.#streams.set(pid, passed)
    if (pid !== this.#videoPid || this.#headBytes >= HEAD_BYTES) return
    this.#head.push(Uint8Array.from(media))
    this.#headBytes += media.length
  }

  /** Spreads the bytes between two PCRs over the time between them. */
  #readClock(packet: Uint8Array): void {
    const ticks = readPcr(packet)
    if (ticks === null) return
    const before = this.#clock
    const elapsed = before === null ? 0 : before.elapsed + Math.max(0, ticksBetween(before.ticks, ticks))
    if (before !== null)
      this.#seconds.addInterval(
        before.elapsed / TICKS_PER_SECOND,
        elapsed / TICKS_PER_SECOND,
        this.#position - before.position,
      )
    this.#clock = { ticks, elapsed, position: this.#position }
  }
}

/**
 * The last packet has a start time but no duration. Its duration is estimated from its bytes, by the average of all
 * before it.
 */
function lengthOf(
  { bytes, ticks, upTo }: StreamCount = { bytes: 0, ticks: 0, upTo: 0, last: null },
): Omit<TrackCount, 'id'> {
  return { bytes, seconds: upTo === 0 ? null : (ticks / TICKS_PER_SECOND) * (bytes / upTo) }
}

/** Bytes of the header of a PES packet with media (ISO/IEC 13818-1, 2.4.3.6); 0 where none begins. */
function headerBytes(payload: Uint8Array): number {
  const begins = payload.length >= 9 && payload[0] === 0 && payload[1] === 0 && payload[2] === 1
  return begins ? Math.min(payload.length, 9 + payload[8]!) : 0
}
