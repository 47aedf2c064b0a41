// In charge of: reading Scenarist closed captions (.scc): CEA-608 bytes as hexadecimal words with timecodes.
// Not in charge of: decoding the bytes (formats/cea).
import { CaptionDecoder } from '../cea/captionDecoder.ts'
import type { CaptionCodes, CaptionFile } from './captionFile.ts'
import { plainLine } from './captionCue.ts'
import { CaptionError } from './captionError.ts'
import { parseCueSettings } from './cueSettings.ts'
import { printedHour, startHour, startRemark, timecodeSeconds, type FrameCount, type Timecode } from './timecode.ts'

const LINE = /^(\d{1,2}):([0-5]\d):([0-5]\d)([:;.,])([0-2]\d)[ \t]+([0-9a-f]{4}(?:[ \t]+[0-9a-f]{4})*)$/i
const RATE = { num: 30_000, den: 1001 }
/** How long the last caption is shown if nothing removes it. */
const LAST_SECONDS = 5
/** Words of one file: two hours of nothing but caption bytes. */
const MAX_WORDS = 1_000_000

interface CodeLine {
  time: Timecode
  count: FrameCount
  words: string[]
}

/** @throws CaptionError */
export function readScc(text: string, offsetSeconds: number | null): Pick<CaptionFile, 'cues' | 'remarks' | 'codes'> {
  const lines = text.split('\n').flatMap((line, index) => parseLine(line.trim(), index + 1))
  if (lines.reduce((sum, { words }) => sum + words.length, 0) > MAX_WORDS)
    throw new CaptionError(`It has more than ${MAX_WORDS} codes.`)
  const hour = offsetSeconds === null ? startHour(lines[0]?.time) : 0
  const decoder = new CaptionDecoder()
  let last = 0
  const codes: CaptionCodes[] = []
  const offset = offsetSeconds ?? 0
  for (const { time, count, words } of lines) {
    const begin =
      timecodeSeconds(time, count) - timecodeSeconds({ hours: hour, minutes: 0, seconds: 0, frames: 0 }, count)
    const pairs = words.map((word) => Number.parseInt(word, 16) & 0x7f7f)
    codes.push({ start: begin + offset, field: fieldOf(pairs) ?? codes.at(-1)?.field ?? 0, pairs })
    for (const [position, word] of words.entries()) {
      // One pair of bytes a frame, which is how long a caption takes to load.
      last = begin + (position * RATE.den) / RATE.num
      decoder.push(last, Uint8Array.of(VALID_FIELD_1, withParity(word, 0), withParity(word, 2)))
    }
  }
  const [channel] = decoder.end(last + LAST_SECONDS).channels
  return {
    cues: (channel?.cues ?? []).map(({ start, end, text: shown, settings }) => ({
      start: start + offset,
      end: end + offset,
      lines: shown.split('\n').map(plainLine),
      place: parseCueSettings(settings),
    })),
    remarks: hour === 0 ? [] : [startRemark(printedHour(hour))],
    codes,
  }
}

/** The commands of the two fields differ (CTA-608-E, 8.4); other codes do not. */
function fieldOf(pairs: readonly number[]): 0 | 1 | null {
  const command = pairs.find((pair) => (pair & 0x7670) === 0x1420)
  return command === undefined ? null : (((command >> 8) & 1) as 0 | 1)
}

/** cc_valid, and the first field (CTA-708-E, 4.3). */
const VALID_FIELD_1 = 0xfc

function parseLine(line: string, number: number): CodeLine[] {
  if (line === '' || /^scenarist_scc/i.test(line)) return []
  const found = LINE.exec(line)
  if (found === null)
    throw new CaptionError('It must have a timecode and hexadecimal codes, like "00:00:01;00 9420 9470 c8e5".', number)
  const [, hours, minutes, seconds, mark, frames, words = ''] = found
  const time = { hours: Number(hours), minutes: Number(minutes), seconds: Number(seconds), frames: Number(frames) }
  return [{ time, count: { rate: RATE, dropped: mark === ':' ? 0 : 2 }, words: words.split(/[ \t]+/) }]
}

/** The byte at a position of a word, with odd parity: some programs write none, and decoders drop such codes. */
function withParity(word: string, at: number): number {
  const bits = Number.parseInt(word.slice(at, at + 2), 16) & 0x7f
  let ones = 0
  for (let rest = bits; rest > 0; rest >>= 1) ones += rest & 1
  return ones % 2 === 1 ? bits : bits | 0x80
}
