// In charge of: whether decoding can begin with an access unit of H.264, HEVC or MPEG-2 video: its frame and all frames
// that are shown later are the same as from a decoder that began earlier.
// Not in charge of: finding access units in a transport stream (videoUnits.ts).
import { recoveryFrames } from '../recoveryPoint.ts'

/** Names of ffmpeg. */
export type SoughtCodec = 'h264' | 'hevc' | 'mpeg2video'

/** These bytes of an access unit are enough: parameter sets and SEI messages come before its first slice. */
export const ACCESS_UNIT_BYTES = 16 * 1024

const START_CODE_BYTES = 3
/** Rec. ITU-T H.264, table 7-1. */
const IDR_SLICE = 5
const SEI = 6
/** BLA, IDR, CRA (Rec. ITU-T H.265, table 7-1); 22 and 23 are reserved. */
const FIRST_IRAP = 16
const LAST_IRAP = 21
/** Rec. ITU-T H.262, table 6-1. */
const PICTURE = 0x00
const SEQUENCE_HEADER = 0xb3
const I_PICTURE = 1

export function isSoughtCodec(codec: string): codec is SoughtCodec {
  return codec === 'h264' || codec === 'hevc' || codec === 'mpeg2video'
}

/**
 * Frames that are shown before this one (leading pictures of open GOPs) may be damaged. With intra refresh a picture
 * becomes complete later, and need not be exact then: that is no access point.
 */
export function isAccessPoint(codec: SoughtCodec, unit: Uint8Array): boolean {
  if (codec === 'mpeg2video') return ofMpeg2(unit)
  return codec === 'hevc' ? ofHevc(unit) : ofH264(unit)
}

function ofH264(unit: Uint8Array): boolean {
  let recovery: number | null = null
  for (const at of startCodes(unit)) {
    const type = unit[at]! & 31
    if (type === SEI) recovery ??= recoveryFrames(unit.subarray(at + 1))
    if (type >= 1 && type <= IDR_SLICE) return type === IDR_SLICE || recovery === 0
  }
  return false
}

function ofHevc(unit: Uint8Array): boolean {
  for (const at of startCodes(unit)) {
    const type = (unit[at]! >> 1) & 63
    if (type < 32) return type >= FIRST_IRAP && type <= LAST_IRAP
  }
  return false
}

/** An I picture after a sequence header: P pictures refer to it, and to no earlier picture. */
function ofMpeg2(unit: Uint8Array): boolean {
  let hasHeader = false
  for (const at of startCodes(unit)) {
    if (unit[at] === SEQUENCE_HEADER) hasHeader = true
    if (unit[at] === PICTURE) return hasHeader && ((unit[at + 2] ?? 0) >> 3) % 8 === I_PICTURE
  }
  return false
}

/** Positions of the bytes after start codes. */
function* startCodes(bytes: Uint8Array): Generator<number> {
  for (let at = START_CODE_BYTES; at < bytes.length; at += 1)
    if (bytes[at - 1] === 1 && bytes[at - 2] === 0 && bytes[at - 3] === 0) yield at
}
