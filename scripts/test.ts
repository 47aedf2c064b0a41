// In charge of: `npm test`: runs all tests and prints the ten slowest files, the wall time, and in the last line the
// number of passed tests. REQUIRE_ALL=1 makes a skipped test a failure. EVERY_ENGINE=1 repeats the tests that depend on the
// version of ffmpeg with this machine's ffmpeg, where the others ran npm's.
// LONG_TESTS=changed adds the groups of long forms (test/support/longGroups.ts) that have not passed on these files; none
// begins after LONG_MINUTES. `--long NAME …` runs these groups alone, `--long all` all of them.
// Other arguments are passed to vitest: `npm test -- test/node/plan`.
import { spawn, execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { locateEngine } from '../transcoder/ffmpeg/locate.ts'
import { LONG_GROUPS, type LongGroup } from '../test/support/longGroups.ts'
import { firstEngine, machineEngine } from './test/testEngines.ts'
import { ROOT } from './local/localSettings.ts'
import { OUTSIDE_ERRORS, type OutsideError } from './test/outsideErrors.ts'
import { addFailure, slowestFiles, tally, type Count, type Report } from './test/report.ts'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'

const FILE = join(ROOT, 'test', 'proven.json')

/** Hash of all files of the repository that the group covers, and of its tests. */
async function hashOf({ tests, covers }: LongGroup): Promise<string> {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '-z'], { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 })
  const isCovered = (path: string): boolean =>
    tests.some((start) => path.startsWith(start)) || covers.some((each) => path === each || path.startsWith(`${each}/`))
  const hash = createHash('sha256')
  for (const path of stdout.split('\0').filter((each) => isCovered(each)))
    hash.update(`${path}\0`).update(await readFile(join(ROOT, path)).catch(() => ''))
  return hash.digest('hex').slice(0, 16)
}

async function readProven(): Promise<Record<string, string>> {
  return JSON.parse(await readFile(FILE, 'utf8').catch(() => '{}')) as Record<string, string>
}

/** Names of groups, in their order. */
async function unprovenGroups(): Promise<string[]> {
  const proven = await readProven()
  const names: string[] = []
  for (const [name, group] of Object.entries(LONG_GROUPS)) if ((await hashOf(group)) !== proven[name]) names.push(name)
  return names
}

