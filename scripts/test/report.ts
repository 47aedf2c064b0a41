// In charge of: what `npm test` reads in vitest's JSON report: counts, failures, skipped tests, the slowest files.
// Not in charge of: running vitest (scripts/test.ts).
import { stripVTControlCharacters } from 'node:util'
import { relative } from 'node:path'
import { ROOT } from '../local/localSettings.ts'

/** The part of vitest's JSON report that is used here. */
export interface Report {
  testResults: {
    name: string
    status: string
    message?: string
    /** Milliseconds since 1970. */
    startTime?: number
    endTime?: number
    assertionResults: { status: string; fullName: string; failureMessages?: string[] | null }[]
  }[]
}

export interface Count {
  passed: number
  failed: number
  skipped: string[]
  /**
   * One entry for each failure: the place and the first lines of the message. They are printed at the end, because a
   * long log may be cut at its beginning.
   */
  failures: string[]
  files: { path: string; seconds: number }[]
}

const FAILURE_LINES = 12

export function tally(report: Report): Count {
  const count: Count = { passed: 0, failed: 0, skipped: [], failures: [], files: [] }
  for (const file of report.testResults) {
    const before = count.failed
    const path = relative(ROOT, file.name)
    count.files.push({ path, seconds: ((file.endTime ?? 0) - (file.startTime ?? 0)) / 1000 })
    for (const { status, fullName, failureMessages } of file.assertionResults) {
      if (status === 'passed') count.passed++
      else if (status === 'failed') addFailure(count, `${path}: ${fullName}`, failureMessages?.join('\n') ?? '')
      else count.skipped.push(`${path}: ${fullName}`)
    }
    // A file that could not be loaded, or whose hooks failed, has no failed test of its own.
    if (file.status === 'failed' && count.failed === before) addFailure(count, path, file.message ?? '')
  }
  return count
}

export function addFailure(count: Count, what: string, message = ''): void {
  count.failed++
  count.failures.push(message === '' ? what : `${what}\n${firstLines(message)}`)
}

/** One line for each of the `n` slowest files, the slowest first. */
export function slowestFiles(counts: readonly Count[], n: number): string[] {
  return counts
    .flatMap(({ files }) => files)
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, n)
    .map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path}`)
}

function firstLines(text: string): string {
  const lines = stripVTControlCharacters(text).split('\n').slice(0, FAILURE_LINES)
  return lines.map((line) => `    ${line}`).join('\n')
}
