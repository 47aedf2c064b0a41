// In charge of: `npm run chaos [-- --runs N] [--seed N] [--write]`: how many runs, the table, and docs/reliability.md.
// Not in charge of: a run (chaos.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../service/service.ts'
import { BLOWS, blowOf, KINDS, Lab, type Result } from './chaos.ts'

const DOCUMENT = join(ROOT, 'docs', 'reliability.md')
const BEGIN = '<!-- chaos: npm run chaos -- --write -->'
const END = '<!-- end of chaos -->'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
})
const [first, runs] = [Number(values.seed), Number(values.runs)]
if (!Number.isInteger(first) || !Number.isInteger(runs) || runs < 1) {
  console.error('Usage: npm run chaos [-- --runs N] [--seed N] [--write]')
  process.exit(2)
}

const results: Result[] = []
{
  await using lab = await Lab.open()
  // What was started is stopped, also when this is stopped half-way.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void lab[Symbol.asyncDispose]().finally(() => process.exit(1)))
  for (let seed = first; seed < first + runs; seed++) {
    const result = await lab.run(blowOf(seed))
    results.push(result)
    const { kind, blow, point, delayMs, hit, seconds, wrong } = result
    const where = hit ? `${delayMs} ms after ${point}` : 'after the end'
    console.log(`seed ${seed}: ${kind}, ${blow} ${where}, ${seconds.toFixed(1)} s${wrong.length > 0 ? '  WRONG' : ''}`)
    for (const what of wrong) console.log(`  ${what}`)
  }
}
const bad = results.filter(({ wrong }) => wrong.length > 0)
console.log(`${results.length} runs from seed ${first}, ${bad.length} with something wrong`)
process.exitCode = bad.length > 0 ? 1 : 0
if (values.write) await write()

async function write(): Promise<void> {
  const lines = [
    `${results.length} runs from seed ${first}: ${results.filter(({ hit }) => hit).length} struck a job under way, ${bad.length} left something wrong.`,
    '',
    ...table([
      ['blow', ...KINDS],
      ...BLOWS.map((blow) => [
        blow,
        ...KINDS.map((kind) => {
          const of = results.filter((result) => result.blow === blow && result.kind === kind)
          return `${of.filter(({ wrong }) => wrong.length === 0).length} of ${of.length} whole`
        }),
      ]),
    ]),
  ]
  const text = await readFile(DOCUMENT, 'utf8')
  const [from, to] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)]
  if (from < BEGIN.length || to < from) throw new Error(`${DOCUMENT} has lost its marks "${BEGIN}" and "${END}".`)
  await writeFile(DOCUMENT, `${text.slice(0, from)}\n\n${lines.join('\n')}\n\n${text.slice(to)}`)
}

function table(cells: string[][]): string[] {
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  const [head, ...rest] = cells
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)]
}
