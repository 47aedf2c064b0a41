// In charge of: `npm run bench [-- ROW …] [--runs N] [--busy] [--quick] [--write]`: which rows are measured, and where the table
// goes.
// Not in charge of: measuring (rows/). These are not tests: times vary, so a missed goal is only printed.
import { parseArgs } from 'node:util'
import { api } from './rows/api.ts'
import { bundle } from './rows/bundle.ts'
import { chunks, chunksOfAverage } from './rows/chunks.ts'
import { estimate } from './rows/estimate.ts'
import { ladder } from './rows/ladder.ts'
import { load } from './rows/load.ts'
import { memory } from './rows/memory.ts'
import { pages } from './rows/pages.ts'
import { segmented } from './rows/segmented.ts'
import { small } from './rows/small.ts'
import { start } from './rows/start.ts'
import { writeFigures } from './document.ts'
import { printTable, type Benchmark, type Row } from './table.ts'

const benches: Record<string, Benchmark> = {
  bundle,
  start,
  pages,
  api,
  load,
  small,
  ladder,
  segmented,
  chunks,
  'chunks-vbr': chunksOfAverage,
  memory,
  estimate,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string' },
    write: { type: 'boolean', default: false },
    busy: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
})
const chosen = positionals.length === 0 ? Object.keys(benches) : positionals
const unknown = chosen.filter((name) => !(name in benches))
const runs = values.runs === undefined ? null : Number(values.runs)
if (unknown.length > 0 || (runs !== null && !(Number.isInteger(runs) && runs > 0))) {
  console.error(
    `Usage: npm run bench [-- ${Object.keys(benches).join(' | ')} …] [--runs N] [--busy] [--quick] [--write]`,
  )
  process.exit(2)
}

// process.exit runs the exit handlers that stop what was started (benchService.ts); the default action would not.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const rows: Row[] = []
for (const name of chosen) {
  console.error(`\n# ${name}`)
  try {
    rows.push(
      ...((await benches[name]?.({
        runs,
        busy: values.busy,
        quick: values.quick,
        note: (line) => console.error(`  ${line}`),
      })) ?? []),
    )
  } catch (error) {
    process.exitCode = 1
    console.error(`  ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  }
}
console.log(printTable(rows))
if (values.write) await writeFigures(rows)
