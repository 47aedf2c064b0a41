// In charge of: the golden corpus: `main.ts` makes its jobs and names each that differs from test/golden/corpus.json; --write
// makes that file anew. --only TEXT: the cases whose name contains it; with
// --write they replace those of the file. --repeat: each twice, to find what differs by itself.
// Not in charge of: the jobs (cases.ts), what is kept of each (record.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openMatrixRunner } from '../matrix/runner.ts'
import { testFfmpeg } from '../support/media/media.ts'
import { CASES } from './cases.ts'
import { record, type Golden } from './record.ts'

const FILE = join(import.meta.dirname, 'corpus.json')
const CONCURRENCY = 2

interface Corpus {
  /** Encoders differ from version to version: outputs are compared on this one alone. */
  ffmpeg: string
  cases: Record<string, Golden>
}

const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    repeat: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
})

const { version } = await testFfmpeg()
const before = JSON.parse(await readFile(FILE, 'utf8').catch(() => '{"ffmpeg":"","cases":{}}')) as Corpus
if (!values.write && !values.repeat && before.ffmpeg !== version) {
  console.error(
    `The corpus was made with ffmpeg ${before.ffmpeg}; this one is ${version}. Set FFMPEG_PATH and FFPROBE_PATH.`,
  )
  process.exit(2)
}

const FORMS = ['whole', 'parts'] as const
const wanted = CASES.filter(({ name }) => name.includes(values.only)).flatMap((each) =>
  FORMS.map((form) => ({ each, form, name: `${form} ${each.name}` })).filter(
    // What was never recorded cannot be compared.
    ({ name }) => values.write || values.repeat || Object.hasOwn(before.cases, name),
  ),
)
const cases: Record<string, Golden> = {}
let differ = 0
const waiting = wanted.values()
await using runner = await openMatrixRunner()

function compare(name: string, now: Golden, then: Golden | undefined): void {
  const members = [...new Set([...Object.keys(now), ...Object.keys(then ?? {})])]
  const changed = members.filter((member) => now[member] !== then?.[member])
  if (changed.length === 0) return
  differ += 1
  const words = changed.map((member) => `${member} ${then?.[member] ?? 'none'} -> ${now[member] ?? 'none'}`)
  console.log(`${name}: ${words.join(', ')}`)
}

async function work(): Promise<void> {
  for (const { each, form, name } of waiting) {
    const now = await record(each, form, runner)
    cases[name] = now
    if (values.repeat) compare(name, await record(each, form, runner), now)
    else if (!values.write) compare(name, now, before.cases[name])
  }
}
await Promise.all(Array.from({ length: CONCURRENCY }, work))

if (values.write) {
  const lines = Object.entries(values.only === '' ? cases : { ...before.cases, ...cases })
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, golden]) => `    ${JSON.stringify(name)}: ${JSON.stringify(golden)}`)
  await writeFile(FILE, `{\n  "ffmpeg": ${JSON.stringify(version)},\n  "cases": {\n${lines.join(',\n')}\n  }\n}\n`)
} else if (values.only === '' && !values.repeat) {
  // A job that the matrix has no more.
  for (const name of Object.keys(before.cases)) if (cases[name] === undefined) compare(name, {}, before.cases[name])
}
console.log(`${wanted.length} cases, ${differ} differ`)
process.exitCode = differ > 0 ? 1 : 0
