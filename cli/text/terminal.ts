// In charge of: the width of text in a terminal, and truncating and wrapping it. Pure, except for reading the
// environment.
import { stripControlCharacters } from '../cliErrors.ts'

const COLUMNS = 80

/** Columns of a terminal; null if the stream is not one. */
export function columnsOf(stream: NodeJS.WriteStream): number | null {
  return stream.isTTY ? stream.columns || COLUMNS : null
}

/** Whether the terminal shows more than ASCII (POSIX: LC_ALL, then LC_CTYPE, then LANG). */
export function isUnicode(env: NodeJS.ProcessEnv): boolean {
  return /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '')
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Characters that take two columns: East Asian wide and fullwidth forms, and emoji. */
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE4F\uFF00-\uFF60\uFFE0-\uFFE6]|[\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u

export function widthOf(text: string): number {
  if (/^[\x20-\x7E]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += columnsOfCharacter(segment)
  return width
}

function columnsOfCharacter(segment: string): number {
  return WIDE.test(segment) ? 2 : 1
}

/** At most `width` columns; "…" marks what was cut off. */
export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let [kept, used] = ['', 0]
  for (const { segment } of graphemes.segment(text)) {
    used += columnsOfCharacter(segment)
    if (used > width - 1) break
    kept += segment
  }
  return `${kept}…`
}

export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/**
 * Wraps text between words. `width` is the width of each line's text; lines after the first begin with `indent`, which
 * is not included in it. A word that is too long is broken anywhere, except an address.
 */
export function wrap(text: string, width: number, indent = ''): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((each) => splitWord(each, width))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && widthOf(longer) > width) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line].join(`\n${indent}`)
}

function splitWord(word: string, width: number): string[] {
  if (word.includes('://') || widthOf(word) <= width) return [word]
  const found = ['']
  for (const { segment } of graphemes.segment(word)) {
    if (widthOf(found.at(-1)! + segment) > Math.max(width, 2)) found.push('')
    found[found.length - 1] += segment
  }
  return found
}

/** Names and values in two columns: "Source   h264, …"; further lines of a value are aligned with its first. */
export function keyValueLines(
  rows: readonly (readonly [name: string, value: string])[],
  width: number,
  indent = '',
): string {
  const names = Math.max(0, ...rows.map(([name]) => widthOf(name)))
  const left = ' '.repeat(indent.length + names + 2)
  return rows
    .map(([name, value]) =>
      `${indent}${pad(name, names)}  ${wrap(stripControlCharacters(value), width - left.length, left)}`.trimEnd(),
    )
    .join('\n')
}
