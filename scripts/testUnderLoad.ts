// In charge of: `npm run long busy -- 10 test/node/web/browser`: repeats tests while every processor is busy. Tests that
// fail only here wait too little or read too early. The last line says how many runs passed.
// Not in charge of: a single run (test.ts).
import { spawn, type ChildProcess } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const [times, ...files] = process.argv.slice(2)
const runs = Number(times)
if (!Number.isInteger(runs) || runs < 1) {
  console.error('How often? `npm run long busy -- 10 test/node/web/browser` runs these tests ten times.')
  process.exit(2)
}

/** The loop ends when this process ends, in every case. */
const LOOP = 'const parent = process.ppid; while (process.ppid === parent);'
const loops = Array.from({ length: availableParallelism() }, () =>
  spawn(process.execPath, ['-e', LOOP], { stdio: 'ignore' }),
)

/** The last line of one run, and whether it passed. */
async function run(): Promise<{ passed: boolean; said: string }> {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'test.ts'), ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  let said = ''
  for await (const line of createInterface({ input: child.stdout! })) {
    console.log(line)
    said = line
  }
  return { passed: (await ended) === 0, said }
}

const outcomes: string[] = []
let passed = 0
try {
  for (let n = 1; n <= runs; n++) {
    const began = performance.now()
    const outcome = await run()
    if (outcome.passed) passed += 1
    outcomes.push(`run ${n}: ${outcome.said} (${Math.round((performance.now() - began) / 1000)} s)`)
  }
} finally {
  for (const loop of loops) loop.kill('SIGKILL')
}
console.log(outcomes.join('\n'))
console.log(`${passed} of ${runs} runs passed`)
process.exitCode = passed === runs ? 0 : 1
