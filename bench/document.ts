// In charge of: the table in docs/internals/performance.md: measured rows are replaced, the others stay.
// Not in charge of: the text around it, which is hand-written.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../scripts/local/localSettings.ts'
import { tableCells, TABLE_HEADER, type Row } from './table.ts'

const PATH = join(ROOT, 'docs/internals/performance.md')
const BEGIN = '<!-- figures: npm run bench -- --write -->'
const END = '<!-- end of figures -->'

export async function writeFigures(rows: readonly Row[]): Promise<void> {
  const text = await readFile(PATH, 'utf8')
  const from = text.indexOf(BEGIN) + BEGIN.length
  const to = text.indexOf(END)
  if (from < BEGIN.length || to < from) throw new Error(`${PATH} has lost its marks "${BEGIN}" and "${END}".`)
  const existing = text
    .slice(from, to)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  const rowsByName = new Map([...existing, ...rows.map(tableCells)].map((row) => [row[0] ?? '', row]))
  const lines = markdown([[...TABLE_HEADER], ...rowsByName.values()])
  const rule = (lines[0] ?? '').replaceAll(/[^|]/g, '-').replaceAll(/\|-/g, '| ').replaceAll(/-\|/g, ' |')
  const table = [lines[0], rule, ...lines.slice(1)].join('\n')
  await writeFile(PATH, `${text.slice(0, from)}\n\n${table}\n\n${text.slice(to)}`)
}

/** Pads the columns to equal widths, as the formatter requires. */
function markdown(table: readonly (readonly string[])[]): string[] {
  const widths = TABLE_HEADER.map((_, column) => Math.max(3, ...table.map((row) => (row[column] ?? '').length)))
  return table.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
}
