// In charge of: `npm run long fuzz`: the long form, from one seed, and its findings. FUZZ_REQUESTS (10,000), FUZZ_SEED,
// FUZZ_ONLY (names of operations, comma-separated).
// Not in charge of: one run (fuzzer.ts), raw connections (http/heldConnections.ts).
import { pipelineRequests, rawSendings, sendRaw, holdIdleConnections } from './http/heldConnections.ts'
import { Fuzzer, RAW, describeFinding, type FuzzFinding } from './fuzzer.ts'
import { BASES } from './generators/rawRequests.ts'
import { connectTo } from './http/connection.ts'
import { ServiceUnderTest } from './serviceUnderTest.ts'

const STILL = 120
const PIPELINED = 100

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
const unknown = only.filter((name) => !names.includes(name) && name !== RAW)
if (unknown.length > 0) throw new Error(`FUZZ_ONLY has ${unknown.join(', ')}; there is ${[RAW, ...names].join(', ')}`)
if (only.length === 0 || only.some((name) => name !== RAW)) await fuzz.run(requests, seed, only)
const findings: FuzzFinding[] = [...fuzz.report.findings]
let connections = 0
if (only.length === 0 || only.includes(RAW)) {
  for (const sending of rawSendings(BASES.length)) {
    connections++
    for (const finding of await sendRaw(world, wire, sending))
      if (!findings.some(({ about, what }) => about === finding.about && what === finding.what)) findings.push(finding)
  }
  const wrong = [
    ...(await holdIdleConnections(world, wire, STILL)),
    ...(await pipelineRequests(world, wire, PIPELINED)),
  ]
  findings.push(...wrong.map((what) => ({ about: RAW, what, seed, request: '', answer: '' })))
  connections += STILL + 1
}

for (const finding of findings) console.log(`\n${describeFinding(finding)}`)
const { report } = fuzz
const statuses = [...report.statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status} × ${count}`)
console.log(`
seed ${seed}: ${report.requests} requests, ${names.length - 3} operations, the task API and other addresses: ${statuses.join(', ')}
${connections} raw connections; ${Math.round((performance.now() - begin) / 1000)} s; ${findings.length} faults`)
process.exitCode = findings.length > 0 ? 1 : 0
