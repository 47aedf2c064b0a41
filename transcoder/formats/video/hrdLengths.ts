// In charge of: how long the fields of timing messages are, as a sequence parameter set of H.264 says (ITU-T H.264,
// 7.3.2.1.1, E.1.1 and E.1.2).
// Not in charge of: the messages (pictureTiming.ts).
import { BitReader } from '../bitReader.ts'
import { FormatError } from '../formatError.ts'
import { unescapeNal } from './annexB.ts'

const SPS = 7
const EXTENDED_ASPECT = 255
/** Profiles whose sets state the format of the samples. */
const HIGH = new Set([100, 110, 122, 244])

/** Bits of cpb_removal_delay. `sets`: parameter sets with start codes, in hex. Throws FormatError. */
export function removalDelayBits(sets: string): number {
  const found = sets
    .split('00000001')
    .map((unit) => Uint8Array.from(unit.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)))
    .find((unit) => ((unit[0] ?? 0) & 31) === SPS)
  const bits = found === undefined ? null : readLength(new BitReader(unescapeNal(found, found.length), 1))
  if (bits === null) throw new FormatError('damaged', 'The encoder wrote no buffer model.')
  return bits
}

function readLength(bits: BitReader): number | null {
  const profile = bits.read(8)
  bits.skip(16)
  codes(bits, 1)
  if (HIGH.has(profile)) {
    codes(bits, 3)
    bits.skip(1)
    if (bits.flag()) return null // scaling matrices, which x264 does not write by itself
  }
  codes(bits, 1)
  const order = code(bits)
  if (order === 0) codes(bits, 1)
  else if (order === 1) return null // x264 has 0 and 2
  codes(bits, 1)
  bits.skip(1)
  codes(bits, 2)
  if (!bits.flag()) bits.skip(1) // fields
  bits.skip(1)
  if (bits.flag()) codes(bits, 4) // cropping
  return bits.flag() ? readUsability(bits) : null
}

function readUsability(bits: BitReader): number | null {
  if (bits.flag() && bits.read(8) === EXTENDED_ASPECT) bits.skip(32)
  if (bits.flag()) bits.skip(1) // overscan
  if (bits.flag()) {
    bits.skip(4) // format and range
    if (bits.flag()) bits.skip(24) // colours
  }
  if (bits.flag()) codes(bits, 2) // place of the chroma samples
  if (bits.flag()) bits.skip(65) // time scale
  if (!bits.flag()) return null
  const buffers = code(bits) + 1
  bits.skip(8)
  for (let n = 0; n < buffers; n++) {
    codes(bits, 2)
    bits.skip(1)
  }
  bits.skip(5) // of the initial delay
  return bits.read(5) + 1
}

function codes(bits: BitReader, count: number): void {
  for (let n = 0; n < count; n++) code(bits)
}

/** An Exp-Golomb code (9.1). */
function code(bits: BitReader): number {
  let zeros = 0
  while (!bits.flag()) zeros += 1
  return 2 ** zeros - 1 + bits.read(zeros)
}
