// In charge of: splice_info_sections (ANSI/SCTE 35, section 9): reading them, and shifting their times to another
// clock.
// Not in charge of: their packets (section.ts), finding a program's sections (cueScan.ts).
import { BitReader } from '../bitReader.ts'
import { wrapTicks } from '../mpegts/clock.ts'
import { crc32, sealSection } from '../mpegts/crc.ts'

/** table_id (9.6.1). */
export const SPLICE_TABLE = 0xfc
/** Fixed fields up to splice_command_type, descriptor_loop_length and CRC_32. */
const SHORTEST = 14 + 2 + 4
const COMMAND_START = 14
/** 9.6.1: splice_command_length in sections that predate the field. */
const LENGTH_UNKNOWN = 0xfff
const SEGMENTATION = 0x02
const CUEI = 0x43554549

/** Times are on the stream's 33-bit clock and include `pts_adjustment`. An empty `times` means immediate. */
export type SpliceCommand =
  | { kind: 'null' | 'schedule' | 'reservation' }
  | { kind: 'insert'; eventId: number; cancelled: boolean; out: boolean; times: number[]; break: BreakDuration | null }
  | { kind: 'signal'; times: number[] }
  | { kind: 'private'; identifier: number }
  /** Encrypted, of another protocol version, or of a type unknown to this standard. */
  | { kind: 'opaque' }

export interface BreakDuration {
  /** break_duration() in ticks. */
  ticks: number
  autoReturn: boolean
}

/** segmentation_descriptor (10.3.3): the fields that identify a segment. */
export interface Segmentation {
  eventId: number
  cancelled: boolean
  durationTicks: number | null
  /** segmentation_type_id; null where cancelled. */
  type: number | null
}

export interface SpliceInfo {
  /** pts_adjustment in ticks. */
  adjustment: number
  encrypted: boolean
  command: SpliceCommand
  segmentations: Segmentation[]
}

/** null for anything but an undamaged splice_info_section. */
export function readSplice(section: Uint8Array): SpliceInfo | null {
  if (section[0] !== SPLICE_TABLE || section.length < SHORTEST || crc32(section) !== 0) return null
  const adjustment = new BitReader(section, 4)
  const encrypted = adjustment.flag()
  adjustment.skip(6)
  const info: SpliceInfo = {
    adjustment: adjustment.read(33),
    encrypted,
    command: { kind: 'opaque' },
    segmentations: [],
  }
  // 9.6.1: protocol_version 0 is the only defined one. The fields of other versions are unknown.
  if (encrypted || section[3] !== 0) return info
  const header = new BitReader(section, 11)
  header.skip(4)
  const length = header.read(12)
  const type = header.read(8)
  const end = length === LENGTH_UNKNOWN ? section.length - 4 : COMMAND_START + length
  const field = new BitReader(section.subarray(0, end), COMMAND_START)
  try {
    info.command = readCommand(field, type, info.adjustment)
    // The descriptors begin at the command's stated end, even if it has fields that this reader does not know.
    const descriptors = length === LENGTH_UNKNOWN ? field.byte : end
    if (length !== LENGTH_UNKNOWN || info.command.kind !== 'opaque')
      info.segmentations = readSegmentations(section, descriptors)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
  return info
}

/** splice_command_type (table 7). */
function readCommand(field: BitReader, type: number, adjustment: number): SpliceCommand {
  switch (type) {
    case 0x00:
      return { kind: 'null' }
    case 0x04:
      return { kind: 'schedule' }
    case 0x05:
      return readInsert(field, adjustment)
    case 0x06:
      return { kind: 'signal', times: readTime(field, adjustment) }
    case 0x07:
      return { kind: 'reservation' }
    case 0xff:
      return { kind: 'private', identifier: field.read(32) }
    default:
      return { kind: 'opaque' }
  }
}

/** splice_time() (9.8.1): empty where no time is specified. */
function readTime(field: BitReader, adjustment: number): number[] {
  const given = field.flag()
  field.skip(given ? 6 : 7)
  // 9.6.1: pts_adjustment is added to every pts_time, and a carry is ignored.
  return given ? [wrapTicks(field.read(33) + adjustment)] : []
}

/** splice_insert() (9.7.3). */
function readInsert(field: BitReader, adjustment: number): SpliceCommand {
  const eventId = field.read(32)
  const cancelled = field.flag()
  field.skip(7)
  if (cancelled) return { kind: 'insert', eventId, cancelled, out: false, times: [], break: null }
  const out = field.flag()
  const wholeProgram = field.flag()
  const hasDuration = field.flag()
  const immediate = field.flag()
  field.skip(4)
  const times: number[] = []
  if (wholeProgram) {
    if (!immediate) times.push(...readTime(field, adjustment))
  } else {
    for (let left = field.read(8); left > 0; left--) {
      field.skip(8) // component_tag
      if (!immediate) times.push(...readTime(field, adjustment))
    }
  }
  const pause = hasDuration ? readBreak(field) : null
  field.skip(32) // unique_program_id, avail_num, avails_expected
  return { kind: 'insert', eventId, cancelled, out, times, break: pause }
}

function readBreak(field: BitReader): BreakDuration {
  const autoReturn = field.flag()
  field.skip(6)
  return { autoReturn, ticks: field.read(33) }
}

function readSegmentations(section: Uint8Array, start: number): Segmentation[] {
  const end = Math.min(start + 2 + new BitReader(section, start).read(16), section.length - 4)
  const found: Segmentation[] = []
  for (let at = start + 2; at + 6 <= end; at += 2 + section[at + 1]!) {
    const field = new BitReader(section.subarray(at, at + 2 + section[at + 1]!), 2)
    if (section[at] === SEGMENTATION && field.read(32) === CUEI) found.push(readSegmentation(field))
  }
  return found
}

function readSegmentation(field: BitReader): Segmentation {
  const eventId = field.read(32)
  const cancelled = field.flag()
  field.skip(7)
  if (cancelled) return { eventId, cancelled, durationTicks: null, type: null }
  const wholeProgram = field.flag()
  const hasDuration = field.flag()
  field.skip(6) // delivery restrictions
  if (!wholeProgram) field.skip(field.read(8) * 48)
  const durationTicks = hasDuration ? field.read(40) : null
  field.skip(8) // segmentation_upid_type
  field.skip(field.read(8) * 8)
  return { eventId, cancelled, durationTicks, type: field.read(8) }
}

/**
 * The section for a clock that is ahead of the original by `ticks`. Only pts_adjustment and CRC_32 change: both are
 * outside the encrypted part (9.6.1), so E_CRC_32 stays valid.
 */
export function shiftSpliceTimes(section: Uint8Array, ticks: number): Uint8Array {
  const field = new BitReader(section, 4)
  field.skip(7)
  const adjustment = wrapTicks(field.read(33) + ticks)
  const moved = Uint8Array.from(section)
  moved[4] = (moved[4]! & 0xfe) | (adjustment >= 2 ** 32 ? 1 : 0)
  new DataView(moved.buffer).setUint32(5, adjustment % 2 ** 32)
  return sealSection(moved)
}
