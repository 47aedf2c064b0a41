// In charge of: the boxes of a QuickTime movie of PNG images, each shown at an exact time (ISO/IEC 14496-12, 8).
// Not in charge of: the images and their times (source/bitmapTrack.ts).
import { concatBytes } from '../concatBytes.ts'

/** Ticks per second. A sample can last 119 hours. */
export const MOVIE_TIMESCALE = 10_000

export interface MovieSample {
  /** In the file. Several samples may be the same bytes. */
  offset: number
  bytes: number
  /** In ticks. */
  duration: number
}

/** The beginning of the file. The length of the media, which follows, is written when it is known. */
export function movieStart(mediaBytes: number): Uint8Array {
  const size = 16 + mediaBytes
  return concatBytes([
    box('ftyp', text('qt  '), words(0x200), text('qt  ')),
    concatBytes([words(1), text('mdat'), words(...long64(size))]),
  ])
}

/** The end of the file: the index. */
export function movieEnd(width: number, height: number, samples: readonly MovieSample[]): Uint8Array {
  const total = samples.reduce((sum, { duration }) => sum + duration, 0)
  const long = long64(total)
  const [version1, matrix] = [0x0100_0000, [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000]]
  const entry = concatBytes([
    new Uint8Array([0, 0, 0, 0, 0, 0, 0, 1]),
    new Uint8Array(16),
    shorts(width, height),
    words(0x48_0000, 0x48_0000, 0),
    shorts(1),
    new Uint8Array(32),
    // 32 bits: with alpha.
    shorts(32, 0xffff),
  ])
  return box(
    'moov',
    box(
      'mvhd',
      words(
        version1,
        0,
        0,
        0,
        0,
        MOVIE_TIMESCALE,
        ...long,
        0x1_0000,
        0x100_0000,
        0,
        0,
        ...matrix,
        ...Array.from({ length: 6 }, () => 0),
        2,
      ),
    ),
    box(
      'trak',
      box(
        'tkhd',
        words(version1 | 3, 0, 0, 0, 0, 1, 0, ...long, 0, 0, 0, 0, ...matrix, width * 65_536, height * 65_536),
      ),
      box(
        'mdia',
        box('mdhd', words(version1, 0, 0, 0, 0, MOVIE_TIMESCALE, ...long, 0x55c4_0000)),
        box('hdlr', words(0, 0), text('vide'), words(0, 0, 0), new Uint8Array(1)),
        box(
          'minf',
          box('vmhd', words(1, 0, 0)),
          box('dinf', box('dref', words(0, 1), box('url ', words(1)))),
          box(
            'stbl',
            box('stsd', words(0, 1), box('png ', entry)),
            box('stts', words(0, samples.length), table(samples.flatMap(({ duration }) => [1, duration]))),
            box('stsc', words(0, 1, 1, 1, 1)),
            box('stsz', words(0, 0, samples.length), table(samples.map(({ bytes }) => bytes))),
            box('co64', words(0, samples.length), table(samples.flatMap(({ offset }) => long64(offset)))),
          ),
        ),
      ),
    ),
  )
}

function box(name: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const size = parts.reduce((sum, { length }) => sum + length, 8)
  return concatBytes([words(size), text(name), ...parts])
}

function text(value: string): Uint8Array {
  return Uint8Array.from(value, (character) => character.codePointAt(0)!)
}

/** The high and the low word. */
function long64(value: number): [number, number] {
  return [Math.floor(value / 2 ** 32), value % 2 ** 32]
}

function words(...values: readonly number[]): Uint8Array {
  return table(values)
}

/** Any number of words; a call cannot have any number of arguments. */
function table(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4)
  const view = new DataView(bytes.buffer)
  for (const [index, value] of values.entries()) view.setUint32(index * 4, value)
  return bytes
}

function shorts(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 2)
  const view = new DataView(bytes.buffer)
  for (const [index, value] of values.entries()) view.setUint16(index * 2, value)
  return bytes
}
