// In charge of: the position of text, as cue settings of WebVTT.
// Not in charge of: the text itself.
import type { TextBlock } from './captionScreen.ts'

/** A row of text with the column of its first character. */
export interface Line {
  row: number
  column: number
  text: string
}

/** Captions lie in the safe area: the central 80 % of the frame. */
const EDGE_PERCENT = 10
const SAFE_PERCENT = 80
const ROWS = 15
const COLUMNS = 32
/** Centred rows may differ by this many columns at their centres: an odd number of characters below an even one. */
const OFF_CENTRE = 1

/** Groups rows of CEA-608 (1 to 15) into blocks: adjacent rows form one. */
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
  const { text, place: horizontal } = horizontalSettings(lines)
  return { text, settings: `${verticalSettings(lines[0]!.row, lines.at(-1)!.row)} ${horizontal}` }
}

/** Rows are left-aligned or centred where they line up, else they keep their indents. */
function horizontalSettings(lines: readonly Line[]): { text: string; place: string } {
  const left = Math.min(...lines.map(({ column }) => column))
  const plain = lines.map(({ text }) => text).join('\n')
  const start = `position:${percent(left, COLUMNS)} align:start`
  if (lines.every(({ column }) => column === left)) return { text: plain, place: start }
  const middles = lines.map(({ column, text }) => column + text.length / 2)
  const [least, most] = [Math.min(...middles), Math.max(...middles)]
  if (most - least <= OFF_CENTRE)
    return { text: plain, place: `position:${percent((least + most) / 2, COLUMNS)} align:center` }
  // Players drop leading spaces, so they become no-break spaces.
  const indented = lines.map(({ column, text }) => '\u00a0'.repeat(column - left) + text)
  return { text: indented.join('\n'), place: start }
}

/** From the top in the upper half, from the bottom in the lower half: players' fonts differ in height. */
function verticalSettings(first: number, last: number): string {
  return first + last <= ROWS ? `line:${percent(first - 1, ROWS)}` : `line:${percent(last, ROWS)},end`
}

export function percent(part: number, total: number): string {
  const value = EDGE_PERCENT + (SAFE_PERCENT * Math.min(part, total)) / total
  return `${Number(value.toFixed(2))}%`
}
