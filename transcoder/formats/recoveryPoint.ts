// In charge of: the recovery point of H.264 (ITU-T H.264, D.1.8): after how many frames all of a picture is right where
// decoding begins with this one.
import { BitReader } from './bitReader.ts'

/** Annex D: payloadType of the recovery point SEI message. */
const RECOVERY_POINT = 6

/**
 * `sei`: the bytes after the header of its NAL unit. @returns recovery_frame_cnt; null = another message, or one that
 * cannot be read
 */
export function recoveryFrames(sei: Uint8Array): number | null {
  for (let at = 0; at + 2 < sei.length;) {
    let type = 0
    while (sei[at] === 0xff) {
      type += 255
      at += 1
    }
    type += sei[at++] ?? 0
    let size = 0
    while (sei[at] === 0xff) {
      size += 255
      at += 1
    }
    size += sei[at++] ?? 0
    if (type === RECOVERY_POINT) return expGolomb(sei.subarray(at))
    // A start code ends the NAL unit; trailing bits follow the last message.
    if (sei[at + size] === undefined || sei[at + size] === 0x80) return null
    at += size
  }
  return null
}

/** ue(v), at most 16 bits of it. */
function expGolomb(bytes: Uint8Array): number | null {
  const reader = new BitReader(bytes)
  try {
    let zeros = 0
    while (!reader.flag()) zeros += 1
    return zeros > 16 ? null : 2 ** zeros - 1 + reader.read(zeros)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
