// In charge of: tests that need something a machine may lack (a program, a clip, a right): they are skipped with the
// reason; with REQUIRE_ALL=1, as in CI, they fail.
import type { TestContext } from 'vitest'

export const REQUIRE_ALL = process.env['REQUIRE_ALL'] === '1'

/** Skips the test that is running, or fails it with REQUIRE_ALL=1. `reason` = what this machine lacks. */
export function skipTest(context: Pick<TestContext, 'skip'>, reason: string): never {
  if (REQUIRE_ALL) throw new Error(reason)
  return context.skip(reason)
}

/** For `describe.skipIf`: true if there is a `reason`; throws it with REQUIRE_ALL=1. */
export function skipSuite(reason: string | null): boolean {
  if (REQUIRE_ALL && reason !== null) throw new Error(reason)
  return reason !== null
}
