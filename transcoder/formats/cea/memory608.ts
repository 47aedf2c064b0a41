// In charge of: the displayed and the non-displayed memory of one CEA-608 channel, and how commands change them.
// Not in charge of: reading commands from bytes (captionDecoder.ts), their times (captionScreen.ts).
import { blocksOf, type Line } from './cueLayout.ts'
import type { TextBlock, ScreenChange } from './captionScreen.ts'

const ROWS = 15
const COLUMNS = 32

type Style = 'pop-on' | 'roll-up' | 'paint-on' | 'text'
type Page = (string[] | undefined)[]

/** Miscellaneous control codes (table 52). */
const COMMAND = {
  resumeLoading: 0x20,
  backspace: 0x21,
  deleteToEnd: 0x24,
  rollUp2: 0x25,
  rollUp4: 0x27,
  resumeDirect: 0x29,
  textRestart: 0x2a,
  resumeText: 0x2b,
  eraseDisplayed: 0x2c,
  carriageReturn: 0x2d,
  eraseNonDisplayed: 0x2e,
  endOfCaption: 0x2f,
} as const

export class Memory608 {
  #style: Style = 'pop-on'
  #displayed: Page = []
  #nonDisplayed: Page = []
  #row = ROWS
  #column = 0
  #depth = 2
  #change: ScreenChange | null = null

  /** The screen and its kind of change since the last call; null = unchanged. */
  takeChange(): { blocks: TextBlock[]; change: ScreenChange } | null {
    const change = this.#change
    this.#change = null
    return change === null ? null : { change, blocks: blocksOf(this.#lines()) }
  }

  command(code: number): void {
    switch (code) {
      case COMMAND.resumeLoading:
        this.#style = 'pop-on'
        return
      case COMMAND.resumeDirect:
        this.#style = 'paint-on'
        return
      case COMMAND.textRestart:
      case COMMAND.resumeText:
        this.#style = 'text'
        return
      case COMMAND.eraseDisplayed:
        this.#displayed = []
        this.#markChanged('cut')
        return
      case COMMAND.eraseNonDisplayed:
        this.#nonDisplayed = []
        return
      case COMMAND.endOfCaption:
        this.#style = 'pop-on'
        ;[this.#displayed, this.#nonDisplayed] = [this.#nonDisplayed, this.#displayed]
        this.#markChanged('cut')
        return
      case COMMAND.carriageReturn:
        if (this.#style === 'roll-up') this.#rollUp()
        return
      case COMMAND.backspace:
        this.#backspace()
        return
      case COMMAND.deleteToEnd:
        this.#page?.[this.#row]?.splice(this.#column)
        this.#written('cut')
        return
      default:
        if (code >= COMMAND.rollUp2 && code <= COMMAND.rollUp4) this.#startRollUp(code - COMMAND.rollUp2 + 2)
    }
  }

  /** Writes a character at the cursor. In the last column each one replaces the one before. */
  write(character: string): void {
    const page = this.#page
    if (page === null || character === '') return
    const row = (page[this.#row] ??= [])
    while (row.length < this.#column) row.push(' ')
    const before = row[this.#column]
    row[this.#column] = character
    this.#column = Math.min(this.#column + 1, COLUMNS - 1)
    this.#written(before === undefined || before === ' ' || before === character ? 'grow' : 'cut')
  }

  /** Replaces the previous character, which encoders send as a fallback for decoders without the extended sets. */
  replace(character: string): void {
    this.#backspace()
    this.write(character)
  }

  tab(columns: number): void {
    this.#column = Math.min(this.#column + columns, COLUMNS - 1)
  }

  /** Preamble address code: row 1 to 15. */
  moveTo(row: number, column: number): void {
    this.#column = column
    if (this.#style !== 'roll-up' || row === this.#row) {
      this.#row = row
      return
    }
    // The whole window moves with its base row.
    const rows = this.#window()
    this.#displayed = []
    this.#row = row
    for (const [up, characters] of rows.entries()) if (row - up >= 1) this.#displayed[row - up] = characters
    this.#markChanged('cut')
  }

  get #page(): Page | null {
    if (this.#style === 'pop-on') return this.#nonDisplayed
    return this.#style === 'roll-up' || this.#style === 'paint-on' ? this.#displayed : null
  }

  #written(change: ScreenChange): void {
    if (this.#page === this.#displayed) this.#markChanged(change)
  }

  #markChanged(change: ScreenChange): void {
    if (this.#change !== 'cut') this.#change = change
  }

  #backspace(): void {
    const page = this.#page
    if (page === null || this.#column === 0) return
    this.#column -= 1
    page[this.#row]?.splice(this.#column, 1, ' ')
    this.#written('grow')
  }

  #startRollUp(depth: number): void {
    // 47 CFR 15.119 (f)(1)(ii): a change from another style clears both memories and moves the base row to the last
    // row.
    if (this.#style !== 'roll-up') {
      this.#displayed = []
      this.#nonDisplayed = []
      this.#row = ROWS
      this.#column = 0
      this.#markChanged('cut')
    }
    this.#style = 'roll-up'
    if (depth < this.#depth) this.#markChanged('cut')
    this.#depth = depth
    this.#trim(this.#window())
  }

  #rollUp(): void {
    this.#trim([[], ...this.#window().slice(0, this.#depth - 1)])
    this.#column = 0
    this.#markChanged('cut')
  }

  /** Rows of the window, the base row first. */
  #window(): string[][] {
    return Array.from({ length: this.#depth }, (_, up) => this.#displayed[this.#row - up] ?? [])
  }

  #trim(rows: readonly string[][]): void {
    this.#displayed = []
    for (const [up, characters] of rows.entries()) if (this.#row - up >= 1) this.#displayed[this.#row - up] = characters
  }

  #lines(): Line[] {
    return this.#displayed.flatMap((characters, row) => {
      const text = (characters ?? []).join('').trimEnd()
      const column = text.length - text.trimStart().length
      return text.trim() === '' ? [] : [{ row, column, text: text.trimStart() }]
    })
  }
}
