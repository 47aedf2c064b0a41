// In charge of: the level that MPEG-2 video states in its sequence extension (ISO/IEC 13818-2, 6.2.2.3).
// Not in charge of: the limits of a level (bufferLimits.ts).

const EXTENSION = 0xb5
const SEQUENCE = 1

/** level_identification (table 8-3); null where no sequence extension was found. */
export function mpeg2Level(bytes: Uint8Array): number | null {
  for (let at = 0; at + 6 <= bytes.length; at++) {
    if (bytes[at] !== 0 || bytes[at + 1] !== 0 || bytes[at + 2] !== 1 || bytes[at + 3] !== EXTENSION) continue
    if (bytes[at + 4]! >> 4 === SEQUENCE) return bytes[at + 5]! >> 4
  }
  return null
}
