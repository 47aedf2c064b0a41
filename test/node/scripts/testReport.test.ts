// In charge of: what `npm test` says about vitest's report.
import { join } from 'node:path'
import { expect, test } from 'vitest'
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
