// In charge of: the packets of one subtitle stream, as ffmpeg copies them: PGS in a .sup file, DVB in a transport stream.
// Not in charge of: their content (pgsDecoder.ts, dvbDecoder.ts).
import { concatBytes } from '../concatBytes.ts'
import { readPesTimestamps } from '../mpegts/clock.ts'
import { isPayloadStart, PacketReader, payloadOf, pidOf } from '../mpegts/packet.ts'
import { readDescriptors, readPat, readPmt } from '../mpegts/programTables.ts'
import { SectionAssembler } from '../mpegts/section.ts'

export interface SubtitlePacket {
  /** Ticks of 90 kHz on the clock of the source, which wraps after `clockPeriod`. */
  ticks: number
  data: Uint8Array
}

export interface SubtitlePacketReader {
  push(block: Uint8Array): Generator<SubtitlePacket>
  /** The packet that only the end of the stream completes. */
  end(): Generator<SubtitlePacket>
  readonly clockPeriod: number
}

const SUP_HEADER = 10
const PGS_COMPOSITION = 0x16
const PGS_END = 0x80
/** A set of two objects that fill a canvas has less than 8 MiB. */
const MAX_SET_BYTES = 32 * 1024 * 1024

/** Each segment has a header of its own: "PG", PTS, DTS. A packet is the segments of one set. */
export class SupReader implements SubtitlePacketReader {
  readonly clockPeriod = 2 ** 32
  #buffered: Uint8Array = new Uint8Array()
  /** `ticks`: the time of the composition, at which the set is shown. At the other times a disc player decodes. */
  #set: { ticks: number; parts: Uint8Array[]; bytes: number } | null = null;

  *push(block: Uint8Array): Generator<SubtitlePacket> {
    const bytes = concatBytes([this.#buffered, block])
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let at = 0
    while (at + SUP_HEADER + 3 <= bytes.length) {
      const end = at + SUP_HEADER + 3 + view.getUint16(at + SUP_HEADER + 1)
      if (end > bytes.length) break
      yield* this.#take(view.getUint32(at + 2), bytes.slice(at + SUP_HEADER, end))
      at = end
    }
    this.#buffered = bytes.slice(at)
  }

  *end(): Generator<SubtitlePacket> {
    yield* this.#complete()
  }

  *#take(ticks: number, segment: Uint8Array): Generator<SubtitlePacket> {
    // A set without an end is damaged, and is decoded all the same: later sets may use its objects.
    if (segment[0] === PGS_COMPOSITION) yield* this.#complete()
    if (segment[0] === PGS_COMPOSITION) this.#set = { ticks, parts: [], bytes: 0 }
    this.#set ??= { ticks, parts: [], bytes: 0 }
    this.#set.bytes += segment.length
    if (this.#set.bytes <= MAX_SET_BYTES) this.#set.parts.push(segment)
    if (segment[0] === PGS_END) yield* this.#complete()
  }

  *#complete(): Generator<SubtitlePacket> {
    if (this.#set === null) return
    const { ticks, parts } = this.#set
    this.#set = null
    yield { ticks, data: concatBytes(parts) }
  }
}

/** A PES packet cannot state more than 64 KiB; sections of DVB subtitles fit into one. */
const MAX_PES_BYTES = 256 * 1024
/** subtitling_descriptor (ETSI EN 300 468, 6.2.41). */
const SUBTITLING = 0x59
const SERVICE_BYTES = 8

/** The PES packets of the only stream of a transport stream. */
export class PesReader implements SubtitlePacketReader {
  readonly clockPeriod = 2 ** 33
  readonly #packets = new PacketReader()
  readonly #tables = new Map([[0, new SectionAssembler()]])
  #pid: number | null = null
  #parts: Uint8Array[] = []
  #bytes = 0
  /** Composition and ancillary page of the first service of the stream; null = not stated. */
  pages: ReadonlySet<number> | null = null;

  *push(block: Uint8Array): Generator<SubtitlePacket> {
    for (const packet of this.#packets.push(block)) yield* this.#take(packet)
  }

  *end(): Generator<SubtitlePacket> {
    for (const packet of this.#packets.end()) yield* this.#take(packet)
    yield* this.#complete()
  }

  *#take(packet: Uint8Array): Generator<SubtitlePacket> {
    const pid = pidOf(packet)
    for (const section of this.#tables.get(pid)?.push(packet) ?? []) this.#readTable(section)
    if (pid !== this.#pid) return
    if (isPayloadStart(packet)) yield* this.#complete()
    const payload = payloadOf(packet)
    this.#bytes += payload.length
    if (this.#bytes <= MAX_PES_BYTES) this.#parts.push(Uint8Array.from(payload))
  }

  #readTable(section: Uint8Array): void {
    for (const table of readPat(section)?.values() ?? [])
      if (!this.#tables.has(table)) this.#tables.set(table, new SectionAssembler())
    const stream = readPmt(section)?.streams[0]
    if (stream === undefined) return
    this.#pid = stream.pid
    for (const { tag, body } of readDescriptors(stream.descriptors))
      if (tag === SUBTITLING && body.length >= SERVICE_BYTES)
        this.pages = new Set([(body[4]! << 8) | body[5]!, (body[6]! << 8) | body[7]!])
  }

  *#complete(): Generator<SubtitlePacket> {
    const bytes = concatBytes(this.#parts)
    this.#parts = []
    this.#bytes = 0
    const times = readPesTimestamps(bytes)
    if (times === null) return
    const length = (bytes[4]! << 8) | bytes[5]!
    const end = length === 0 ? bytes.length : Math.min(bytes.length, 6 + length)
    yield { ticks: times.pts, data: bytes.subarray(9 + bytes[8]!, end) }
  }
}
