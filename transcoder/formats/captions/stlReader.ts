// In charge of: reading EBU STL (EBU Tech 3264): a header (GSI) and blocks of 128 bytes (TTI).
// Not in charge of: timecodes (timecode.ts).
import type { CaptionCue, CuePlace, TextRun } from './captionCue.ts'
import { CaptionError } from './captionError.ts'
import type { CaptionFile } from './captionFile.ts'
import { printedHour, startHour, startRemark, timecodeSeconds, type FrameCount, type Timecode } from './timecode.ts'

/** 0xA0 to 0xFF; a space = not assigned. 0xC1 to 0xCF are diacritics, which come before their letter. */
const UPPER =
  '\u00A0¡¢£$¥#§¤‘“«←↑→↓' +
  '°±²³×µ¶·÷’”»¼½¾¿' +
  '                ' +
  '―¹®©™♪¬¦    ⅛⅜⅝⅞' +
  'ΩÆÐªĦ ĲĿŁØŒºÞŦŊŉ' +
  'ĸæđðħıĳŀłøœßþŧŋ\u00AD'

/** Combining characters of Unicode, from 0xC1 on. */
const DIACRITICS = '\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u0308\u030A\u0327\u0332\u030B\u0328\u030C'

/** Text of one style: no control codes. */
function decodeIso6937(bytes: readonly number[]): string {
  let text = ''
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    const diacritic = byte > 0xc0 && byte < 0xd0 ? DIACRITICS[byte - 0xc1] : undefined
    const next = bytes[at + 1]
    if (diacritic !== undefined && next !== undefined) {
      text += `${basic(next)}${diacritic}`.normalize('NFC')
      at += 1
    } else if (byte >= 0xa0) text += UPPER[byte - 0xa0]!
    else text += basic(byte)
  }
  return text
}

function basic(byte: number): string {
  // 0x24 is the sign for any currency there; files use it for the dollar.
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ' '
}

const HEADER_BYTES = 1024
const BLOCK_BYTES = 128
const TEXT_FROM = 16

const RATES: Readonly<Record<string, FrameCount['rate']>> = {
  'STL23.01': { num: 24_000, den: 1001 },
  'STL24.01': { num: 24, den: 1 },
  'STL25.01': { num: 25, den: 1 },
  'STL30.01': { num: 30_000, den: 1001 },
  'STL50.01': { num: 50, den: 1 },
}

/** Character code tables other than Latin. */
const TABLES: Readonly<Record<string, string>> = {
  '01': 'iso-8859-5',
  '02': 'iso-8859-6',
  '03': 'iso-8859-7',
  '04': 'iso-8859-8',
}

/** Rows of a teletext page. */
const TELETEXT_ROWS = 23

export function isStl(bytes: Uint8Array): boolean {
  return bytes.length >= HEADER_BYTES && /^STL\d\d\.\d\d$/.test(ascii(bytes, 3, 11))
}

interface Block {
  first: Timecode
  last: Timecode
  row: number
  justification: number
  text: number[]
}

/** @throws CaptionError */
export function readStl(bytes: Uint8Array, offsetSeconds: number | null): Pick<CaptionFile, 'cues' | 'remarks'> {
  if (bytes.length < HEADER_BYTES) throw new CaptionError('It is shorter than the header of an EBU STL file.')
  const format = ascii(bytes, 3, 11)
  const rate = RATES[format]
  if (rate === undefined) throw new CaptionError(`Its disk format code is none of ${Object.keys(RATES).join(', ')}.`)
  const table = ascii(bytes, 12, 14)
  if (table !== '00' && TABLES[table] === undefined)
    throw new CaptionError('Its character code table is none of 00 to 04.')
  const decode = decoderOf(table)
  const isTeletext = /[12]/.test(ascii(bytes, 11, 12))
  const rows = isTeletext ? TELETEXT_ROWS : Number(ascii(bytes, 253, 255)) || TELETEXT_ROWS
  const blocks = readBlocks(bytes)
  const count = { rate, dropped: 0 }
  const start = programmeStart(bytes, blocks[0]?.first, count, offsetSeconds)
  const offset = offsetSeconds ?? -timecodeSeconds(start.time, count)
  return {
    cues: blocks.map(({ first, last, row, justification, text }): CaptionCue => {
      const lines = linesOf(text, decode)
      return {
        start: timecodeSeconds(first, count) + offset,
        end: timecodeSeconds(last, count) + offset,
        lines,
        place: placeOf(row, countRows(text), rows, justification),
      }
    }),
    remarks: start.isAssumed ? [startRemark(printedHour(start.time.hours))] : [],
  }
}

const ZERO: Timecode = { hours: 0, minutes: 0, seconds: 0, frames: 0 }

