// In charge of: which streams of a recording begin within an audio frame or a group of pictures, according to its first
// bytes: decoder errors before the first frame are then no damage.
// Not in charge of: how a recording ends (streamEnding.ts), leaving out these errors (damageMonitor.ts).
import { readPesTimestamps } from '../../formats/mpegts/clock.ts'
import { PacketReader, payloadOf, pidOf, isPayloadStart } from '../../formats/mpegts/packet.ts'
import type { AudioStream, MediaInfo, VideoStream } from '../../plan/model/mediaInfo.ts'

/** Enough for the first packet of each stream, also at 50 Mb/s: 40 ms of it. */
export const BEGINNING_BYTES = 256 * 1024

/** Formats without an index whose beginning can be parsed here. */
export const MAY_BE_CUT: ReadonlySet<string> = new Set(['mpegts', 'mpeg', 'h264'])

const PACK_STREAMS = 0xbc
const PRIVATE_STREAM = 0xbd

/** Returns the indexes of these streams. */
export function begunWithin(bytes: Uint8Array, media: MediaInfo): Set<number> {
  const streams = [...(media.video === null ? [] : [media.video]), ...media.audio]
  const first = firstOf(bytes, media.formats)
  return new Set(streams.flatMap((stream) => (isWithin(stream, first(stream)) ? stream.index : [])))
}

/** Returns the first bytes of an elementary stream. */
function firstOf(bytes: Uint8Array, formats: readonly string[]): (stream: VideoStream | AudioStream) => Uint8Array {
  const none = new Uint8Array()
  if (formats.includes('h264')) return () => bytes
  if (formats.includes('mpegts')) return ({ id }) => (id === null ? none : ofTransport(bytes, id))
  if (formats.includes('mpeg')) return ({ id }) => (id === null ? none : ofProgram(bytes, id))
  return () => none
}

/**
 * HEVC is not included: its frames before the first key frame are decoded and shown, without the frames to which they
 * refer.
 */
function isWithin({ codec }: VideoStream | AudioStream, bytes: Uint8Array): boolean {
  if (codec === 'h264') return firstSlice(bytes) === SLICE
  const [first = 0, second = 0] = bytes
  if (bytes.length < 2) return false
  if (codec === 'mp2' || codec === 'mp3' || codec === 'mp1') return first !== 0xff || second >> 5 !== 7
  if (codec === 'ac3' || codec === 'eac3') return first !== 0x0b || second !== 0x77
  return false
}

/** nal_unit_type of a slice of a non-IDR picture, and of an IDR picture. */
const SLICE = 1
const IDR_SLICE = 5

function firstSlice(bytes: Uint8Array): number | null {
  for (let at = 0; at + 3 < bytes.length; at++) {
    if (bytes[at] !== 0 || bytes[at + 1] !== 0 || bytes[at + 2] !== 1) continue
    const type = bytes[at + 3]! & 31
    if (type >= SLICE && type <= IDR_SLICE) return type
  }
  return null
}

/** From its first PES packet on: earlier data belongs to a PES packet that began before, and is ignored by demuxers. */
function ofTransport(bytes: Uint8Array, pid: number): Uint8Array {
  const reader = new PacketReader()
  const parts: Uint8Array[] = []
  for (const packet of reader.push(bytes)) {
    const payload = payloadOf(packet)
    if (pidOf(packet) !== pid || payload.length === 0) continue
    if (isPayloadStart(packet) && parts.length > 0) break
    if (isPayloadStart(packet) && readPesTimestamps(payload) !== null) parts.push(payload.subarray(9 + payload[8]!))
    else if (parts.length > 0) parts.push(payload)
  }
  return Buffer.concat(parts)
}

/** `id`: the start code of its PES packets, or the number within private stream 1. */
function ofProgram(bytes: Uint8Array, id: number): Uint8Array {
  const parts: Uint8Array[] = []
  for (let at = 0; at + 9 < bytes.length; at++) {
    if (bytes[at] !== 0 || bytes[at + 1] !== 0 || bytes[at + 2] !== 1 || bytes[at + 3]! < PACK_STREAMS) continue
    const code = bytes[at + 3]!
    const end = at + 6 + ((bytes[at + 4]! << 8) | bytes[at + 5]!)
    const start = at + 9 + bytes[at + 8]!
    if (code === (id & 0xff) && id > 0xff) parts.push(bytes.subarray(start, end))
    // AC-3 has four more header bytes, which locate the first frame (DVD).
    else if (code === PRIVATE_STREAM && bytes[start] === id) parts.push(bytes.subarray(start + 4, end))
    at = Math.max(at, end - 1)
  }
  return Buffer.concat(parts)
}
