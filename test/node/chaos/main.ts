// In charge of: `npm run long chaos [-- --runs N] [--commits all|N|0] [--seed N] [--write] [--planted] [--chunks [--codec hevc]]`:
// how many runs, the tables, and docs/internals/reliability.md.
// Not in charge of: a run (processKills.ts), kills during commits (commitKills.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Random } from '../../support/seededRandom.ts'
import { ROOT } from '../../support/service.ts'
import { CHUNK_CODECS, ChunkKillBench, type ChunkCodec } from './chunkKills.ts'
import { FAULTS, killScenario, KillTestBench, type KillResult } from './processKills.ts'
import { CommitKillBench, killPoints, KILLED_PROCESSES, type KillOutcome } from './commitKills.ts'
import { testPlantedBugs } from './plantedCommitBugs.ts'
import { JOB_KINDS, type JobKind } from './jobKinds.ts'

const DOCUMENT = join(ROOT, 'docs/internals/reliability.md')

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '18' },
    commits: { type: 'string', default: 'all' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    planted: { type: 'boolean', default: false },
    /** Only divided jobs, whose transcoders are killed again and again. */
    chunks: { type: 'boolean', default: false },
    codec: { type: 'string', default: 'h.264' },
  },
})
const [first, runs] = [Number(values.seed), Number(values.runs)]
const commits = values.commits === 'all' ? Number.POSITIVE_INFINITY : Number(values.commits)
const codec = CHUNK_CODECS.find((one) => one === values.codec)
if (!Number.isInteger(first) || !Number.isInteger(runs) || runs < 0 || !(commits >= 0) || codec === undefined) {
  console.error(
    `Usage: npm run long chaos [-- --runs N] [--commits all|N|0] [--seed N] [--write] [--planted] [--chunks [--codec ${CHUNK_CODECS.join('|')}]]`,
  )
  process.exit(2)
}

if (values.chunks) process.exit((await strikeChunks(codec)) ? 0 : 1)
if (values.planted) process.exit((await testPlantedBugs(console.log)).length > 0 ? 1 : 0)

const steps: Partial<Record<JobKind, string[]>> = {}
const outcomes = commits > 0 ? await strikeCommits() : []
const results = runs > 0 ? await strikeJobs() : []
const bad = [...outcomes, ...results].filter(({ wrong }) => wrong.length > 0)
const missed = outcomes.filter(({ hit }) => !hit)
const late = results.filter(({ hit }) => !hit)
console.log(
  `${outcomes.length} points of commits, ${missed.length} of them missed; ${results.length} runs from seed ${first}, ${late.length} after the end; ${bad.length} with something wrong`,
)
// A kill that hit no job proves nothing.
process.exitCode = bad.length + missed.length + late.length > 0 ? 1 : 0
if (values.write) await write()

/** Stops what was started, also when this process is interrupted. */
function disposeOnSignals(lab: AsyncDisposable): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      void Promise.resolve(lab[Symbol.asyncDispose]()).finally(() => process.exit(1))
    })
}

/** @returns whether all was right */
async function strikeChunks(codec: ChunkCodec): Promise<boolean> {
  await using lab = await ChunkKillBench.open(codec)
  disposeOnSignals(lab)
  let isRight = true
  for (let seed = first; seed < first + runs; seed++) {
    const { kills, repeated, parts, differing, seconds, undisturbedSeconds, wrong } = await lab.run(seed)
    const struck = Object.entries(kills).map(([fault, count]) => `${count} × ${fault}`)
    const times = `${seconds.toFixed(1)} s (undisturbed ${undisturbedSeconds.toFixed(1)} s)`
    console.log(
      `seed ${seed}: ${struck.join(', ')}; ${repeated} attempts at ${parts} parts repeated; ${differing} segments with other bytes; ${times}`,
    )
    for (const what of wrong) console.log(`  WRONG ${what}`)
    isRight &&= wrong.length === 0
  }
  return isRight
}

