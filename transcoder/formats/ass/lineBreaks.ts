// In charge of: line breaks inside text without blanks (Japanese, Chinese, Thai, long addresses), where libass would run
// out of the frame. It breaks at blanks itself.
// Not in charge of: lines that the author broke.
import type { TextRun } from '../captions/captionCue.ts'

export interface LineRoom {
  /** Pixels that a line may have. */
  width: number
  /** Widths of wide and of other characters. */
  wide: number
  narrow: number
}

export function lineText(runs: readonly TextRun[]): string {
  return runs.map(({ text }) => text).join('')
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303F\uFF01-\uFF60\uFFE0-\uFFE6]/u
/** Must not begin a line: closing brackets, stops, small kana, marks (JIS X 4051). */
const NOT_FIRST =
  /^[\p{Pe}\p{Pf}\p{M}、。，．・：；？！!?,.:;ーゝゞ々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ…‥%％]/u
/** Must not end a line. */
const NOT_LAST = /[\p{Ps}\p{Pi}]$/u

const words = new Intl.Segmenter('ja', { granularity: 'word' })
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Positions in UTF-16 units at which further lines begin; lines are about equally long. */
export function breakLine(text: string, room: LineRoom): number[] {
  const found: number[] = []
  for (const { 0: run, index } of text.matchAll(/\S+/g))
    found.push(...breakRun(run, room).map((position) => index + position))
  return found
}

function breakRun(run: string, room: LineRoom): number[] {
  const total = widthOf(run, room)
  // Most text; segmenting is slow.
  if (total <= room.width) return []
  const target = total / Math.ceil(total / room.width)
  const breaks: number[] = []
  let [used, last] = [0, '']
  for (const { segment, index } of segmentsOf(run, room)) {
    const width = widthOf(segment, room)
    const isFull = used + width > room.width || used >= target
    const isAllowed = !NOT_FIRST.test(segment) && !NOT_LAST.test(last)
    if (used > 0 && ((isFull && isAllowed) || used + width > room.width)) {
      breaks.push(index)
      used = 0
    }
    used += width
    last = segment
  }
  return breaks
}

/** Words, and the characters of words that are longer than a line. */
function segmentsOf(run: string, room: LineRoom): { segment: string; index: number }[] {
  return [...words.segment(run)].flatMap(({ segment, index }) =>
    widthOf(segment, room) <= room.width / 2
      ? [{ segment, index }]
      : [...graphemes.segment(segment)].map((each) => ({ segment: each.segment, index: index + each.index })),
  )
}

function widthOf(text: string, { wide, narrow }: LineRoom): number {
  let width = 0
  for (const character of text) width += WIDE.test(character) ? wide : /\p{M}|\p{Cf}/u.test(character) ? 0 : narrow
  return width
}
