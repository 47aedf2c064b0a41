// In charge of: the duration of the AAC frames in one PES packet (ISO/IEC 13818-7, 6.2; 14496-3, 1.A).
// Not in charge of: decoding them.
import { TICKS_PER_SECOND } from './clock.ts'

/** sampling_frequency_index of ISO/IEC 14496-3, table 1.18, in Hz. */
const RATES = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350]
/** With spectral band replication the header states half of the sample rate. The duration is the same. */
const SAMPLES = 1024
const HEADER_BYTES = 7

/**
 * Duration in ticks of the frames in `bytes`, which begin with one; null for other data, and where the last frame is
 * incomplete.
 */
export function adtsDuration(bytes: Uint8Array): number | null {
  let ticks = 0
  let at = 0
  while (at + HEADER_BYTES <= bytes.length) {
    const rate = RATES[(bytes[at + 2]! >> 2) & 0xf]
    const length = ((bytes[at + 3]! & 3) << 11) | (bytes[at + 4]! << 3) | (bytes[at + 5]! >> 5)
    // Sync word of twelve ones, and layer 0.
    if (bytes[at] !== 0xff || (bytes[at + 1]! & 0xf6) !== 0xf0 || rate === undefined || length < HEADER_BYTES)
      return null
    const blocks = (bytes[at + 6]! & 3) + 1
    ticks += (blocks * SAMPLES * TICKS_PER_SECOND) / rate
    at += length
  }
  return at === bytes.length && at > 0 ? Math.round(ticks) : null
}
