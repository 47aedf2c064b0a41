// In charge of: the access units of a video in a stretch of a transport stream: where each begins, when it is shown, and
// whether decoding can begin with it.
// Not in charge of: which stretch is read (analysis/transportSeek.ts).
import { ACCESS_UNIT_BYTES, isAccessPoint, type SoughtCodec } from './accessPoint.ts'
import { readPesTimestamps, type Timestamps } from './clock.ts'
import { isPayloadStart, PacketReader, payloadOf, pidOf } from './packet.ts'

export interface VideoUnit extends Timestamps {
  /** Position in the bytes of the packet in which the unit begins. */
  offset: number
  /** As `isAccessPoint`. */
  isExact: boolean
}

/** Units that begin in these bytes, the first of their PES packets. The last one may be cut off: it begins no decoding. */
export function videoUnits(bytes: Uint8Array, { pid, codec }: { pid: number; codec: SoughtCodec }): VideoUnit[] {
  const units: VideoUnit[] = []
  let open: { times: Timestamps; offset: number; parts: Uint8Array[]; read: number } | null = null
  const close = (): void => {
    if (open === null) return
    units.push({ ...open.times, offset: open.offset, isExact: isAccessPoint(codec, joined(open.parts)) })
    open = null
  }
  for (const packet of new PacketReader().push(bytes)) {
    if (pidOf(packet) !== pid) continue
    const payload = payloadOf(packet)
    if (isPayloadStart(packet)) {
      close()
      const times = readPesTimestamps(payload)
      if (times === null) continue
      const begin = payload.subarray(9 + payload[8]!)
      open = { times, offset: packet.byteOffset - bytes.byteOffset, parts: [begin], read: begin.length }
    } else if (open !== null && open.read < ACCESS_UNIT_BYTES) {
      open.parts.push(payload)
      open.read += payload.length
    }
  }
  close()
  return units
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
