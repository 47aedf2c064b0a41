// In charge of: which streams of a transport stream are scrambled, by the bits in their packets (ISO/IEC 13818-1,
// 2.4.3.3): a conditional access descriptor is present even while a programme is not scrambled.
// Not in charge of: which program is used (plan/streams/programSelection.ts).
import { elementaryKind } from '../../formats/mpegts/elementaryKind.ts'
import { PacketReader, pidOf } from '../../formats/mpegts/packet.ts'
import { SectionAssembler } from '../../formats/mpegts/section.ts'
import {
  isVideo,
  readDescriptors,
  readPat,
  readPmt,
  type ElementaryStream,
  type ProgramMap,
} from '../../formats/mpegts/programTables.ts'
import type { TrackProtection } from './trackProtection.ts'

const CONDITIONAL_ACCESS = 9
/** Some broadcasters scramble only some of the packets. */
const MIN_SHARE = 0.1

/** `program`: null = the first one that has video. Empty if the bytes are not a transport stream. */
export function scrambledTracks(bytes: Uint8Array, program: number | null): TrackProtection[] {
  const tables = new Map([[0, new SectionAssembler()]])
  const maps: ProgramMap[] = []
  const packets = new Map<number, { all: number; scrambled: number }>()
  const reader = new PacketReader()
  for (const packet of reader.push(bytes)) {
    const pid = pidOf(packet)
    for (const section of tables.get(pid)?.push(packet) ?? []) {
      for (const table of readPat(section)?.values() ?? [])
        if (!tables.has(table)) tables.set(table, new SectionAssembler())
      const map = readPmt(section)
      if (map !== null && !maps.some((known) => known.program === map.program)) maps.push(map)
    }
    const hasPayload = (packet[3]! & 0x10) !== 0
    if (!hasPayload) continue
    const count = packets.get(pid) ?? { all: 0, scrambled: 0 }
    count.all += 1
    if ((packet[3]! & 0xc0) !== 0) count.scrambled += 1
    packets.set(pid, count)
  }
  const map = maps.find((each) => (program === null ? each.streams.some(isVideo) : each.program === program)) ?? maps[0]
  if (map === undefined) return []
  return map.streams.map((stream) => {
    const { all, scrambled } = packets.get(stream.pid) ?? { all: 0, scrambled: 0 }
    const isScrambled = scrambled > all * MIN_SHARE
    return {
      kind: elementaryKind(stream, map.descriptors).media,
      protection: isScrambled ? protectionOf(map, stream) : null,
      pid: stream.pid,
    }
  })
}

function protectionOf(map: ProgramMap, stream: ElementaryStream): string {
  const access = [stream.descriptors, map.descriptors]
    .flatMap(readDescriptors)
    .find(({ tag, body }) => tag === CONDITIONAL_ACCESS && body.length >= 2)
  if (access === undefined) return 'scrambled'
  const system = ((access.body[0]! << 8) | access.body[1]!).toString(16).padStart(4, '0')
  return `scrambled, conditional access system 0x${system}`
}
