// In charge of: inserting teletext into a transport stream that ffmpeg made; ffmpeg cannot write teletext (ETSI EN 300
// 472).
// Not in charge of: pages with text (teletextPages.ts); otherwise each line holds one character.
import { wrapTicks, readPesTimestamps } from '../../../transcoder/formats/mpegts/clock.ts'
import { payloadOf, pidOf, isPayloadStart } from '../../../transcoder/formats/mpegts/packet.ts'
import { SectionAssembler, toPackets } from '../../../transcoder/formats/mpegts/section.ts'
import { isVideo, readPat, readPmt, writePmt } from '../../../transcoder/formats/mpegts/programTables.ts'
import { pesHeader } from '../../../transcoder/formats/tsMultiplexer/pesHeader.ts'
import { splitPackets } from './cueClips.ts'
import { teletextUnits, type TeletextPage } from './teletextPages.ts'

/** teletext_descriptor: German, an initial page, magazine 1, page 0. */
const DESCRIPTOR = [0x56, 5, 0x64, 0x65, 0x75, 0x09, 0x00]
/** teletext_descriptor: German, subtitles, magazine 8, page 88. */
const SUBTITLE_DESCRIPTOR = [0x56, 5, 0x64, 0x65, 0x75, 0x10, 0x88]
/** ffmpeg sends a frame 0.7 s before its time, and reads teletext that is at most 0.14 s behind the clock. */
const AHEAD_TICKS = 54_000
const HEADER_BYTES = 45
const UNIT_BYTES = 46

/** One PES packet per frame, with its PTS, in one transport packet. */
function teletext(pid: number, counter: number, pts: number, text: string | null): Uint8Array {
  const packet = new Uint8Array(188).fill(0xff)
  packet.set([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x10 | (counter & 15)])
  // Padded with stuffing, as the standard requires, so that the data units end with the packet.
  packet.set(pesHeader(0xbd, pts, 184 - 14), 4)
  packet[4 + 8] = HEADER_BYTES - 9
  packet[4 + HEADER_BYTES] = 0x10
  if (text !== null) {
    for (const [unit, bytes] of teletextUnits(text).entries())
      packet.set([0x03, 0x2c, ...bytes], 4 + HEADER_BYTES + 1 + unit * UNIT_BYTES)
    return packet
  }
  for (let unit = 0; unit < 3; unit++) {
    const at = 4 + HEADER_BYTES + 1 + unit * UNIT_BYTES
    packet.set([0x02, 0x2c, 0xe0 | (7 + unit), 0xe4], at)
    packet.fill(0x20, at + 4, at + UNIT_BYTES)
  }
  return packet
}

/** `pages`: what each page shows from its time on, in place of lines of one character. */
export function insertTeletext(bytes: Uint8Array, pid: number, pages: readonly TeletextPage[] | null = null): Buffer {
  const [pat, pmt] = [new SectionAssembler(), new SectionAssembler()]
  const out: Uint8Array[] = []
  let mapPid: number | null = null
  let videoPid: number | null = null
  let counter = 0
  let firstPts: number | null = null
  let mapCounter = 0
  for (const packet of splitPackets(bytes)) {
    const own = pidOf(packet)
    if (own === 0) for (const section of pat.push(packet)) mapPid = readPat(section)?.values().next().value ?? mapPid
    if (own !== mapPid) out.push(packet)
    else
      for (const section of pmt.push(packet)) {
        const map = readPmt(section)!
        videoPid = map.streams.find(isVideo)!.pid
        const streams = [
          ...map.streams,
          { type: 0x06, pid, descriptors: Uint8Array.from(pages === null ? DESCRIPTOR : SUBTITLE_DESCRIPTOR) },
        ]
        const packets = toPackets(writePmt({ ...map, streams }), mapPid, mapCounter)
        mapCounter += packets.length
        out.push(...packets)
      }
    const stamps = own === videoPid && isPayloadStart(packet) ? readPesTimestamps(payloadOf(packet)) : null
    if (stamps === null) continue
    if (pages === null) {
      out.push(teletext(pid, counter, wrapTicks(stamps.dts - AHEAD_TICKS), null))
      counter += 1
      continue
    }
    firstPts ??= stamps.pts
    const pts = stamps.dts - AHEAD_TICKS
    const elapsed = pts - firstPts
    const due = pages.findLast(({ seconds }) => seconds * 90_000 <= elapsed)
    // Each page is sent twice, as broadcasters do.
    if (due === undefined || counter >= 2 * (pages.indexOf(due) + 1)) continue
    out.push(teletext(pid, counter, pts, due.text))
    counter += 1
  }
  return Buffer.concat(out)
}
