// In charge of: the RFC 6381 name of video with start codes, from its first sequence parameter set.
// Not in charge of: names from sample descriptions (formats/mp4/codecConfig.ts).
import { videoStreams } from '../codecs.ts'
import { avcName, hevcName } from '../mp4/codecConfig.ts'

const AVC = videoStreams.h264.streamType
const HEVC = videoStreams.hevc.streamType
/** The part of an HEVC SPS that contains profile, tier and level, and the byte before them. */
const HEVC_SET_BYTES = 13

/** null where the codec has no such name, or no parameter set was found. */
export function codecString(streamType: number, stream: Uint8Array): string | null {
  if (streamType !== AVC && streamType !== HEVC) return null
  for (let at = 0; at + 4 < stream.length; at++) {
    if (stream[at] !== 0 || stream[at + 1] !== 0 || stream[at + 2] !== 1) continue
    const unit = stream.subarray(at + 3)
    if (streamType === AVC && (unit[0]! & 31) === 7 && unit.length >= 4) return avcName(unit.subarray(1, 4))
    if (streamType === HEVC && ((unit[0]! >> 1) & 63) === 33) {
      const set = unescapeNal(unit.subarray(2), HEVC_SET_BYTES)
      return set.length < HEVC_SET_BYTES ? null : hevcName(set.subarray(1))
    }
  }
  return null
}

/** Removes emulation prevention: a 3 after two zeros is not data (ITU-T H.265, 7.4.2). */
export function unescapeNal(unit: Uint8Array, wanted: number): Uint8Array {
  const bytes: number[] = []
  let zeros = 0
  for (const byte of unit) {
    if (bytes.length === wanted) break
    if (zeros >= 2 && byte === 3) {
      zeros = 0
      continue
    }
    zeros = byte === 0 ? zeros + 1 : 0
    bytes.push(byte)
  }
  return Uint8Array.from(bytes)
}
