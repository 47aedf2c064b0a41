// In charge of: rows with aligned columns, cut to the width of the terminal. Pure.
import { stripControlCharacters } from '../cliErrors.ts'
import { truncate, pad, widthOf } from './terminal.ts'

export interface Column {
  title: string
  /** Right-aligned, for numbers. */
  right?: true
  /** The column that is shortened if the terminal is too narrow. */
  flexible?: true
}

const GAP = '  '
const LEAST = 12

/** @param width null for a file or a pipe: nothing is cut */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], width: number | null): string {
  const texts = [
    columns.map(({ title }) => title),
    ...rows.map((row) => row.map((cell) => stripControlCharacters(cell).replaceAll('\n', ' '))),
  ]
  const widths = columns.map((_column, index) => Math.max(...texts.map((row) => widthOf(row[index] ?? ''))))
  const total = widths.reduce((sum, each) => sum + each, 0) + GAP.length * (columns.length - 1)
  const flexible = columns.findIndex((column) => column.flexible)
  if (width !== null && total > width && flexible >= 0) {
    widths[flexible] = Math.max(LEAST, widths[flexible]! - (total - width))
  }
  const lines = texts.map((row) =>
    columns
      .map(({ right }, index) => {
        const text = truncate(row[index] ?? '', widths[index]!)
        return right ? ' '.repeat(Math.max(0, widths[index]! - widthOf(text))) + text : pad(text, widths[index]!)
      })
      .join(GAP)
      .trimEnd(),
  )
  return lines.join('\n')
}
