// In charge of: cues as an mp4 file with one tx3g track (3GPP TS 26.245, ISO/IEC 14496-12), which ffmpeg copies into the
// outputs. Its own text encoder changes braces and backslashes.
// Not in charge of: which cues (flattenCues.ts), the language and the name of the track (plan/argv/captionInputs.ts).
import type { CaptionCue } from '../captions/captionCue.ts'
import { concatBytes } from '../concatBytes.ts'

/** Ticks per second. */
const TIMESCALE = 1000
/** The length of a text is stored in 16 bits. */
const MAX_TEXT_BYTES = 60_000

/** `cues` follow one another (flattenCues.ts). */
export function tx3gFile(cues: readonly CaptionCue[]): Uint8Array {
  const samples = samplesOf(cues)
  const data = concatBytes(samples.map(({ bytes }) => bytes))
  const duration = samples.reduce((sum, sample) => sum + sample.duration, 0)
  const ftyp = box('ftyp', text('isom'), u32(0x200), text('isomiso2mp41'))
  // The length of moov does not depend on the offset in it.
  const moov = (offset: number) => movie(samples, duration, offset)
  const start = ftyp.length + moov(0).length + 8
  return concatBytes([ftyp, moov(start), box('mdat', data)])
}

interface Sample {
  bytes: Uint8Array
  duration: number
}

/** A sample for each cue, and an empty one for each gap: a track has no other way to show nothing. */
function samplesOf(cues: readonly CaptionCue[]): Sample[] {
  const samples: Sample[] = []
  let at = 0
  for (const cue of cues) {
    const [start, end] = [Math.max(at, Math.round(cue.start * TIMESCALE)), Math.round(cue.end * TIMESCALE)]
    if (end <= start) continue
    if (start > at) samples.push({ bytes: u16(0), duration: start - at })
    samples.push({ bytes: textSample(cue), duration: end - start })
    at = end
  }
  // Ends the last text.
  if (samples.length > 0) samples.push({ bytes: u16(0), duration: 1 })
  return samples
}

/** 5.17: the text, then the styles of its runs. */
function textSample({ lines }: CaptionCue): Uint8Array {
  const styles: Uint8Array[] = []
  let characters = 0
  let whole = ''
  for (const [index, runs] of lines.entries()) {
    if (index > 0) {
      whole += '\n'
      characters += 1
    }
    for (const { text: run, bold, italic, underline } of runs) {
      const length = Array.from(run).length
      const face = (bold ? 1 : 0) | (italic ? 2 : 0) | (underline ? 4 : 0)
      if (face !== 0) styles.push(styleRecord(characters, characters + length, face))
      whole += run
      characters += length
    }
  }
  const bytes = text(whole).subarray(0, MAX_TEXT_BYTES)
  const styl = styles.length === 0 ? [] : [box('styl', u16(styles.length), ...styles)]
  return concatBytes([u16(bytes.length), bytes, ...styl])
}

const FONT = 1
/** Name and size are ffmpeg's own: it converts other ones into font tags. */
const FONT_NAME = 'Arial'
const FONT_SIZE = 16

/** 5.17.1.2. `from` and `to` count characters. */
function styleRecord(from: number, to: number, face: number): Uint8Array {
  return concatBytes([u16(from), u16(to), u16(FONT), u8(face, FONT_SIZE), u32(0xff_ff_ff_ff)])
}

function movie(samples: readonly Sample[], duration: number, offset: number): Uint8Array {
  const matrix = [0x1_00_00, 0, 0, 0, 0x1_00_00, 0, 0, 0, 0x40_00_00_00].map(u32)
  const mvhd = full(
    'mvhd',
    0,
    u32(0),
    u32(0),
    u32(TIMESCALE),
    u32(duration),
    u32(0x1_00_00),
    u16(0x1_00),
    zeros(10),
    ...matrix,
    zeros(24),
    u32(2),
  )
  const tkhd = full('tkhd', 3, u32(0), u32(0), u32(1), u32(0), u32(duration), zeros(16), ...matrix, u32(0), u32(0))
  const mdhd = full('mdhd', 0, u32(0), u32(0), u32(TIMESCALE), u32(duration), u16(0x55_c4), u16(0))
  const hdlr = full('hdlr', 0, u32(0), text('sbtl'), zeros(12), u8(0))
  const dinf = box('dinf', full('dref', 0, u32(1), full('url ', 1)))
  const minf = box('minf', full('nmhd', 0), dinf, sampleTable(samples, offset))
  return box('moov', mvhd, box('trak', tkhd, box('mdia', mdhd, hdlr, minf)))
}

function sampleTable(samples: readonly Sample[], offset: number): Uint8Array {
  const stts = samples.flatMap(({ duration }) => [u32(1), u32(duration)])
  const sizes = samples.map(({ bytes }) => u32(bytes.length))
  // All samples are one chunk.
  const chunks = samples.length === 0 ? [] : [u32(1), u32(samples.length), u32(1)]
  return box(
    'stbl',
    full('stsd', 0, u32(1), sampleEntry()),
    full('stts', 0, u32(samples.length), ...stts),
    full('stsc', 0, u32(chunks.length / 3), ...chunks),
    full('stsz', 0, u32(0), u32(samples.length), ...sizes),
    full('stco', 0, u32(samples.length === 0 ? 0 : 1), ...(samples.length === 0 ? [] : [u32(offset)])),
  )
}

/** 5.16: centred, at the bottom, white on nothing. */
function sampleEntry(): Uint8Array {
  const name = text(FONT_NAME)
  const fonts = box('ftab', u16(1), u16(FONT), u8(name.length), name)
  return box('tx3g', zeros(6), u16(1), u32(0), u8(1, 0xff), u32(0), zeros(8), styleRecord(0, 0, 0), fonts)
}

function full(type: string, flags: number, ...content: Uint8Array[]): Uint8Array {
  return box(type, u32(flags), ...content)
}

function box(type: string, ...content: Uint8Array[]): Uint8Array {
  const size = content.reduce((sum, part) => sum + part.length, 8)
  return concatBytes([u32(size), text(type), ...content])
}

function u8(...values: number[]): Uint8Array {
  return Uint8Array.from(values)
}

function u16(value: number): Uint8Array {
  return u8((value >> 8) & 0xff, value & 0xff)
}

function u32(value: number): Uint8Array {
  return u8((value >>> 24) & 0xff, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff)
}

function zeros(count: number): Uint8Array {
  return new Uint8Array(count)
}

/** UTF-8. */
function text(value: string): Uint8Array {
  return new TextEncoder().encode(value)
}
