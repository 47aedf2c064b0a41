// In charge of: `npm run cuts [-- --offsets N] [--seed N] [--form ts,mp4,mkv,hls,fmp4] [--parallel N]`: where each source is cut, and the table.
// Not in charge of: one cut (truncation.ts).
import { parseArgs } from 'node:util'
import { random } from '../../support/media/hostileInputs.ts'
import { Cuts, FORMS, WAYS, type Outcome } from './truncation.ts'

const { values } = parseArgs({
  options: {
    offsets: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    parallel: { type: 'string', default: '2' },
    form: { type: 'string', default: FORMS.join(',') },
  },
})
const [count, seed] = [Number(values.offsets), Number(values.seed)]
const forms = FORMS.filter((form) => values.form.split(',').includes(form))
if (!Number.isInteger(count) || !Number.isInteger(seed) || count < 1 || forms.length === 0) {
  console.error('Usage: npm run cuts [-- --offsets N] [--seed N] [--form ts,mp4,mkv,hls,fmp4]')
  process.exit(2)
}

const outcomes: Outcome[] = []
await using cuts = await Cuts.open()
const next = random(seed)
const jobs = forms.flatMap((form) =>
  Array.from({ length: count }, (_, n) => {
    // One in each of so many equal stretches, in both ways by turns; half of them between two packets, or fragments.
    const at = Math.max(1, Math.floor(((n + next()) * cuts.size(form)) / count))
    const isBetween = form !== 'mp4' && form !== 'mkv' && n % 4 > 1
    return { form, way: WAYS[n % WAYS.length]!, offset: isBetween ? cuts.between(form, at) : at }
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
  for (const way of WAYS) {
    const of = outcomes.filter((outcome) => outcome.form === form && outcome.way === way)
    const codes = Map.groupBy(of, ({ code }) => code ?? 'success')
    const told = [...codes].map(([code, those]) => `${code} ${those.length}`).join(', ')
    const bad = of.filter(({ missing }) => missing.length > 0).length
    console.log(`${form}, ${way}: ${of.length} cuts: ${told}; successes with missing media: ${bad}`)
  }
process.exitCode = outcomes.some(({ missing }) => missing.length > 0) ? 1 : 0
