// In charge of: display sets of DVB subtitles, and inserting them into a transport stream that ffmpeg made (ETSI EN 300
// 743).
// Not in charge of: objects. Without `box`, the pages declare regions but show nothing.
import { readPesTimestamps } from '../../../transcoder/formats/mpegts/clock.ts'
import { payloadOf, pidOf, isPayloadStart } from '../../../transcoder/formats/mpegts/packet.ts'
import { SectionAssembler, toPackets } from '../../../transcoder/formats/mpegts/section.ts'
import { isVideo, readPat, readPmt, writePmt } from '../../../transcoder/formats/mpegts/programTables.ts'
import { pesHeader } from '../../../transcoder/formats/tsMultiplexer/pesHeader.ts'
import { splitPackets } from './cueClips.ts'

/** subtitling_descriptor: German, no particular aspect ratio, pages 1 and 1. */
export const DESCRIPTOR = [0x59, 8, 0x64, 0x65, 0x75, 0x10, 0, 1, 0, 1]

export interface Page {
  /** Seconds after the first frame. */
  seconds: number
  /** page_state: an acquisition point, or a page update. */
  state?: 'whole' | 'change'
  /** page_time_out in seconds. */
  timeOut?: number
  regions?: number
  /** One region that is filled with a colour, instead of `regions`. */
  box?: { x: number; y: number; width: number; height: number; color: readonly [y: number, cr: number, cb: number] }
  /** A display definition; missing = 720 × 576. */
  canvas?: { width: number; height: number }
}

/** A display set: one page composition, what it shows, and its end segment. */
export function displaySet({ state = 'whole', timeOut = 30, regions = 1, box, canvas }: Page): Uint8Array {
  const places =
    box === undefined
      ? Array.from({ length: regions }, () => [0, 0, 0, 10, 0, 10]).flat()
      : [0, 0, ...short(box.x), ...short(box.y)]
  return Uint8Array.of(
    0x20,
    0,
    ...(canvas === undefined ? [] : segment(0x14, [0, ...short(canvas.width - 1), ...short(canvas.height - 1)])),
    ...segment(0x10, [timeOut, state === 'whole' ? 0x04 : 0, ...places]),
    // Filled with entry 5, four bits per pixel.
    ...(box === undefined
      ? []
      : [
          ...segment(0x11, [0, 0x08, ...short(box.width), ...short(box.height), 2 << 2, 0, 0, 5 << 4]),
          ...segment(0x12, [0, 0, 5, 0x41, ...box.color, 0]),
        ]),
    ...segment(0x80, []),
    0xff,
  )
}

function segment(type: number, body: readonly number[]): number[] {
  return [0x0f, type, 0, 1, ...short(body.length), ...body]
}

function short(value: number): [number, number] {
  return [value >> 8, value & 0xff]
}

/** All of them are inserted before the first video packet. */
export function withSubtitles(bytes: Uint8Array, pid: number, pages: readonly Page[]): Buffer {
  const [pat, pmt] = [new SectionAssembler(), new SectionAssembler()]
  const out: Uint8Array[] = []
  let mapPid: number | null = null
  let videoPid: number | null = null
  let mapCounter = 0
  let isPlaced = false
  for (const packet of splitPackets(bytes)) {
    const own = pidOf(packet)
    if (own === 0) for (const section of pat.push(packet)) mapPid = readPat(section)?.values().next().value ?? mapPid
    const stamps = own === videoPid && isPayloadStart(packet) && !isPlaced ? readPesTimestamps(payloadOf(packet)) : null
    if (stamps !== null) {
      out.push(...pages.map((page, at) => packetOf(pid, at, stamps.pts + Math.round(page.seconds * 90_000), page)))
      isPlaced = true
    }
    if (own !== mapPid) out.push(packet)
    else
      for (const section of pmt.push(packet)) {
        const map = readPmt(section)!
        videoPid = map.streams.find(isVideo)!.pid
        const streams = [...map.streams, { type: 0x06, pid, descriptors: Uint8Array.from(DESCRIPTOR) }]
        const packets = toPackets(writePmt({ ...map, streams }), mapPid, mapCounter)
        mapCounter += packets.length
        out.push(...packets)
      }
  }
  return Buffer.concat(out)
}

function packetOf(pid: number, counter: number, pts: number, page: Page): Uint8Array {
  const media = displaySet(page)
  const header = pesHeader(0xbd, pts, media.length)
  const packet = new Uint8Array(188).fill(0xff)
  packet.set([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x30 | (counter & 15), 183 - header.length - media.length, 0])
  packet.set(header, 188 - header.length - media.length)
  packet.set(media, 188 - media.length)
  return packet
}
