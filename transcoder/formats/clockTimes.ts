// In charge of: the clock of a container without a length of its own, at some place of its bytes: PCR of a transport stream,
// SCR of a program stream, times of FLV tags, send times of ASF packets; in ticks of 90 kHz, wrapped to 33 bits.
// Not in charge of: what the times say (analysis/mediaLength.ts).
import { readPcr, TICKS_PER_SECOND, wrapTicks } from './mpegts/clock.ts'
import { PacketReader, pidOf } from './mpegts/packet.ts'

interface ClockTime {
  /** Times of different clocks do not compare: a PID, or a kind of FLV tag. */
  clock: number
  ticks: number
  offset: number
}

/** By ffmpeg's name of the container. */
export const CLOCK_READERS: Readonly<Record<string, (bytes: Uint8Array) => ClockTime[]>> = {
  mpegts: transportTimes,
  mpeg: programTimes,
  flv: flvTimes,
  live_flv: flvTimes,
  asf: asfTimes,
}

function transportTimes(bytes: Uint8Array): ClockTime[] {
  const reader = new PacketReader()
  const times = []
  for (const packet of reader.push(bytes)) {
    const ticks = readPcr(packet)
    if (ticks !== null) times.push({ clock: pidOf(packet), ticks, offset: reader.position })
  }
  return times
}

/** ISO/IEC 13818-1, 2.5.3.3; ISO/IEC 11172-1, 2.4.3.2. */
function programTimes(bytes: Uint8Array): ClockTime[] {
  const times = []
  for (let at = 0; at + 9 < bytes.length; at += 1) {
    if (bytes[at] !== 0 || bytes[at + 1] !== 0 || bytes[at + 2] !== 1 || bytes[at + 3] !== 0xba) continue
    const [a, b, c, d, e] = bytes.subarray(at + 4, at + 9) as unknown as [number, number, number, number, number]
    const [isFirst, isSecond] = [a >> 4 === 2 && (c & 1) === 1 && (e & 1) === 1, a >> 6 === 1 && (c & 4) === 4]
    const low = isFirst ? (c >> 1) * 2 ** 15 + d * 2 ** 7 + (e >> 1) : 0
    if (isFirst) times.push({ clock: 1, ticks: ((a >> 1) & 7) * 2 ** 30 + b * 2 ** 22 + low, offset: at })
    if (!isSecond) continue
    const high = ((a >> 3) & 7) * 2 ** 30 + (a & 3) * 2 ** 28 + b * 2 ** 20 + (c >> 3) * 2 ** 15
    times.push({ clock: 2, ticks: high + (c & 3) * 2 ** 13 + d * 2 ** 5 + (e >> 3), offset: at })
  }
  return times
}

const [AUDIO_TAG, VIDEO_TAG, HEADER_BYTES] = [8, 9, 11]

/** Adobe Flash Video File Format 10.1, E.4.1. A tag is known by the size that follows it. */
function flvTimes(bytes: Uint8Array): ClockTime[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const times = []
  for (let at = 0; at + HEADER_BYTES + 4 <= bytes.length; at += 1) {
    const type = bytes[at]!
    if (type !== AUDIO_TAG && type !== VIDEO_TAG) continue
    const size = view.getUint32(at) % 2 ** 24
    const end = at + HEADER_BYTES + size
    if (end + 4 > bytes.length || view.getUint32(end) !== HEADER_BYTES + size) continue
    const milliseconds = bytes[at + 7]! * 2 ** 24 + Math.floor(view.getUint32(at + 4) / 256)
    times.push({ clock: type, ticks: wrapTicks((milliseconds * TICKS_PER_SECOND) / 1000), offset: at })
    at = end + 3
  }
  return times
}

/** Bytes of a field, by two bits of the flags. */
const ASF_FIELD = [0, 1, 2, 4] as const
/** Error correction data of two bytes, before the flags. */
const ASF_CORRECTION = 3
/** The property flags of every packet (0x5d). */
const ASF_PROPERTIES = 0x5d

/** ASF specification 01.20.05, 5.2.1 and 5.2.2. A packet is known by flags that have one value in all files. */
function asfTimes(bytes: Uint8Array): ClockTime[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const times = []
  for (let at = 0; at + 24 <= bytes.length; at += 1) {
    if (bytes[at] !== 0x82 || bytes[at + 1] !== 0 || bytes[at + 2] !== 0) continue
    const flags = bytes[at + ASF_CORRECTION]!
    if (bytes[at + ASF_CORRECTION + 1] !== ASF_PROPERTIES) continue
    const fields = [flags >> 5, flags >> 1, flags >> 3].reduce(
      (sum, bits) => sum + ASF_FIELD[(bits & 3) as 0 | 1 | 2 | 3],
      0,
    )
    const milliseconds = view.getUint32(at + ASF_CORRECTION + 2 + fields, true)
    times.push({ clock: 1, ticks: wrapTicks((milliseconds * TICKS_PER_SECOND) / 1000), offset: at })
  }
  return times
}
