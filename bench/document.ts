// In charge of: the table of figures in docs/performance.md: rows that were measured are replaced, the others stay.
// Not in charge of: the text around it, which people write.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../scripts/local/settings.ts'
import { cells, HEAD, type Row } from './table.ts'

const PATH = join(ROOT, 'docs', 'performance.md')
const BEGIN = '<!-- figures: npm run bench -- --write -->'
const END = '<!-- end of figures -->'

export async function writeFigures(rows: readonly Row[]): Promise<void> {
  const text = await readFile(PATH, 'utf8')
  const from = text.indexOf(BEGIN) + BEGIN.length
  const to = text.indexOf(END)
  if (from < BEGIN.length || to < from) throw new Error(`${PATH} has lost its marks "${BEGIN}" and "${END}".`)
  const kept = text
    .slice(from, to)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
  const lines = new Map(kept.map((line) => [line.split('|')[1]?.trim() ?? '', line]))
  for (const row of rows) lines.set(row.name, markdown(cells(row)))
  const table = [markdown([...HEAD]), `|${'---|'.repeat(HEAD.length)}`, ...lines.values()].join('\n')
  await writeFile(PATH, `${text.slice(0, from)}\n\n${table}\n\n${text.slice(to)}`)
}

function markdown(row: readonly string[]): string {
  return `| ${row.join(' | ')} |`
}