async function strikeCommits(): Promise<KillOutcome[]> {
  await using fixture = await CommitKillBench.open()
  disposeOnSignals(fixture)
  Object.assign(steps, await fixture.steps())
  const done: KillOutcome[] = []
  const random = new Random(first)
  for (const victim of KILLED_PROCESSES) {
    const all = JOB_KINDS.flatMap((kind) => killPoints(kind, steps[kind]!, victim))
    const some = shuffled(all, random).slice(0, commits)
    done.push(...(await fixture.killAtPoints(victim, some, random, tell)))
  }
  return done
}

function tell({ kind, victim, step, phase, hit, wrong }: KillOutcome): void {
  const verdict = `${hit ? '' : '  MISSED'}${wrong.length > 0 ? '  WRONG' : ''}`
  console.log(`${kind}, SIGKILL ${victim}, ${step} ${phase}${verdict}`)
  for (const what of wrong) console.log(`  ${what}`)
}

async function strikeJobs(): Promise<KillResult[]> {
  await using lab = await KillTestBench.open()
  disposeOnSignals(lab)
  const done: KillResult[] = []
  for (let seed = first; seed < first + runs; seed++) {
    const result = await lab.run(killScenario(seed))
    done.push(result)
    const { kind, blow: fault, fraction, hit, seconds, wrong } = result
    const where = hit ? `with ${Math.round(fraction * 100)} % of the source` : 'after the end'
    console.log(`seed ${seed}: ${kind}, ${fault} ${where}, ${seconds.toFixed(1)} s${wrong.length > 0 ? '  WRONG' : ''}`)
    for (const what of wrong) console.log(`  ${what}`)
  }
  return done
}

function shuffled<T>(all: readonly T[], random: Random): T[] {
  const left = [...all]
  return all.map(() => left.splice(random.whole(0, left.length - 1), 1)[0]!)
}

/** Tables that were not measured keep their earlier lines. */
async function write(): Promise<void> {
  let text = await readFile(DOCUMENT, 'utf8')
  if (outcomes.length > 0) {
    const found = JOB_KINDS.map((kind) => `${steps[kind]!.length} (${kind})`).join(', ')
    const wrong = outcomes.filter((outcome) => outcome.wrong.length > 0).length
    text = replaced(text, 'commits', [
      `Steps found in undisturbed commits: ${found}. Processes were killed at ${outcomes.length} points, at ${outcomes.length - missed.length} of them while the job was held there; ${wrong} left something wrong.`,
      '',
      ...tally(
        'SIGKILL of',
        KILLED_PROCESSES,
        outcomes.map((outcome) => ({ ...outcome, row: outcome.victim })),
      ),
    ])
  }
  if (results.length > 0) {
    const hit = results.filter((result) => result.hit).length
    const wrong = results.filter((result) => result.wrong.length > 0).length
    text = replaced(text, 'runs', [
      `${results.length} runs from seed ${first}: ${hit} hit a running job, ${wrong} left something wrong.`,
      '',
      ...tally(
        'fault',
        FAULTS,
        results.map((result) => ({ ...result, row: result.blow })),
      ),
    ])
  }
  await writeFile(DOCUMENT, text)
}

/** Replaces the lines between two markers of the document. */
function replaced(text: string, name: string, lines: readonly string[]): string {
  const [begin, end] = [`<!-- chaos ${name}: npm run long chaos -- --write -->`, `<!-- end of chaos ${name} -->`]
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)]
  if (from < begin.length || to < from) throw new Error(`${DOCUMENT} has lost its marks "${begin}" and "${end}".`)
  return `${text.slice(0, from)}\n\n${lines.join('\n')}\n\n${text.slice(to)}`
}

/** How many of the killed jobs were complete, by row and kind. */
function tally(
  title: string,
  rows: readonly string[],
  all: readonly { row: string; kind: JobKind; wrong: string[] }[],
): string[] {
  const cells = rows.map((row) => [
    row,
    ...JOB_KINDS.map((kind) => {
      const of = all.filter((one) => one.row === row && one.kind === kind)
      return `${of.filter(({ wrong }) => wrong.length === 0).length} of ${of.length} whole`
    }),
  ])
  return table([[title, ...JOB_KINDS], ...cells])
}

function table(cells: string[][]): string[] {
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  const [head, ...rest] = cells
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)]
}
