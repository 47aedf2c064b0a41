// In charge of: `npm run long matrix [-- --only GROUP …] [--dry] [--chunked]`: measures the rows, writes docs/internals/matrix, and fails if
// a row fails.
// Not in charge of: the rows (rows/), the format of the document (document.ts), divided jobs (dividedMain.ts).
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { testFfmpeg } from '../support/media/media.ts'
import { renderPages, measuredRow, plainVersion, type MeasuredRow } from './document.ts'
import { measureDivided } from './dividedMain.ts'
import { missingRows, GROUPS } from './groups.ts'
import { openMatrixRunner } from './runner.ts'
import { showValue } from './parameterValues.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    dry: { type: 'boolean', default: false },
    chunked: { type: 'boolean', default: false },
  },
})
const chosen = values.only ?? Object.keys(GROUPS)
if (chosen.some((name) => !Object.hasOwn(GROUPS, name))) {
  console.error(`Usage: npm run long matrix [-- --only ${Object.keys(GROUPS).join(' | ')}] [--dry] [--chunked]`)
  process.exit(2)
}
if (values.chunked) process.exit(await measureDivided(chosen, values.dry))

const missing = missingRows()
for (const gap of missing) console.error(gap)

const { version } = await testFfmpeg()
console.log(`ffmpeg ${version}`)
const measured = new Map<string, MeasuredRow[]>()
const failures: string[] = []
await using runner = await openMatrixRunner()
for (const group of chosen) {
  const lines: MeasuredRow[] = []
  for (const row of GROUPS[group]!) {
    const line = measuredRow(row, await runner.run(row))
    const words = `${line.verdict}  ${row.path} ${showValue(row.value)}: ${line.measured} (${row.expected})`
    if (line.verdict === 'fail') failures.push(words)
    console.log(words)
    lines.push(line)
  }
  measured.set(group, lines)
}

const plain = plainVersion(version)
if (!values.dry)
  for (const [path, text] of await renderPages(plain, measured)) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
const all = [...measured.values()].flat()
const counted = (verdict: MeasuredRow['verdict']) => all.filter((line) => line.verdict === verdict).length
for (const words of failures) console.error(words)
for (const gap of missing) console.error(gap)
console.log(`${counted('pass')} pass, ${counted('fail')} fail`)
process.exitCode = failures.length > 0 || missing.length > 0 ? 1 : 0
