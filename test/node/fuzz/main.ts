// In charge of: `npm run long fuzz`: the long form, from one seed, and its findings. FUZZ_REQUESTS (10,000), FUZZ_SEED,
// FUZZ_ONLY (names of operations, comma-separated).
// Not in charge of: one run (fuzzer.ts).
import { Fuzzer, describeFinding } from './fuzzer.ts'
import { connectTo } from './connection.ts'
import { ServiceUnderTest } from './serviceUnderTest.ts'

const whole = (name: string, fallback: number): number => {
  const value = Number(process.env[name] || fallback)
  if (Number.isSafeInteger(value) && value >= 0) return value
  console.error(`${name} must be a whole number, not "${process.env[name]}".`)
  process.exit(2)
}
const requests = whole('FUZZ_REQUESTS', 10_000)
const seed = whole('FUZZ_SEED', Date.now() % 1_000_000)
const only = (process.env['FUZZ_ONLY'] ?? '').split(',').filter((name) => name !== '')

console.log(`FUZZ_SEED=${seed}`)
await using world = await ServiceUnderTest.open()
const wire = connectTo(world.service.base)
const begin = performance.now()
const fuzz = new Fuzzer(world, wire)
const names = fuzz.names()
const unknown = only.filter((name) => !names.includes(name))
if (unknown.length > 0) throw new Error(`FUZZ_ONLY has ${unknown.join(', ')}; there is ${names.join(', ')}`)
await fuzz.run(requests, seed, only)

const { report } = fuzz
for (const finding of report.findings) console.log(`\n${describeFinding(finding)}`)
const statuses = [...report.statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status} × ${count}`)
console.log(`
seed ${seed}: ${report.requests} requests, ${names.length - 3} operations, the task API and other addresses: ${statuses.join(', ')}
${Math.round((performance.now() - begin) / 1000)} s; ${report.findings.length} faults`)
process.exitCode = report.findings.length > 0 ? 1 : 0
