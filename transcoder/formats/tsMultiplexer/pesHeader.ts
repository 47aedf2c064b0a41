// In charge of: writing the header of a PES packet of whole audio frames (ISO/IEC 13818-1, 2.4.3.6), and replacing the
// time stamps of an existing one.
// Not in charge of: the payload (streamQueue.ts).
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import { wrapTicks } from '../mpegts/clock.ts'
import type { AccessUnit } from './accessUnitReader.ts'

const STAMP_BYTES = 5
const FIRST_STAMP = 9
const HEADER_BYTES = FIRST_STAMP + STAMP_BYTES
/** The four bits before a time stamp: for a PTS alone, and for PTS and DTS. */
const PTS_ONLY = 2
const PTS_FIRST = 3
const DTS_SECOND = 1

/** A header with a PTS and data_alignment_indicator: the payload begins with a frame. */
export function pesHeader(streamId: number, pts: number, payloadBytes: number): Uint8Array {
  const length = payloadBytes + HEADER_BYTES - 6
  return Uint8Array.of(
    ...[0, 0, 1, streamId, length >> 8, length & 0xff, 0x84, 0x80, STAMP_BYTES],
    ...stamp(PTS_ONLY, pts),
  )
}

/** The same unit with another PTS, which is also its DTS. */
export function restamped(unit: AccessUnit, pts: number): AccessUnit {
  const [first, ...rest] = unit.blocks
  const head = Uint8Array.from(first!)
  const hasBoth = head[7]! >> 6 === PTS_FIRST
  head.set(stamp(hasBoth ? PTS_FIRST : PTS_ONLY, pts), FIRST_STAMP)
  if (hasBoth) head.set(stamp(DTS_SECOND, pts), FIRST_STAMP + STAMP_BYTES)
  return { ...unit, ...{ pts, dts: pts, blocks: [head, ...rest] } }
}

function stamp(kind: number, ticks: number): number[] {
  const wrapped = wrapTicks(ticks)
  const high = Math.floor(wrapped / 2 ** 30)
  const low = wrapped % 2 ** 30
  return [
    ...[(kind << 4) | (high << 1) | 1, (low >> 22) & 0xff, ((low >> 14) & 0xfe) | 1],
    ...[(low >> 7) & 0xff, ((low << 1) & 0xfe) | 1],
  ]
}
