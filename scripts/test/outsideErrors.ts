// In charge of: a vitest reporter that keeps the errors outside of any test: rejections that nobody awaits, a worker that
// ends early. vitest ends with code 1 for them, but its JSON report does not name them.
// Not in charge of: printing them (scripts/test.ts).
import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** The variable with the path of the JSON file that is written if there is such an error: OutsideError[]. */
export const OUTSIDE_ERRORS = 'SPLICEPOINT_OUTSIDE_ERRORS'

export default class OutsideErrors implements Reporter {
  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const path = process.env[OUTSIDE_ERRORS]
    if (path !== undefined && errors.length > 0) writeFileSync(path, JSON.stringify(errors.map(describe)))
  }
}

/** What it is, and its place in the code. */
export interface OutsideError {
  what: string
  message: string
}

function describe(error: SerializedError): OutsideError {
  const { type, name, message, stack } = error
  const during = [error['VITEST_TEST_PATH'], error['VITEST_TEST_NAME']].filter((each) => typeof each === 'string')
  return {
    what: [`${typeof type === 'string' ? type : 'Error'} outside of the tests`, ...during].join(', '),
    message: stack ?? `${name}: ${message}`,
  }
}
