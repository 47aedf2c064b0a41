// In charge of: reading SubRip (.srt): the form that players accept, since it has no standard.
// Not in charge of: markup (cueMarkup.ts), encodings (readCaptions.ts).
import type { CaptionCue, CuePlace } from './captionCue.ts'
import { CaptionError } from './captionError.ts'
import { parseMarkup, type MarkupRules } from './cueMarkup.ts'

const TIME = String.raw`(\d{1,4}) ?: ?(\d{1,2}) ?: ?(\d{1,2})(?: ?[,.:] ?(\d{1,3}))?`
/** What follows the times are coordinates, which no player uses. */
const TIMES = new RegExp(String.raw`^[ \t]*${TIME}[ \t]*-{1,2}>[ \t]*${TIME}(?:[ \t].*)?$`)

const MARKUP: MarkupRules = {
  tags: new Set(['b', 'i', 'u', 's', 'font', 'br']),
  hidden: new Set(),
  braces: true,
  // SubRip has none, but files made from WebVTT or HTML contain them.
  references: true,
}

/** @throws CaptionError */
export function readSrt(text: string): CaptionCue[] {
  const lines = text.split('\n')
  const cues: CaptionCue[] = []
  const starts = lines.flatMap((line, index) => (line.includes('-->') || TIMES.test(line) ? [index] : []))
  const firstText = lines.findIndex((line) => line.trim() !== '')
  if (starts.length === 0 && firstText !== -1)
    throw new CaptionError(
      'There is no line with the times of a caption, like "00:00:01,000 --> 00:00:02,500".',
      firstText + 1,
    )
  for (const [position, at] of starts.entries()) {
    const times = TIMES.exec(lines[at]!)
    if (times === null)
      throw new CaptionError(
        'The times of a caption cannot be read; they must look like "00:00:01,000 --> 00:00:02,500".',
        at + 1,
      )
    const [start, end] = [parseTime(times, 1), parseTime(times, 5)]
    if (Number.isNaN(start) || Number.isNaN(end)) throw new CaptionError('A minute or a second is above 59.', at + 1)
    const next = starts[position + 1]
    const body = textOf(lines.slice(at + 1, next ?? lines.length), next !== undefined)
    const { lines: styled, braced } = parseMarkup(body.join('\n').replaceAll(/<br ?\/?>/gi, '\n'), MARKUP)
    cues.push({ start, end, lines: styled, place: placeOf(braced) })
  }
  return cues
}

/** The text of a caption, without the number of the next one. Empty lines within it are kept out. */
function textOf(lines: readonly string[], hasNext: boolean): string[] {
  const last = lines.findLastIndex((line) => line.trim() !== '')
  const isNumber = hasNext && last !== -1 && /^\s*\d{1,9}\s*$/.test(lines[last]!)
  // A caption whose only text is a number is followed by the number of the next caption.
  const end = isNumber ? last : lines.length
  return lines.slice(0, end).filter((line) => line.trim() !== '')
}

function parseTime(found: RegExpExecArray, at: number): number {
  const [hours, minutes, seconds] = [Number(found[at]), Number(found[at + 1]), Number(found[at + 2])]
  if (minutes > 59 || seconds > 59) return Number.NaN
  const milliseconds = Number((found[at + 3] ?? '0').padEnd(3, '0'))
  return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
}

/** `{\an8}` as on a number pad: 7 to 9 at the top, 1, 4 and 7 on the left. 2, the default, stays the player's. */
function placeOf(braced: readonly string[]): CuePlace {
  const digit = braced.map((each) => /^\\an?([1-9])/.exec(each)?.[1]).find((each) => each !== undefined)
  if (digit === undefined) return {}
  const [row, column] = [Math.floor((Number(digit) - 1) / 3), (Number(digit) - 1) % 3]
  return {
    ...(row === 1
      ? { line: { percent: 50, anchor: 'center' } }
      : row === 2
        ? { line: { percent: 5, anchor: 'start' } }
        : {}),
    ...(column === 0 ? { align: 'left', position: { percent: 5, anchor: null } } : {}),
    ...(column === 2 ? { align: 'right', position: { percent: 95, anchor: null } } : {}),
  }
}
