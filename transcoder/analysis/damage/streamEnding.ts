// In charge of: how the streams of a transport stream end, according to its last bytes: with a complete PES packet, or
// with one that may be truncated by the end of the recording (ISO/IEC 13818-1, 2.4.3).
// Not in charge of: which errors that explains (cutEnd.ts).
import { readPesTimestamps } from '../../formats/mpegts/clock.ts'
import { PacketReader, payloadOf, pidOf, isPayloadStart } from '../../formats/mpegts/packet.ts'

/** A second of 16 Mb/s: contains the last packets of every stream that lasts until the end. */
export const ENDING_BYTES = 2 * 1024 * 1024

/** The last PES packet of a stream. */
export interface LastPacket {
  /** The packet is complete, and frames of this stream end with packets. */
  isWhole: boolean
  /** The errors that a decoder reports for it, if that was checked (decodeTail.ts). */
  explains?: { packet: boolean; frame: boolean; message: boolean }
  /** DTS of the packet, on a clock of 33 bits. */
  ticks: number
  /** Index of its first transport packet, in `transportPackets`. */
  index: number
}

interface Unit {
  ticks: number
  index: number
  /** Stated length of the packet, with its header; 0 = not stated, which is allowed for video. */
  stated: number
  read: number
  /** The first bytes of its payload: the beginning of a frame, if frames begin with packets. */
  begin: number
}

interface Stream {
  units: Unit[]
  /** The last transport packet has stuffing, which only the last one of a PES packet has. */
  isStuffed: boolean
}

export interface TransportPacket {
  pid: number
  bytes: Uint8Array
}

export function transportPackets(bytes: Uint8Array): TransportPacket[] {
  const reader = new PacketReader()
  return [...reader.push(bytes), ...reader.end()].map((packet) => ({ pid: pidOf(packet), bytes: packet }))
}

/** By PID: the streams with a packet that begins in these bytes. */
export function lastPackets(bytes: Uint8Array): Map<number, LastPacket> {
  const streams = new Map<number, Stream>()
  for (const [index, { pid, bytes: packet }] of transportPackets(bytes).entries()) {
    const payload = payloadOf(packet)
    const stamps = isPayloadStart(packet) ? readPesTimestamps(payload) : null
    if (payload.length === 0 || (isPayloadStart(packet) && stamps === null)) continue
    const stream = streams.get(pid) ?? { units: [], isStuffed: false }
    if (stamps !== null) stream.units.push({ ...unitOf(payload), ticks: stamps.dts, index })
    else if (stream.units.length > 0) stream.units.at(-1)!.read += payload.length
    stream.isStuffed = isStuffed(packet)
    streams.set(pid, stream)
  }
  const packets = new Map<number, LastPacket>()
  for (const [pid, stream] of streams) {
    const last = stream.units.at(-1)
    if (last !== undefined) packets.set(pid, { ticks: last.ticks, index: last.index, isWhole: isWhole(stream) })
  }
  return packets
}

function isWhole({ units, isStuffed: isFilled }: Stream): boolean {
  const last = units.at(-1)
  if (last === undefined || !isAligned(units)) return false
  return last.stated === 0 ? isFilled : last.read >= last.stated
}

/**
 * Frames begin with packets if all packets begin with the same sync word, except for one that may be damaged. A single
 * packet is no proof.
 */
function isAligned(units: readonly Unit[]): boolean {
  const { begin } = units.toSorted((a, b) => a.begin - b.begin)[units.length >> 1]!
  return units.length > 1 && units.filter((unit) => unit.begin !== begin).length <= 1
}

function unitOf(payload: Uint8Array): Omit<Unit, 'ticks' | 'index'> {
  const stated = (payload[4]! << 8) | payload[5]!
  const start = 9 + payload[8]!
  // 11 bits: the sync word of MPEG audio, of AAC in ADTS and LATM; for video and AC-3 any other 11 bits would do as
  // well.
  const begin = ((payload[start] ?? 0) << 3) | ((payload[start + 1] ?? 0) >> 5)
  return { stated: stated === 0 ? 0 : stated + 6, read: payload.length, begin }
}

/** True if its adaptation field is longer than its content needs. */
function isStuffed(packet: Uint8Array): boolean {
  if ((packet[3]! & 0x20) === 0) return false
  const length = packet[4]!
  if (length === 0) return true
  const flags = packet[5]!
  let said = 1 + ((flags & 0x10) === 0 ? 0 : 6) + ((flags & 0x08) === 0 ? 0 : 6) + ((flags & 0x04) === 0 ? 0 : 1)
  if ((flags & 0x02) !== 0) said += 1 + (packet[5 + said] ?? 0)
  if ((flags & 0x01) !== 0) said += 1 + (packet[5 + said] ?? 0)
  return length > said
}
