// In charge of: what `npm test` says about vitest's report.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { OUTSIDE_ERRORS, type OutsideError } from '../../../scripts/test/outsideErrors.ts'
import { slowestFiles, tally } from '../../../scripts/test/report.ts'
import { ROOT } from '../../support/service.ts'

const file = (name: string, status: string, seconds: number, ...statuses: string[]) => ({
  name: join(ROOT, name),
  status,
  message: 'SyntaxError',
  startTime: 1000,
  endTime: 1000 + seconds * 1000,
  assertionResults: statuses.map((each) => ({ status: each, fullName: each, failureMessages: ['\u001B[31mred'] })),
})
const count = tally({
  testResults: [
    file('test/a.test.ts', 'passed', 2, 'passed', 'passed', 'skipped'),
    file('test/b.test.ts', 'failed', 12.34, 'failed', 'passed'),
    file('test/c.test.ts', 'failed', 0),
  ],
})

test('failed tests, and files that could not be loaded, are failures with their message', () => {
  expect(count).toMatchObject({ passed: 3, failed: 2, skipped: ['test/a.test.ts: skipped'] })
  expect(count.failures).toEqual(['test/b.test.ts: failed\n    red', 'test/c.test.ts\n    SyntaxError'])
})

test('the slowest files of all runs, the slowest first', () => {
  expect(slowestFiles([count, count], 3)).toEqual([
    '   12.3 s  test/b.test.ts',
    '   12.3 s  test/b.test.ts',
    '    2.0 s  test/a.test.ts',
  ])
})

test('an error outside of the tests has a name, the file that ran and its message', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'splicepoint-outside-'))
  try {
    const named = join(directory, 'late.test.mjs')
    await writeFile(named, "test('late', () => void Promise.reject(new Error('nobody waits')))")
    const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
    const reporter = join(ROOT, 'scripts/test/outsideErrors.ts')
    const written = join(directory, 'errors.json')
    const args = [vitest, 'run', '--globals', '--root', directory, `--reporter=${reporter}`]
    const ended = promisify(execFile)(process.execPath, args, { env: { ...process.env, [OUTSIDE_ERRORS]: written } })
    await expect(ended).rejects.toMatchObject({ code: 1 })
    const errors = JSON.parse(await readFile(written, 'utf8')) as OutsideError[]
    expect(errors).toEqual([
      {
        what: expect.stringMatching(/^Unhandled Rejection outside of the tests, .*late\.test\.mjs/),
        message: expect.stringContaining('Error: nobody waits'),
      },
    ])
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
