// In charge of: pixel-data sub-blocks of DVB subtitles: run lengths of 2, 4 and 8 bits (ETSI EN 300 743, 7.2.5).
// Not in charge of: where their pixels are drawn (dvbDecoder.ts).
import { BitReader } from '../bitReader.ts'

export type PixelDepth = 2 | 4 | 8

/** Draws runs of one field of an object; lines are counted from 0 within the object. */
export type DrawRun = (line: number, x: number, length: number, color: number) => void

const TWO_BIT = 0x10
const FOUR_BIT = 0x11
const EIGHT_BIT = 0x12
const MAP_2_TO_4 = 0x20
const MAP_2_TO_8 = 0x21
const MAP_4_TO_8 = 0x22
const END_OF_LINE = 0xf0

interface Run {
  length: number
  color: number
}

/**
 * `depth`: of the region; strings of fewer bits are mapped onto it. `first`: the first line of the field; each line is two
 * below the line before. `width`: pixels of a line that are in the region. Throws RangeError where the data ends in the
 * middle of a run.
 */
export function drawField(
  data: Uint8Array,
  { depth, first, width }: { depth: PixelDepth; first: 0 | 1; width: number },
  draw: DrawRun,
): void {
  let map24 = [0, 7, 8, 15]
  let map28 = [0x00, 0x77, 0x88, 0xff]
  let map48 = Array.from({ length: 16 }, (_, index) => index * 17)
  let [line, x] = [first as number, 0]
  const mapped = (color: number, bits: PixelDepth): number => {
    if (bits === 2) return depth === 4 ? map24[color]! : depth === 8 ? map28[color]! : color
    return bits === 4 && depth === 8 ? map48[color]! : color
  }
  // ffmpeg's encoder ends strings of 8 bits with one byte of 0 instead of two.
  const isShortEnd = (at: number): boolean =>
    x >= width && data[at] === 0 && (at + 1 === data.length || data[at + 1] === END_OF_LINE)
  const drawString = (reader: BitReader, bits: PixelDepth): void => {
    for (;;) {
      if (bits === 8 && isShortEnd(reader.byte)) return reader.skip(8)
      const run = readers[bits](reader)
      if (run === null) return
      draw(line, x, run.length, mapped(run.color, bits))
      x += run.length
    }
  }
  for (let at = 0; at < data.length;) {
    const type = data[at]!
    at += 1
    if (type === END_OF_LINE) {
      x = 0
      line += 2
      continue
    }
    const reader = new BitReader(data, at)
    if (type === TWO_BIT) drawString(reader, 2)
    else if (type === FOUR_BIT) drawString(reader, 4)
    else if (type === EIGHT_BIT) drawString(reader, 8)
    else if (type === MAP_2_TO_4) map24 = [4, 4, 4, 4].map((bits) => reader.read(bits))
    else if (type === MAP_2_TO_8) map28 = [8, 8, 8, 8].map((bits) => reader.read(bits))
    else if (type === MAP_4_TO_8) map48 = Array.from({ length: 16 }, () => reader.read(8))
    else throw new RangeError('an unknown kind of pixel data')
    at = reader.end
  }
}

/** One run of a string; null = its end. */
const readers: Record<PixelDepth, (reader: BitReader) => Run | null> = {
  2: (reader) => {
    const color = reader.read(2)
    if (color !== 0) return { length: 1, color }
    if (reader.flag()) return { length: reader.read(3) + 3, color: reader.read(2) }
    if (reader.flag()) return { length: 1, color: 0 }
    switch (reader.read(2)) {
      case 0:
        return null
      case 1:
        return { length: 2, color: 0 }
      case 2:
        return { length: reader.read(4) + 12, color: reader.read(2) }
      default:
        return { length: reader.read(8) + 29, color: reader.read(2) }
    }
  },
  4: (reader) => {
    const color = reader.read(4)
    if (color !== 0) return { length: 1, color }
    if (!reader.flag()) {
      const length = reader.read(3)
      return length === 0 ? null : { length: length + 2, color: 0 }
    }
    if (!reader.flag()) return { length: reader.read(2) + 4, color: reader.read(4) }
    switch (reader.read(2)) {
      case 0:
        return { length: 1, color: 0 }
      case 1:
        return { length: 2, color: 0 }
      case 2:
        return { length: reader.read(4) + 9, color: reader.read(4) }
      default:
        return { length: reader.read(8) + 25, color: reader.read(4) }
    }
  },
  8: (reader) => {
    const color = reader.read(8)
    if (color !== 0) return { length: 1, color }
    if (reader.flag()) return { length: reader.read(7), color: reader.read(8) }
    const length = reader.read(7)
    return length === 0 ? null : { length, color: 0 }
  },
}
