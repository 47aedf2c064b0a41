// In charge of: `npm run long cuts [-- --offsets N] [--seed N] [--form ts,mp4,mkv,hls,fmp4] [--parallel N]`: where each
// source is cut, and the table.
// Not in charge of: one cut (truncation.ts).
import { parseArgs } from 'node:util'
import { seededRandom } from '../../support/media/hostileInputs.ts'
import { TruncationTest, SOURCE_FORMATS, TRUNCATION_MODES, type TruncationResult } from './truncation.ts'

const { values } = parseArgs({
  options: {
    offsets: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    parallel: { type: 'string', default: '2' },
    form: { type: 'string', default: SOURCE_FORMATS.join(',') },
  },
})
const [count, seed] = [Number(values.offsets), Number(values.seed)]
const forms = SOURCE_FORMATS.filter((form) => values.form.split(',').includes(form))
if (!Number.isInteger(count) || !Number.isInteger(seed) || count < 1 || forms.length === 0) {
  console.error('Usage: npm run long cuts [-- --offsets N] [--seed N] [--form ts,mp4,mkv,hls,fmp4]')
  process.exit(2)
}

const outcomes: TruncationResult[] = []
await using cuts = await TruncationTest.open()
const next = seededRandom(seed)
const jobs = forms.flatMap((form) =>
  Array.from({ length: count }, (_, n) => {
    // One in each of that many equal ranges, alternating between both modes; half of them between two packets, or
    // fragments.
    const at = Math.max(1, Math.floor(((n + next()) * cuts.size(form)) / count))
    const isBetween = form !== 'mp4' && form !== 'mkv' && n % 4 > 1
    return {
      form,
      way: TRUNCATION_MODES[n % TRUNCATION_MODES.length]!,
      offset: isBetween ? cuts.offsetRange(form, at) : at,
    }
  }),
)
await Promise.all(
  Array.from({ length: Number(values.parallel) || 1 }, async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const outcome = await cuts.run(job.form, job.way, job.offset)
      outcomes.push(outcome)
      if (outcome.missing.length > 0) console.log(`WRONG ${JSON.stringify(outcome)}`)
    }
  }),
)

for (const form of forms)
  for (const way of TRUNCATION_MODES) {
    const of = outcomes.filter((outcome) => outcome.form === form && outcome.way === way)
    const codes = Map.groupBy(of, ({ code }) => code ?? 'success')
    const counts = [...codes].map(([code, those]) => `${code} ${those.length}`).join(', ')
    const bad = of.filter(({ missing }) => missing.length > 0).length
    console.log(`${form}, ${way}: ${of.length} cuts: ${counts}; successes with missing media: ${bad}`)
  }
process.exitCode = outcomes.some(({ missing }) => missing.length > 0) ? 1 : 0