/** The group has passed on the files as they are. */
async function recordProven(name: string): Promise<void> {
  const proven = { ...(await readProven()), [name]: await hashOf(LONG_GROUPS[name]!) }
  const sorted = Object.fromEntries(Object.entries(proven).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  await writeFile(FILE, `${JSON.stringify(sorted, null, 2)}\n`)
}

/**
 * Tests of what differs between the versions of ffmpeg: features (engineFeatures.ts), and what code or a test names with a
 * version. What runs the same commands with either is repeated by the long forms alone, which run this machine's ffmpeg.
 */
const ENGINE_TESTS = [
  'test/node/transcoder/analysis/probe.test.ts',
  'test/node/transcoder/encoding/audio/audioFormats.test.ts',
  'test/node/transcoder/encoding/captionPassthrough.test.ts',
  'test/node/transcoder/encoding/sourceFormats.test.ts',
  'test/node/transcoder/encoding/video/alpha.test.ts',
  'test/node/transcoder/encoding/video/colors.test.ts',
  'test/node/transcoder/encoding/video/frame.test.ts',
  'test/node/transcoder/encoding/video/frameRates.test.ts',
  'test/node/transcoder/encoding/video/hdrOutput.test.ts',
  'test/node/transcoder/encoding/video/interlacing.test.ts',
  'test/node/transcoder/extracts/images.test.ts',
  'test/node/transcoder/ffmpeg',
  'test/node/transcoder/pipeline/audioFormatChanges.test.ts',
  'test/node/transcoder/pipeline/clockJumps.test.ts',
  'test/node/transcoder/division/dividedCaptions.test.ts',
  'test/node/transcoder/pipeline/embeddedCaptions.test.ts',
  'test/node/transcoder/pipeline/sources/burstAudio.test.ts',
  'test/node/transcoder/pipeline/sources/changingFrames.test.ts',
  'test/node/transcoder/pipeline/sources/cuePassthrough.test.ts',
  'test/node/transcoder/pipeline/sources/damaged.test.ts',
  'test/node/transcoder/pipeline/sources/engineLimits.test.ts',
  'test/node/transcoder/pipeline/sources/programSelection.test.ts',
  'test/node/transcoder/pipeline/sources/shortAudio.test.ts',
]
const SLOWEST = 10
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')

async function runVitest(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Count> {
  const directory = await mkdtemp(join(tmpdir(), 'splicepoint-test-'))
  try {
    const report = join(directory, 'report.json')
    const outside = join(directory, 'outside.json')
    const named = ['default', 'json', './scripts/test/outsideErrors.ts'].map((name) => `--reporter=${name}`)
    const child = spawn(process.execPath, [vitest, 'run', ...named, `--outputFile.json=${report}`, ...args], {
      cwd: ROOT,
      env: { ...env, [OUTSIDE_ERRORS]: outside, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    const count = tally(JSON.parse(await readFile(report, 'utf8').catch(() => '{"testResults":[]}')) as Report)
    const errors = JSON.parse(await readFile(outside, 'utf8').catch(() => '[]')) as OutsideError[]
    for (const { what, message } of errors) addFailure(count, what, message)
    // No report, or a reason that neither report has.
    if (code !== 0 && count.failed === 0) addFailure(count, `vitest ended with code ${code}, with no failed test`)
    return count
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/**
 * Tests that REQUIRE_ALL allows to be skipped, with the reason. They are listed at the end.
 */
const ALLOWED_SKIPS: readonly { file: string; reason: string }[] = [
  {
    file: 'test/node/deploy/image.test.ts',
    reason:
      'it builds an image, so it needs an engine that reaches the internet from inside a build: CONTAINERS=docker',
  },
]

/** A group runs with whatever is known of the machine; its proof is kept if all of it ran and passed. */
async function runGroup(name: string): Promise<Count> {
  console.log(`\nLong forms: ${name}`)
  const count = await runVitest(LONG_GROUPS[name]!.tests, { ...process.env, LONG_TESTS: '1' })
  if (count.failed === 0 && count.passed > 0 && unexpectedSkips([count]).length === 0) await recordProven(name)
  return count
}

function unexpectedSkips(all: readonly Count[]): string[] {
  return all
    .flatMap(({ skipped }) => skipped)
    .filter((name) => !ALLOWED_SKIPS.some(({ file }) => name.startsWith(`${file}:`)))
}

const minutes = (): number => (performance.now() - began) / 60_000

const requireAll = process.env['REQUIRE_ALL'] === '1'
const changedToo = process.env['LONG_TESTS'] === 'changed'
const longMinutes = Number(process.env['LONG_MINUTES'] ?? Infinity)
const began = performance.now()
const counts: Count[] = []
const postponed: string[] = []
try {
  // vitest takes a path that does not exist for a filter, and runs fewer tests without a word.
  const missing = ENGINE_TESTS.filter((path) => !existsSync(join(ROOT, path)))
  if (missing.length > 0) throw new Error(`ENGINE_TESTS in scripts/test.ts lists missing paths: ${missing.join(', ')}`)
  const [first, ...names] = process.argv.slice(2)
  const engine = await locateEngine({ ...process.env, ...(await firstEngine(first === '--long')) })
  console.log(`ffmpeg ${engine.version} (${engine.ffmpeg})`)
  if (first === '--long') {
    const known = Object.keys(LONG_GROUPS)
    const unknown = names.filter((name) => name !== 'all' && !known.includes(name))
    if (names.length === 0 || unknown.length > 0) throw new Error(`--long takes all, or some of: ${known.join(', ')}`)
    for (const name of names.includes('all') ? known : names) counts.push(await runGroup(name))
  } else if (first !== undefined) counts.push(await runVitest([first, ...names], process.env))
  else {
    // Long forms are not chosen by the environment of a group's own run.
    const env: NodeJS.ProcessEnv = { ...process.env, LONG_TESTS: '' }
    const own = await machineEngine()
    const repeats = process.env['EVERY_ENGINE'] === '1' && own.FFMPEG_PATH !== ''
    const second = repeats ? await locateEngine({ ...process.env, ...own }) : engine
    if (second.ffmpeg === engine.ffmpeg) counts.push(await runVitest([], env))
    else {
      counts.push(await runVitest(['--project=node'], env))
      console.log(
        `\nTests in containers; beside them, once more with ffmpeg ${second.version} (${second.ffmpeg}), and the Worker's`,
      )
      // Those in containers run one behind the other, and wait most of the time; the others keep both cores busy.
      const containers = runVitest(['--project=containers'], env)
      counts.push(await runVitest(['--project=node', '--maxWorkers=2', ...ENGINE_TESTS], { ...env, ...own }))
      counts.push(await runVitest(['--project=worker', '--maxWorkers=2'], env))
      counts.push(await containers)
    }
    for (const name of changedToo ? await unprovenGroups() : [])
      if (minutes() < longMinutes) counts.push(await runGroup(name))
      else postponed.push(name)
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  counts.push({ passed: 0, failed: 1, skipped: [], failures: [], files: [] })
}

const passed = counts.reduce((sum, count) => sum + count.passed, 0)
const failed = counts.reduce((sum, count) => sum + count.failed, 0)
const allSkipped = counts.flatMap((count) => count.skipped)
const allowed = ALLOWED_SKIPS.filter(({ file }) => allSkipped.some((name) => name.startsWith(`${file}:`)))
const skipped = requireAll ? unexpectedSkips(counts) : allSkipped
const failures = counts.flatMap((count) => count.failures)
if (failures.length > 0) console.error(`\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}`)
if (requireAll && skipped.length > 0) {
  console.error(`REQUIRE_ALL is set, but these were skipped:\n${skipped.map((name) => `  ${name}`).join('\n')}`)
}
if (requireAll) for (const { file, reason } of allowed) console.log(`\nSkipped: ${file}: ${reason}`)
console.log(`\nSlowest files:\n${slowestFiles(counts, SLOWEST).join('\n')}`)
if (postponed.length > 0) console.log(`\nLong forms that have not passed on these files: ${postponed.join(', ')}`)
console.log(`\n${minutes().toFixed(1)} minutes`)
process.exitCode = failed > 0 || passed === 0 || (requireAll && skipped.length > 0) ? 1 : 0
console.log(`${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`)
