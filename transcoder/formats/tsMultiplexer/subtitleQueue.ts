// In charge of: DVB subtitles that begin before the video and are still shown at its start (ETSI EN 300 743, 7.2).
// Not in charge of: when their packets are sent (streamQueue.ts), teletext, where every unit repeats the page.
import { concatBytes } from '../concatBytes.ts'
import { restamped } from './pesHeader.ts'
import type { AccessUnit } from './accessUnitReader.ts'

const DATA_IDENTIFIER = 0x20
const SYNC = 0x0f
const PAGE_COMPOSITION = 0x10
const SEGMENT_HEADER_BYTES = 6
const TICKS_PER_SECOND = 90_000

/**
 * From a stream's units before the first frame, those of the page that is still shown then, with the frame's PTS:
 * players start at the lowest PTS, and would begin the file without video.
 */
export function shownAt(pts: number, earlier: readonly AccessUnit[]): AccessUnit[] {
  const last = Math.max(...earlier.map((unit) => unit.pts))
  // The segments of a display set have one PTS, whether or not they share a PES packet.
  const set = earlier.filter((unit) => unit.pts === last)
  return set.some((unit) => showsUntil(unit) > pts) ? set.map((unit) => restamped(unit, pts)) : []
}

/** When the unit's page disappears at the latest; −∞ where it clears the page or only changes the one before. */
function showsUntil({ pts, blocks, headerBytes }: AccessUnit): number {
  const bytes = concatBytes(blocks).subarray(headerBytes)
  if (bytes[0] !== DATA_IDENTIFIER) return -Infinity
  let until = -Infinity
  for (let at = 2; at + SEGMENT_HEADER_BYTES <= bytes.length && bytes[at] === SYNC;) {
    const from = at + SEGMENT_HEADER_BYTES
    const length = (bytes[at + 4]! << 8) | bytes[at + 5]!
    // page_time_out; page_state: 0 = normal case, which builds on the page before; regions.
    const isWhole = length > 2 && ((bytes[from + 1]! >> 2) & 3) !== 0
    if (bytes[at + 1] === PAGE_COMPOSITION && isWhole) until = Math.max(until, pts + bytes[from]! * TICKS_PER_SECOND)
    at = from + length
  }
  return until
}
