// In charge of: writing the header of a PES packet of whole audio frames (ISO/IEC 13818-1, 2.4.3.6).
// Not in charge of: what is in it (lane.ts).
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import { onClock } from '../mpegts/clock.ts'

const STAMP_BYTES = 5
const HEADER_BYTES = 9 + STAMP_BYTES

/** With a PTS, aligned: the payload begins with a frame. */
export function pesHeader(streamId: number, pts: number, payloadBytes: number): Uint8Array {
  const length = payloadBytes + HEADER_BYTES - 6
  const stamp = onClock(pts)
  const high = Math.floor(stamp / 2 ** 30)
  const low = stamp % 2 ** 30
  return Uint8Array.of(
    ...[0, 0, 1, streamId, length >> 8, length & 0xff, 0x84, 0x80, STAMP_BYTES],
    ...[0x21 | (high << 1), (low >> 22) & 0xff, ((low >> 14) & 0xfe) | 1, (low >> 7) & 0xff, ((low << 1) & 0xfe) | 1],
  )
}
