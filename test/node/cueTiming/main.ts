// In charge of: `npm run long cuesweep [-- --frames N] [--parallel N]`: a cue at every frame of two GOPs in every form of output, and the table.
// Not in charge of: one job (cueTiming.ts).
import { parseArgs } from 'node:util'
import { CueTimingTest, allCases, FORMS, GOP, type CueTimingResult } from './cueTiming.ts'

const { values } = parseArgs({
  options: { frames: { type: 'string', default: String(2 * GOP) }, parallel: { type: 'string', default: '2' } },
})
const [frames, parallel] = [Number(values.frames), Number(values.parallel)]
if (!Number.isInteger(frames) || frames < 1 || frames > 2 * GOP || !Number.isInteger(parallel) || parallel < 1) {
  console.error(`Usage: npm run long cuesweep [-- --frames 1…${2 * GOP}] [--parallel N]`)
  process.exit(2)
}

const cases = allCases(Array.from({ length: frames }, (_, frame) => frame))
const outcomes: CueTimingResult[] = []
await using sweep = await CueTimingTest.open()
await Promise.all(
  Array.from({ length: parallel }, async () => {
    for (let one = cases.shift(); one !== undefined; one = cases.shift()) {
      const outcome = await sweep.run(one)
      outcomes.push(outcome)
      if (outcome.faults.length > 0) console.log(`WRONG ${JSON.stringify(outcome)}`)
    }
  }),
)

for (const form of FORMS)
  for (const mode of ['vbr', 'cbr'] as const)
    for (const captions of [true, false]) {
      const those = outcomes.filter((one) => one.form === form && one.mode === mode && one.captions === captions)
      const failed = those.filter(({ faults }) => faults.length > 0).length
      const inStream = form === 'HLS-TS' || form === 'ts'
      const farthest = Math.max(...those.map(({ late }) => late))
      const position = inStream ? `; farthest in the stream: ${farthest.toFixed(2)} frames` : ''
      console.log(
        `${form}, ${mode}, captions ${captions ? 'on' : 'off'}: ${those.length} jobs, ${failed} failures${position}`,
      )
    }
process.exitCode = outcomes.some(({ faults }) => faults.length > 0) ? 1 : 0
