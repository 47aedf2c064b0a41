// In charge of: `npm run long simulate [-- --seeds N | --seed N [--trace]] [--from N] [--sql] [--repeat] [--tapes] [--source DIR]`.
// Not in charge of: the simulation (simulate.ts).
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadCode } from './productionCode.ts'
import type { Tape } from './databaseModel.ts'
import { Random } from '../support/seededRandom.ts'
import { replay } from './sqlReplay.ts'
import { repeated } from './scenario.ts'
import { simulate } from './simulate.ts'
import { openDatabase } from './sqlite.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    /** Only repetition: each message five times, each post three times. */
    repeat: { type: 'boolean', default: false },
    /** Also replays the statements of the model's database on the service's own SQL, in SQLite. */
    sql: { type: 'boolean', default: false },
    /** Write each tape as a line of JSON (tapes.ts), and nothing else. */
    tapes: { type: 'boolean', default: false },
    /** A directory that contains worker/: the planted bugs are copies. */
    source: { type: 'string', default: join(import.meta.dirname, '../..') },
  },
})
const single = values.seed === undefined ? null : Number(values.seed)
const from = single ?? Number(values.from)
const count = single === null ? Number(values.seeds) : 1
if (!Number.isInteger(from) || !Number.isInteger(count) || count < 1) {
  console.error('Usage: npm run long simulate [-- --seeds N] [--from N] | [-- --seed N --trace]')
  process.exit(2)
}

/** With --tapes, stdout carries only tapes. */
const say = (line: string): void => (values.tapes ? console.error(line) : console.log(line))

const code = await loadCode(values.source)
const db = values.sql ? openDatabase(values.source) : null
const began = performance.now()
const sum = { steps: 0, jobs: 0, attempts: 0, results: 0 }
let seed = from
let violations = 0
for (; seed < from + count && violations === 0; seed++) {
  const tape: Tape | null = db || values.tapes ? [] : null
  const trace = values.trace ? { trace: (line: string) => void process.stdout.write(`${line}\n`) } : {}
  const run = await simulate(seed, code, {
    ...trace,
    ...(tape ? { tape } : {}),
    ...(values.repeat ? { scenario: repeated(new Random(seed)) } : {}),
  })
  for (const key of ['steps', 'jobs', 'attempts', 'results'] as const) sum[key] += run[key]
  for (const { invariant, task, at, what } of run.violations) {
    violations++
    say(`seed ${seed}: ${invariant} at ${at} ms, ${task}: ${what}`)
  }
  if (values.tapes) process.stdout.write(`${JSON.stringify(tape)}\n`)
  if (db && tape) {
    const difference = await replay(db, tape)
    if (difference !== null) {
      violations++
      say(`seed ${seed}: model and SQL differ at ${difference}`)
    }
  }
  if (violations > 0)
    say(`Again, step by step: npm run long simulate -- --seed ${seed} --trace${values.sql ? ' --sql' : ''}`)
}
const seconds = (performance.now() - began) / 1000
say(
  `${seed - from} seeds from ${from}, ${violations} violations, ${sum.jobs} jobs, ${sum.attempts} attempts, ${sum.results} results, ${sum.steps} steps, ${seconds.toFixed(1)} s`,
)
process.exitCode = violations === 0 ? 0 : 1
