// In charge of: reading and writing PAT and PMT, the tables of a transport stream's content (ISO/IEC 13818-1, 2.4.4.3
// and 2.4.4.8).
// Not in charge of: their packets (section.ts).
import { crc32, sealSection } from './crc.ts'
/* oxlint-disable unicorn/no-useless-spread -- the fields of one row of the standard stay on one line */

const PAT = 0
const PMT = 2
/** Longest section of a table: section_length is at most 1021. */
const MAX_TABLE_BYTES = 1024

export interface ElementaryStream {
  type: number
  pid: number
  descriptors: Uint8Array
}

export interface ProgramMap {
  program: number
  /** Five bits of version_number. */
  version: number
  clockPid: number
  descriptors: Uint8Array
  streams: ElementaryStream[]
}

export interface Descriptor {
  tag: number
  body: Uint8Array
}

/** Codecs of the stream_types of video that this program reads or writes (table 2-34). MPEG-1 and MPEG-2 have one decoder. */
const videoCodecs: Readonly<Record<number, string>> = {
  0x01: 'mpeg2video',
  0x02: 'mpeg2video',
  0x10: 'mpeg4',
  0x1b: 'h264',
  0x24: 'hevc',
  0xea: 'vc1',
}

/** undefined = no video. */
export function videoCodecOf({ type }: Pick<ElementaryStream, 'type'>): string | undefined {
  return videoCodecs[type]
}

export function isVideo(stream: ElementaryStream): boolean {
  return videoCodecOf(stream) !== undefined
}

/** An undamaged table of that kind that is currently valid (current_next_indicator). */
function isTable(section: Uint8Array, id: number, shortest: number): boolean {
  return section[0] === id && section.length >= shortest && (section[5]! & 1) === 1 && crc32(section) === 0
}

const word = (bytes: Uint8Array, at: number): number => (bytes[at]! << 8) | bytes[at + 1]!
const pidAt = (bytes: Uint8Array, at: number): number => word(bytes, at) & 0x1fff
const lengthAt = (bytes: Uint8Array, at: number): number => word(bytes, at) & 0x0fff

/**
 * Program numbers and the PIDs of their maps, without the network's own entry; null for anything but an undamaged PAT.
 */
export function readPat(section: Uint8Array): Map<number, number> | null {
  if (!isTable(section, PAT, 12)) return null
  const programs = new Map<number, number>()
  for (let at = 8; at + 8 <= section.length; at += 4)
    if (word(section, at) !== 0) programs.set(word(section, at), pidAt(section, at + 2))
  return programs
}

/** null for anything but an undamaged PMT. */
export function readPmt(section: Uint8Array): ProgramMap | null {
  if (!isTable(section, PMT, 16)) return null
  const end = section.length - 4
  const from = 12 + lengthAt(section, 10)
  if (from > end) return null
  const streams: ElementaryStream[] = []
  for (let at = from; at + 5 <= end;) {
    const next = at + 5 + lengthAt(section, at + 3)
    if (next > end) return null
    streams.push({ type: section[at]!, pid: pidAt(section, at + 1), descriptors: section.slice(at + 5, next) })
    at = next
  }
  return {
    program: word(section, 3),
    version: (section[5]! >> 1) & 31,
    clockPid: pidAt(section, 8),
    descriptors: section.slice(12, from),
    streams,
  }
}

/** Throws RangeError for a map that does not fit into a table. */
export function writePmt(map: ProgramMap): Uint8Array {
  const { program, version, clockPid, descriptors, streams } = map
  const body = [
    ...[program >> 8, program & 0xff, 0xc1 | (version << 1), 0, 0, 0xe0 | (clockPid >> 8), clockPid & 0xff],
    ...[0xf0 | (descriptors.length >> 8), descriptors.length & 0xff, ...descriptors],
    ...streams.flatMap(({ type, pid, descriptors: own }) => [
      ...[type, 0xe0 | (pid >> 8), pid & 0xff, 0xf0 | (own.length >> 8), own.length & 0xff],
      ...own,
    ]),
  ]
  const length = body.length + 4
  if (length + 3 > MAX_TABLE_BYTES) throw new RangeError('a program map is longer than a table can be')
  return sealSection(Uint8Array.from([PMT, 0xb0 | (length >> 8), length & 0xff, ...body, 0, 0, 0, 0]))
}

/** Descriptors of a loop. A descriptor that extends past the end of the loop is dropped with all that follow. */
export function readDescriptors(loop: Uint8Array): Descriptor[] {
  const found: Descriptor[] = []
  for (let at = 0; at + 2 <= loop.length; at += 2 + loop[at + 1]!) {
    const end = at + 2 + loop[at + 1]!
    if (end > loop.length) break
    found.push({ tag: loop[at]!, body: loop.subarray(at + 2, end) })
  }
  return found
}