/** The start of the programme that the header states, if it can be true; else the full hour before the first caption. */
function programmeStart(
  bytes: Uint8Array,
  first: Timecode | undefined,
  count: FrameCount,
  offsetSeconds: number | null,
): { time: Timecode; isAssumed: boolean } {
  if (offsetSeconds !== null || first === undefined) return { time: ZERO, isAssumed: false }
  const parts = /^(\d\d)(\d\d)(\d\d)(\d\d)$/
    .exec(ascii(bytes, 256, 264))
    ?.slice(1)
    .map(Number)
  if (parts !== undefined) {
    const [hours = 0, minutes = 0, seconds = 0, frames = 0] = parts
    const time = { hours, minutes, seconds, frames }
    const isBefore = timecodeSeconds(time, count) <= timecodeSeconds(first, count)
    if (isBefore && (hours > 0 || minutes > 0 || seconds > 0 || frames > 0)) return { time, isAssumed: false }
  }
  const hours = startHour(first)
  return { time: { ...ZERO, hours }, isAssumed: hours > 0 }
}

function readBlocks(bytes: Uint8Array): Block[] {
  const blocks: Block[] = []
  let open: { number: number; text: number[] } | null = null
  for (let at = HEADER_BYTES; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) {
    const block = bytes.subarray(at, at + BLOCK_BYTES)
    const extension = block[3]!
    // User data, and comments of the translator.
    if ((extension >= 0xf0 && extension !== 0xff) || block[15] === 1) continue
    const number = block[1]! | (block[2]! << 8)
    const filler = block.indexOf(0x8f, TEXT_FROM)
    const whole: number[] = open !== null && open.number === number ? open.text : []
    whole.push(...block.subarray(TEXT_FROM, filler === -1 ? BLOCK_BYTES : filler))
    // The last of several blocks has the times of the subtitle.
    open = extension === 0xff ? null : { number, text: whole }
    if (open !== null && whole.length > MAX_TEXT_BYTES) throw new CaptionError(`Subtitle ${number} never ends.`)
    if (open !== null) continue
    blocks.push({
      first: timecodeAt(block, 5),
      last: timecodeAt(block, 9),
      row: block[13]!,
      justification: block[14]!,
      text: whole,
    })
  }
  return blocks
}

/** A subtitle has at most 240 blocks (5.2). */
const MAX_TEXT_BYTES = 240 * (BLOCK_BYTES - TEXT_FROM)

function timecodeAt(block: Uint8Array, at: number): Timecode {
  return { hours: block[at]!, minutes: block[at + 1]!, seconds: block[at + 2]!, frames: block[at + 3]! }
}

const NEW_LINE = 0x8a

function linesOf(text: readonly number[], decode: (bytes: readonly number[]) => string): TextRun[][] {
  const lines: TextRun[][] = [[]]
  let [italic, underline] = [false, false]
  let pending: number[] = []
  const flush = () => {
    // Codes of teletext take a space on the screen; files have several where nothing is to be seen.
    const shown = decode(pending).replaceAll(/ {2,}/g, ' ')
    if (shown !== '') lines.at(-1)!.push({ text: shown, bold: false, italic, underline })
    pending = []
  }
  for (const byte of text) {
    if (byte < 0x80 || byte >= 0xa0) {
      pending.push(byte < 0x20 ? 0x20 : byte)
      continue
    }
    flush()
    if (byte === 0x80 || byte === 0x81) italic = byte === 0x80
    else if (byte === 0x82 || byte === 0x83) underline = byte === 0x82
    // Text of double height has two of them.
    else if (byte === NEW_LINE && lines.at(-1)!.length > 0) lines.push([])
  }
  flush()
  return lines
}

function countRows(text: readonly number[]): number {
  const used = text.slice(0, text.findLastIndex((byte) => byte >= 0x20 && (byte < 0x80 || byte >= 0xa0)) + 1)
  const height = text.includes(0x0d) ? 1 : 0
  return 1 + height + used.filter((byte) => byte === NEW_LINE).length
}

/** `row`: of the first line, from 1. In the lower half the last row counts, because players' fonts differ in height. */
function placeOf(row: number, count: number, rows: number, justification: number): CuePlace {
  const place: CuePlace = {}
  if (row > 0 && row <= rows) {
    const bottom = Math.min(rows, row - 1 + count)
    place.line =
      row - 1 + bottom <= rows
        ? { percent: (100 * (row - 1)) / rows, anchor: 'start' }
        : { percent: (100 * bottom) / rows, anchor: 'end' }
  }
  if (justification === 1) return { ...place, align: 'left', position: { percent: 5, anchor: null } }
  if (justification === 3) return { ...place, align: 'right', position: { percent: 95, anchor: null } }
  return place
}

function decoderOf(table: string): (bytes: readonly number[]) => string {
  const label = TABLES[table]
  if (label === undefined) return decodeIso6937
  const decoder = new TextDecoder(label)
  return (bytes) => decoder.decode(Uint8Array.from(bytes))
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to))
}
