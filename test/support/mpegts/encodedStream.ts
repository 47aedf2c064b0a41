// In charge of: an encoder's transport stream with access units of any size at any time, made without an encoder.
// Not in charge of: decodable frames: they declare what a decoder's buffers depend on, and are stuffing otherwise.
/* oxlint-disable unicorn/no-useless-spread -- the fields of one header stay on one line */
import { toPackets } from '../../../transcoder/formats/mpegts/section.ts'
import { writePmt, type ElementaryStream } from '../../../transcoder/formats/mpegts/programTables.ts'
import { pesHeader } from '../../../transcoder/formats/tsMultiplexer/pesHeader.ts'
import { writePat } from '../../../transcoder/formats/tsMultiplexer/serviceTables.ts'

const MAP_PID = 0x1000
export const FIRST_PID = 0x100
const SECOND = 90_000
/** The first timestamp. */
export const ORIGIN = 10 * SECOND

export interface Stream {
  type: number
  descriptors?: number[]
  streamId: number
  units: { seconds: number; media: Uint8Array; isKey?: boolean }[]
}

export interface Frame {
  seconds: number
  bytes: number
}

/** Access unit delimiter, SPS (High profile, level 3, 320 × 180 at 25 fps, no HRD parameters) and PPS of H.264. */
const PARAMETERS = [
  ...[0, 0, 0, 1, 0x09, 0xf0],
  ...[0, 0, 0, 1, ...Buffer.from('6764001eacd941419f9f011000000300100000030320f162d960', 'hex')],
  ...[0, 0, 0, 1, ...Buffer.from('68eae3cb22c0', 'hex')],
]
const SLICE = [0, 0, 0, 1, 0x09, 0xf0, 0, 0, 0, 1, 0x41]

/** H.264; the first frame is a key frame. */
export function video(frames: readonly Frame[]): Stream {
  const units = frames.map(({ seconds, bytes }, at) => {
    const media = new Uint8Array(Math.max(bytes, 64)).fill(0x55)
    media.set(at === 0 ? PARAMETERS : SLICE)
    return { seconds, media, isKey: at === 0 }
  })
  return { type: 0x1b, streamId: 0xe0, units }
}

/** Stereo AAC at 48 kHz, with frames of `bytes` in each of the periods. */
export function audio(bytes: number, spans: readonly [from: number, to: number][]): Stream {
  const header = [0xff, 0xf1, 0x4c, 0x80 | (bytes >> 11), (bytes >> 3) & 0xff, ((bytes & 7) << 5) | 0x1f, 0xfc]
  const media = new Uint8Array(bytes).fill(0x55)
  media.set(header)
  const units = spans.flatMap(([from, to]) =>
    Array.from({ length: Math.floor(((to - from) * 48_000) / 1024) }, (_, at) => ({
      seconds: from + (at * 1024) / 48_000,
      media,
    })),
  )
  return { type: 0x0f, streamId: 0xc0, units }
}

export function encoded(streams: readonly Stream[]): Uint8Array {
  const declared = streams.map(({ type, descriptors = [] }, at): ElementaryStream => ({
    ...{ type, pid: FIRST_PID + at, descriptors: Uint8Array.from(descriptors) },
  }))
  const map = { program: 1, version: 0, clockPid: FIRST_PID, descriptors: new Uint8Array(0), streams: declared }
  const pat = writePat({ stream: 1, id: 1, name: '', provider: '', type: 1 }, MAP_PID)
  const counters = streams.map(() => 0)
  const packets = [...toPackets(pat, 0, 0), ...toPackets(writePmt(map), MAP_PID, 0)]
  const units = streams.flatMap(({ streamId, units: own }, at) =>
    own.map(({ seconds, media, isKey = false }) => ({ seconds, media, isKey, streamId, at })),
  )
  for (const { seconds, media, isKey, streamId, at } of units.toSorted((a, b) => a.seconds - b.seconds)) {
    const header = pesHeader(streamId, ORIGIN + Math.round(seconds * SECOND), media.length)
    // The PES length of video may be omitted (2.4.3.7); it must be when it does not fit.
    if (streamId === 0xe0) header.fill(0, 4, 6)
    const pes = Buffer.concat([header, media])
    for (let from = 0; from < pes.length;) {
      const packet = new Uint8Array(188).fill(0xff)
      const begins = from === 0
      const part = pes.subarray(from, from + (begins && isKey ? 182 : 184))
      const field = 184 - part.length
      packet.set([0x47, (begins ? 0x40 : 0) | ((FIRST_PID + at) >> 8), (FIRST_PID + at) & 0xff])
      packet[3] = (field > 0 ? 0x30 : 0x10) | (counters[at]! & 15)
      if (field > 0) packet[4] = field - 1
      if (field > 1) packet[5] = begins && isKey ? 0x40 : 0
      packet.set(part, 188 - part.length)
      packets.push(packet)
      counters[at]! += 1
      from += part.length
    }
  }
  return Buffer.concat(packets)
}
