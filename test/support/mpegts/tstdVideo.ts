// In charge of: the decoder buffers of a video stream, from the values that it declares (ISO/IEC 13818-1, 2.4.2.3 and
// 2.14.3).
// Not in charge of: simulating them (tstdModel.ts).
import type { StreamModel } from './tstdModel.ts'

/** MaxBR and MaxCPB of ITU-T H.264, table A-1. */
const AVC_LEVELS: Record<number, [number, number]> = {
  10: [64, 175],
  11: [192, 500],
  12: [384, 1000],
  13: [768, 2000],
  20: [2000, 2000],
  21: [4000, 4000],
  22: [4000, 4000],
  30: [10_000, 10_000],
  31: [14_000, 14_000],
  32: [20_000, 20_000],
  40: [20_000, 25_000],
  41: [50_000, 62_500],
  42: [50_000, 62_500],
  50: [135_000, 135_000],
  51: [240_000, 240_000],
  52: [240_000, 240_000],
}
/** MaxBR and MaxCPB of ITU-T H.265, table A.9, main tier (the same number). */
const HEVC_LEVELS: Record<number, number> = {
  30: 128,
  60: 1500,
  63: 3000,
  90: 6000,
  93: 10_000,
  120: 12_000,
  123: 20_000,
  150: 25_000,
  153: 40_000,
}
/** ISO/IEC 13818-2, tables 8-13 and 8-14: Mb/s and bits of Main profile. */
const MPEG2_LEVELS: Record<number, [number, number]> = {
  4: [80e6, 9_781_248],
  6: [60e6, 7_340_032],
  8: [15e6, 1_835_008],
  10: [4e6, 475_136],
}

export function videoBufferModel(type: number, head: Buffer): StreamModel {
  if (type === 0x02) return mpeg2(head)
  if (type === 0x24) {
    const set = plain(unitOf(head, (byte) => ((byte >> 1) & 63) === 33))
    const rate = HEVC_LEVELS[set[2 + 12]!]! * 1000
    return advanced(rate, 1.1 * rate * 1.2, { bits: rate * 1.1, levelBits: rate * 1.1 })
  }
  const set = plain(unitOf(head, (byte) => (byte & 31) === 7))
  const [kbps, kbits] = AVC_LEVELS[set[3]!]!
  const stated = hrdOf(set)
  return advanced(kbps * 1200, 1.2 * (stated?.rate ?? kbps * 1500), {
    bits: stated?.bits ?? kbits * 1200,
    levelBits: kbits * 1200,
  })
}

/** 2.14.3.1 and 2.17.2. */
function advanced(leak: number, transportRate: number, cpb: { bits: number; levelBits: number }): StreamModel {
  const overhead = (0.004 + 1 / 750) * Math.max(leak, 2_000_000)
  return {
    transportBytes: 512,
    transportRate,
    bufferBytes: (overhead + Math.max(0, cpb.levelBits - cpb.bits)) / 8,
    leak: { rate: leak, bytes: cpb.bits / 8 },
    longestSeconds: 10,
  }
}

function mpeg2(head: Buffer): StreamModel {
  const sequence = head.indexOf(Buffer.of(0, 0, 1, 0xb3))
  const extension = head.indexOf(Buffer.of(0, 0, 1, 0xb5))
  const level = head[extension + 5]! >> 4
  const [highest, bits] = MPEG2_LEVELS[level]!
  const rate = ((head.readUIntBE(sequence + 8, 3) >> 6) & 0x3ffff) * 400
  const size = (((head[sequence + 10]! & 31) << 5) | (head[sequence + 11]! >> 3)) + (head[extension + 8]! << 10)
  const bytes = size * 2048
  const overhead = (0.004 + 1 / 750) * highest
  return {
    transportBytes: 512,
    transportRate: 1.2 * highest,
    bufferBytes: (overhead + (level >= 8 ? Math.max(0, bits - bytes * 8) : 0)) / 8,
    leak: { rate: level >= 8 ? highest : Math.min(1.05 * rate, highest), bytes },
    longestSeconds: 1,
  }
}

function unitOf(head: Buffer, wanted: (byte: number) => boolean): Buffer {
  for (let at = head.indexOf(Buffer.of(0, 0, 1)); at >= 0; at = head.indexOf(Buffer.of(0, 0, 1), at + 3))
    if (wanted(head[at + 3]!)) return head.subarray(at + 3, at + 300)
  throw new Error('no parameter set in the first picture')
}

function plain(unit: Buffer): Buffer {
  const bytes: number[] = []
  for (const byte of unit) {
    const [before, last] = bytes.slice(-2)
    if (byte === 3 && before === 0 && last === 0) bytes.push(-1)
    else bytes.push(byte)
  }
  return Buffer.from(bytes.filter((byte) => byte >= 0))
}

/** NAL HRD parameters of an SPS of H.264 (Annex E.1); null where it has none. */
function hrdOf(set: Buffer): { rate: number; bits: number } | null {
  let at = 32
  const bits = (count: number): number => {
    let value = 0
    for (let left = count; left > 0; left--, at++) value = value * 2 + ((set[at >> 3]! >> (7 - (at & 7))) & 1)
    return value
  }
  const golomb = (): number => {
    let zeros = 0
    while (bits(1) === 0) zeros += 1
    return 2 ** zeros - 1 + bits(zeros)
  }
  golomb()
  if ([100, 110, 122, 244].includes(set[1]!)) {
    if (golomb() === 3) bits(1)
    golomb()
    golomb()
    bits(1)
    if (bits(1) === 1) throw new Error('scaling lists are not read here')
  }
  golomb()
  const order = golomb()
  if (order === 0) golomb()
  else if (order === 1) throw new Error('order 1 is not read here')
  golomb()
  bits(1)
  golomb()
  golomb()
  if (bits(1) === 0) bits(1)
  bits(1)
  if (bits(1) === 1) for (let side = 0; side < 4; side++) golomb()
  if (bits(1) === 0) return null
  if (bits(1) === 1 && bits(8) === 255) bits(32)
  if (bits(1) === 1) bits(1)
  if (bits(1) === 1) {
    bits(4)
    if (bits(1) === 1) bits(24)
  }
  if (bits(1) === 1) {
    golomb()
    golomb()
  }
  if (bits(1) === 1) bits(65)
  if (bits(1) === 0) return null
  golomb()
  const rateScale = bits(4)
  const sizeScale = bits(4)
  return { rate: (golomb() + 1) * 2 ** (6 + rateScale), bits: (golomb() + 1) * 2 ** (4 + sizeScale) }
}
