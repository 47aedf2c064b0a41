// In charge of: one window of a CEA-708 service: its text, its pen, its position.
// Not in charge of: reading commands from bytes (service708.ts).
import { percent } from './cueLayout.ts'
import type { TextBlock } from './captionScreen.ts'

/** The parameters of DefineWindow (8.10.5.2). */
export interface WindowShape {
  visible: boolean
  /** Position in percent instead of grid cells. */
  relative: boolean
  vertical: number
  horizontal: number
  /** 0 to 8: rows of three, top left to bottom right. */
  anchor: number
  /** 1 to 15. */
  rows: number
}

/** Grid cells for 16:9 video (8.2). */
const GRID_ROWS = 75
const GRID_COLUMNS = 210
/**
 * Maximum length of a row in any service. The window's own size is ignored, because encoders announce shorter rows than
 * they write.
 */
const MAX_ROW = 42
const ALIGNMENTS = ['start', 'end', 'center', 'start'] as const
const EDGES = ['start', 'center', 'end'] as const

export class Window708 {
  visible: boolean
  /** 0 left, 1 right, 2 centred, 3 full (SetWindowAttributes). */
  justify = 0
  #shape: WindowShape
  #rows: string[][] = []
  #row = 0
  #column = 0

  constructor(shape: WindowShape) {
    this.#shape = shape
    this.visible = shape.visible
  }

  /** The window is defined again: its text stays (8.10.5.2). */
  reshape(shape: WindowShape): void {
    this.#shape = shape
    this.visible = shape.visible
    this.#rows = this.#rows.slice(0, shape.rows)
    this.#row = Math.min(this.#row, shape.rows - 1)
  }

  get isEmpty(): boolean {
    return this.#rows.every((row) => row.join('').trim() === '')
  }

  /** True where a displayed character was removed. */
  write(character: string): boolean {
    const row = (this.#rows[this.#row] ??= [])
    while (row.length < this.#column) row.push(' ')
    const before = row[this.#column]
    row[this.#column] = character
    this.#column = Math.min(this.#column + 1, MAX_ROW - 1)
    return before !== undefined && before !== ' ' && before !== character
  }

  backspace(): void {
    if (this.#column === 0) return
    this.#column -= 1
    this.#rows[this.#row]?.splice(this.#column, 1, ' ')
  }

  /**
   * Moves to the beginning of the next row. After the last row all rows scroll up. True where text was lost or moved.
   */
  carriageReturn(): boolean {
    this.#column = 0
    if (this.#row + 1 < this.#shape.rows) {
      this.#row += 1
      return false
    }
    const moved = !this.isEmpty
    this.#rows = Array.from({ length: this.#shape.rows }, (_, at) => this.#rows[at + 1] ?? [])
    return moved
  }

  eraseRow(): void {
    this.#rows[this.#row] = []
    this.#column = 0
  }

  clear(): void {
    this.#rows = []
  }

  home(): void {
    this.#row = 0
    this.#column = 0
  }

  moveTo(row: number, column: number): void {
    this.#row = Math.min(row, this.#shape.rows - 1)
    this.#column = Math.min(column, MAX_ROW - 1)
  }

  get block(): TextBlock | null {
    const lines = Array.from(this.#rows, (row) => (row ?? []).join('').trimEnd()).filter((line) => line.trim() !== '')
    if (!this.visible || lines.length === 0) return null
    // Spaces that all lines begin with are a margin and dropped. Further ones are an indent, kept as no-break spaces.
    const indents = lines.map((line) => line.length - line.trimStart().length)
    const margin = this.justify === 0 || this.justify === 3 ? Math.min(...indents) : Infinity
    const text = lines.map((line, at) => '\u00a0'.repeat(Math.max(0, indents[at]! - margin)) + line.trimStart())
    return { text: text.join('\n'), settings: this.#position() }
  }

  #position(): string {
    const { relative, vertical, horizontal, anchor } = this.#shape
    const line = percent(vertical, relative ? 100 : GRID_ROWS)
    const position = percent(horizontal, relative ? 100 : GRID_COLUMNS)
    const down = EDGES[Math.floor(anchor / 3)] ?? 'start'
    const across = EDGES[anchor % 3]
    const aligned = ALIGNMENTS[this.justify]!
    const side = { start: 'line-left', center: 'center', end: 'line-right' }[across!]
    // Players need no explicit alignment where the text's edge is the anchor's.
    return [
      `line:${line}${down === 'start' ? '' : `,${down}`}`,
      `position:${position}${aligned === across ? '' : `,${side}`}`,
      `align:${aligned}`,
    ].join(' ')
  }
}
