// Every test with a long form belongs to one group: otherwise it would run nowhere, or twice.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../../../scripts/local/localSettings.ts'
import { LONG_GROUPS } from '../../support/longGroups.ts'

const tests = execFileSync('git', ['ls-files', 'test/node', 'test/worker'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path.endsWith('.test.ts'))
const hasLongForm = (path: string): boolean =>
  path.endsWith('.long.test.ts') || /\bsampled\(|\bLONG_FORM\b/.test(readFileSync(join(ROOT, path), 'utf8'))

test('every long form is in one group, and no group is of files that are not there', () => {
  const starts = Object.values(LONG_GROUPS).flatMap((group) => group.tests)
  const groupsOf = (path: string): string[] =>
    Object.keys(LONG_GROUPS).filter((name) => LONG_GROUPS[name]!.tests.some((start) => path.startsWith(start)))
  const long = tests.filter((path) => hasLongForm(path))
  expect(long.length).toBeGreaterThan(50)
  expect(
    long.filter((path) => groupsOf(path).length !== 1).map((path) => `${path}: ${groupsOf(path).join(', ')}`),
  ).toEqual([])
  expect(starts.filter((start) => !tests.some((path) => path.startsWith(start)))).toEqual([])
})
