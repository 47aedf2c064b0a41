// In charge of: where text stands, as cue settings of WebVTT.
// Not in charge of: which text stands there.
import type { TextBlock } from './captionScreen.ts'

/** A row of text with the column of its first character. */
export interface Line {
  row: number
  column: number
  text: string
}

/** Captions lie in the safe area: 80 % of the picture, in its middle. */
const EDGE_PERCENT = 10
const SAFE_PERCENT = 80
const ROWS = 15
const COLUMNS = 32
/** Columns by which the middles of centred rows differ at most: an odd row under an even one. */
const OFF_CENTRE = 1

/** Rows of CEA-608 (1 to 15) as blocks: those that lie together are one. */
export function blocksOf(lines: readonly Line[]): TextBlock[] {
  const groups: Line[][] = []
  for (const line of lines) {
    const last = groups.at(-1)
    if (last?.at(-1)?.row === line.row - 1) last.push(line)
    else groups.push([line])
  }
  return groups.map(blockOf)
}

function blockOf(lines: readonly Line[]): TextBlock {
  const { text, place } = horizontalSettings(lines)
  return { text, settings: `${verticalSettings(lines[0]!.row, lines.at(-1)!.row)} ${place}` }
}

/** Rows with one beginning, rows with one middle, or else rows with their indents. */
function horizontalSettings(lines: readonly Line[]): { text: string; place: string } {
  const left = Math.min(...lines.map(({ column }) => column))
  const plain = lines.map(({ text }) => text).join('\n')
  const start = `position:${percent(left, COLUMNS)} align:start`
  if (lines.every(({ column }) => column === left)) return { text: plain, place: start }
  const middles = lines.map(({ column, text }) => column + text.length / 2)
  const [least, most] = [Math.min(...middles), Math.max(...middles)]
  if (most - least <= OFF_CENTRE)
    return { text: plain, place: `position:${percent((least + most) / 2, COLUMNS)} align:center` }
  // Spaces in front of a line are not shown.
  const indented = lines.map(({ column, text }) => '\u00a0'.repeat(column - left) + text)
  return { text: indented.join('\n'), place: start }
}

/** From above in the upper half, from below in the lower one: fonts of players differ in height. */
function verticalSettings(first: number, last: number): string {
  return first + last <= ROWS ? `line:${percent(first - 1, ROWS)}` : `line:${percent(last, ROWS)},end`
}

export function percent(part: number, whole: number): string {
  const value = EDGE_PERCENT + (SAFE_PERCENT * Math.min(part, whole)) / whole
  return `${Number(value.toFixed(2))}%`
}
