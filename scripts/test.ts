// In charge of: `npm test`: runs all tests and prints the ten slowest files, the wall time, and in the last line the
// number of passed tests. REQUIRE_ALL=1 makes a skipped test a failure. LONG_TESTS=1 (`npm run test:long`) adds the long forms (test/support/longForm.ts).
// EVERY_ENGINE=1 repeats the tests that depend on ffmpeg with the npm package's ffmpeg.
// Arguments are passed to vitest: `npm test -- test/node/plan`.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { locateEngine } from '../transcoder/ffmpeg/locate.ts'
import { machineEngine } from './test/machineEngine.ts'
import { ROOT } from './local/localSettings.ts'
import { OUTSIDE_ERRORS, type OutsideError } from './test/outsideErrors.ts'
import { addFailure, slowestFiles, tally, type Count, type Report } from './test/report.ts'

/** Tests of what ffmpeg produces. Leases, restarts and the like do not depend on the engine. */
const ENGINE_TESTS = [
  'test/node/transcoder/encoding',
  'test/node/transcoder/formats',
  'test/node/transcoder/analysis',
  'test/node/transcoder/ffmpeg',
  'test/node/matrix',
  'test/node/transcoder/pipeline/bitmapBurnIn.test.ts',
  'test/node/transcoder/pipeline/burnIn.test.ts',
  'test/node/transcoder/pipeline/dividedCaptions.test.ts',
  'test/node/transcoder/pipeline/embeddedCaptions.test.ts',
  'test/node/transcoder/pipeline/joinedCaptions.test.ts',
  'test/node/transcoder/pipeline/runTask.test.ts',
  'test/node/transcoder/pipeline/segmentedOutput.test.ts',
  'test/node/transcoder/pipeline/sidecarFiles.test.ts',
  'test/node/service/jobs/singleFiles.test.ts',
  'test/node/service/jobs/segmented.test.ts',
  'test/node/service/jobs/inputs.test.ts',
  'test/node/service/jobs/demo.test.ts',
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
    file: 'test/node/service/recovery/upgrade.long.test.ts',
    reason:
      'it starts older versions, so it needs their commits (not a shallow clone) and a registry with their packages',
  },
  {
    file: 'test/node/deploy/image.test.ts',
    reason:
      'it builds an image, so it needs an engine that reaches the internet from inside a build: CONTAINERS=docker',
  },
]

const requireAll = process.env['REQUIRE_ALL'] === '1'
const began = performance.now()
const counts: Count[] = []
try {
  // vitest takes a path that does not exist for a filter, and runs fewer tests without a word.
  const missing = ENGINE_TESTS.filter((path) => !existsSync(join(ROOT, path)))
  if (missing.length > 0) throw new Error(`ENGINE_TESTS in scripts/test.ts lists missing paths: ${missing.join(', ')}`)
  const engine = await locateEngine({ ...process.env, ...(await machineEngine()) })
  console.log(`ffmpeg ${engine.version} (${engine.ffmpeg})`)
  const chosen = process.argv.slice(2)
  const packaged = process.env['EVERY_ENGINE'] === '1' && chosen.length === 0 ? await locateEngine({}) : engine
  if (packaged.ffmpeg === engine.ffmpeg) counts.push(await runVitest(chosen, process.env))
  else {
    counts.push(await runVitest(['--project=worker', '--project=node'], process.env))
    console.log(`\nOnce more with ffmpeg ${packaged.version} (${packaged.ffmpeg}); beside it, the tests in containers`)
    const paths = { FFMPEG_PATH: packaged.ffmpeg, FFPROBE_PATH: packaged.ffprobe }
    // Those in containers run one behind the other, and wait most of the time; the others keep both cores busy.
    counts.push(
      ...(await Promise.all([
        runVitest(['--project=node', '--maxWorkers=2', ...ENGINE_TESTS], { ...process.env, ...paths }),
        runVitest(['--project=containers'], process.env),
      ])),
    )
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  counts.push({ passed: 0, failed: 1, skipped: [], failures: [], files: [] })
}

const passed = counts.reduce((sum, count) => sum + count.passed, 0)
const failed = counts.reduce((sum, count) => sum + count.failed, 0)
const allSkipped = counts.flatMap((count) => count.skipped)
const allowed = ALLOWED_SKIPS.filter(({ file }) => allSkipped.some((name) => name.startsWith(`${file}:`)))
const skipped = requireAll
  ? allSkipped.filter((name) => !allowed.some(({ file }) => name.startsWith(`${file}:`)))
  : allSkipped
const failures = counts.flatMap((count) => count.failures)
if (failures.length > 0) console.error(`\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}`)
if (requireAll && skipped.length > 0) {
  console.error(`REQUIRE_ALL is set, but these were skipped:\n${skipped.map((name) => `  ${name}`).join('\n')}`)
}
if (requireAll) for (const { file, reason } of allowed) console.log(`\nSkipped: ${file}: ${reason}`)
console.log(`\nSlowest files:\n${slowestFiles(counts, SLOWEST).join('\n')}`)
console.log(`\n${((performance.now() - began) / 60_000).toFixed(1)} minutes`)
process.exitCode = failed > 0 || passed === 0 || (requireAll && skipped.length > 0) ? 1 : 0
console.log(`${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`)
