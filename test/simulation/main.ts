// In charge of: `npm run long simulate [-- --seeds N | --seed N [--trace]] [--from N] [--repeat] [--source DIR]`.
// Not in charge of: the simulation (simulate.ts).
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadCode } from './productionCode.ts'
import { Random } from '../support/seededRandom.ts'
import { repeated } from './scenario.ts'
import { simulate } from './simulate.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    /** Only repetition: each message five times, each post three times. */
    repeat: { type: 'boolean', default: false },
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

const code = await loadCode(values.source)
const began = performance.now()
const sum = { steps: 0, jobs: 0, attempts: 0, results: 0 }
let seed = from
let violations = 0
for (; seed < from + count && violations === 0; seed++) {
  const trace = values.trace ? { trace: (line: string) => void process.stdout.write(`${line}\n`) } : {}
  const run = await simulate(seed, code, {
    ...trace,
    ...(values.repeat ? { scenario: repeated(new Random(seed)) } : {}),
  })
  for (const key of ['steps', 'jobs', 'attempts', 'results'] as const) sum[key] += run[key]
  for (const { invariant, task, at, what } of run.violations) {
    violations++
    console.log(`seed ${seed}: ${invariant} at ${at} ms, ${task}: ${what}`)
  }
  if (violations > 0) console.log(`Again, step by step: npm run long simulate -- --seed ${seed} --trace`)
}
const seconds = (performance.now() - began) / 1000
console.log(
  `${seed - from} seeds from ${from}, ${violations} violations, ${sum.jobs} jobs, ${sum.attempts} attempts, ${sum.results} results, ${sum.steps} steps, ${seconds.toFixed(1)} s`,
)
process.exitCode = violations === 0 ? 0 : 1
