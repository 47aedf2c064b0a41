// In charge of: one caption as the CEA-608 codes that load it (pop-on): its characters, its rows and columns, its styles.
// Not in charge of: when they are sent (schedule608.ts), the codes themselves (codes608.ts).
import type { Channel608 } from '#contract/captions.ts'
import type { CaptionCue, TextRun } from '../captions/captionCue.ts'
import { codeIn, command, glyphOf, moveTo, style, type Pair } from './codes608.ts'

const [ROWS, COLUMNS] = [15, 32]

export interface EncodedCaption {
  /** Sent in this order. What is in one group is sent without an interruption. */
  groups: Pair[][]
  /** Characters that CEA-608 does not have. */
  missing: string[]
  /** Rows that do not fit on the screen. */
  rowsLeftOut: number
}

/** A blank cell may be a code that changes the style of what follows. */
interface Cell {
  character: string
  italic: boolean
  underline: boolean
}

export function encodeCaption(
  { lines, place }: Pick<CaptionCue, 'lines' | 'place'>,
  channel: Channel608,
): EncodedCaption {
  const missing = new Set<string>()
  const wrapped = lines.flatMap((runs) => wrap(cellsOf(runs, missing)))
  const rows = wrapped.slice(0, ROWS)
  const top = topRow(place.line, rows.length)
  const out = new GroupWriter(channel)
  out.code(command(channel, 'load'))
  out.code(command(channel, 'clearLoaded'))
  for (const [index, row] of rows.entries())
    if (row.length > 0) writeRow(out, row, top + index, firstColumn(place, row.length))
  return { groups: out.end(), missing: [...missing], rowsLeftOut: wrapped.length - rows.length }
}

/** Characters that are written as others. */
const REPLACEMENTS = new Map([
  ['\u00a0', ' '],
  ['\t', ' '],
  ['\u3000', ' '],
  ['…', '...'],
  ['–', '-'],
  ['‐', '-'],
  ['‑', '-'],
  ['−', '-'],
  ['`', "'"],
  ['„', '“'],
  ['‚', ','],
  ['‹', '<'],
  ['›', '>'],
  ['′', "'"],
  ['″', '"'],
  ['Œ', 'OE'],
  ['œ', 'oe'],
  ['Æ', 'AE'],
  ['æ', 'ae'],
  ['♫', '♪'],
])
/** Marks of direction and joining, which show nothing. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu

function cellsOf(runs: readonly TextRun[], missing: Set<string>): Cell[] {
  return runs.flatMap(({ text, italic, underline }) =>
    Array.from(text.normalize('NFC').replaceAll(INVISIBLE, ''))
      .flatMap((character) => Array.from(shown(character, missing)))
      .map((character) => ({ character, italic, underline })),
  )
}

function shown(character: string, missing: Set<string>): string {
  if (glyphOf(character) !== null) return character
  const replacement = REPLACEMENTS.get(character)
  if (replacement !== undefined) return replacement
  missing.add(character)
  const base = character.normalize('NFD').charAt(0)
  return base !== character && glyphOf(base) !== null ? base : '?'
}

/** Rows of at most 32 cells, broken at blanks where possible. */
function wrap(cells: readonly Cell[]): Cell[][] {
  const rows: Cell[][] = []
  let rest = [...cells]
  for (;;) {
    while (rest[0]?.character === ' ') rest.shift()
    if (rest.length === 0) return rows.length === 0 ? [[]] : rows
    const taken = rowLength(rest)
    rows.push(withStyles(trimEnd(rest.slice(0, taken))))
    rest = rest.slice(taken)
  }
}

/** How many cells fit into a row with the codes of their styles. */
function rowLength(cells: readonly Cell[]): number {
  let fitting = Math.min(COLUMNS, cells.length)
  while (fitting > 1 && !fits(withStyles(cells.slice(0, fitting)))) fitting -= 1
  if (fitting === cells.length || cells[fitting]?.character === ' ') return fitting
  const blank = cells.slice(0, fitting).findLastIndex(({ character }) => character === ' ')
  return blank <= 0 ? fitting : blank
}

/** In the last column decoders disagree about which character an extended one replaces. */
function fits(row: readonly Cell[]): boolean {
  if (row.length < COLUMNS) return true
  const last = glyphOf(row.at(-1)!.character)
  return row.length === COLUMNS && (last === null || !('replaces' in last) || last.replaces === null)
}

function trimEnd(cells: readonly Cell[]): Cell[] {
  return cells.slice(0, cells.findLastIndex(({ character }) => character !== ' ') + 1)
}

const CHANGE = ''
const hasStyleOf = (a: Cell, b: Pick<Cell, 'italic' | 'underline'>) =>
  a.italic === b.italic && a.underline === b.underline

/** With a cell for each change of style: the blank before the change, or one more. Each row begins without a style. */
function withStyles(cells: readonly Cell[]): Cell[] {
  const out: Cell[] = []
  let current: Pick<Cell, 'italic' | 'underline'> = { italic: false, underline: false }
  for (const cell of cells) {
    // A blank has the style of what is before it: the change comes before the next character.
    if (cell.character === ' ' || hasStyleOf(cell, current)) {
      out.push(cell)
      continue
    }
    if (out.at(-1)?.character === ' ') out.pop()
    current = { italic: cell.italic, underline: cell.underline }
    out.push({ character: CHANGE, ...current }, cell)
  }
  return out
}

/** At the bottom where the caption has no place. */
function topRow(line: CaptionCue['place']['line'], rows: number): number {
  const bottom = ROWS - rows + 1
  const within = (row: number) => Math.max(1, Math.min(bottom, row))
  if (line === undefined) return within(bottom)
  if ('number' in line) return within(line.number >= 0 ? line.number + 1 : ROWS + line.number + 2 - rows)
  const edge = (line.percent / 100) * ROWS
  if (line.anchor === 'start') return within(Math.round(edge) + 1)
  return within(Math.round(line.anchor === 'end' ? edge - rows : edge - rows / 2) + 1)
}

function firstColumn({ align, position }: CaptionCue['place'], length: number): number {
  const within = (column: number) => Math.max(0, Math.min(COLUMNS - length, Math.round(column)))
  const side = position?.anchor ?? (align === undefined ? 'center' : SIDES[align])
  const percent = position?.percent ?? { 'line-left': 0, center: 50, 'line-right': 100 }[side]
  const edge = (percent / 100) * COLUMNS
  return within(edge - { 'line-left': 0, center: length / 2, 'line-right': length }[side])
}

/** CEA-608 has no characters of languages that are written from right to left. */
const SIDES = {
  start: 'line-left',
  left: 'line-left',
  center: 'center',
  end: 'line-right',
  right: 'line-right',
} as const

function writeRow(out: GroupWriter, cells: readonly Cell[], row: number, column: number): void {
  for (const code of moveTo(out.channel, row, column)) out.code(code)
  for (const cell of cells)
    if (cell.character === CHANGE) out.code(style(out.channel, cell))
    else out.character(cell.character)
  out.endText()
}

/** Packs characters in pairs. Codes are sent twice, because a decoder drops damaged ones (CTA-608-E, 8.4). */
class GroupWriter {
  readonly channel: Channel608
  readonly #groups: Pair[][] = []
  #byte: number | null = null
  #last: Pair | null = null

  constructor(channel: Channel608) {
    this.channel = channel
  }

  code(pair: Pair): void {
    this.endText()
    // A decoder takes the same code for a repetition, until another one comes. An empty pair does not count in ffmpeg's.
    const between = command(this.channel, 'load')
    this.#groups.push(this.#last === pair ? [between, between, pair, pair] : [pair, pair])
    this.#last = pair
  }

  character(character: string): void {
    const glyph = glyphOf(character)
    if (glyph === null) return
    if ('byte' in glyph) {
      this.#push(glyph.byte)
      return
    }
    if (glyph.replaces !== null) this.#push(glyph.replaces)
    this.code(codeIn(this.channel, glyph.code))
  }

  endText(): void {
    if (this.#byte !== null) this.#push(0)
  }

  end(): Pair[][] {
    this.endText()
    return this.#groups
  }

  #push(byte: number): void {
    if (this.#byte === null) {
      this.#byte = byte
      return
    }
    this.#groups.push([(this.#byte << 8) | byte])
    this.#byte = null
    this.#last = null
  }
}
