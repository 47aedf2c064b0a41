// In charge of: bugs, as patches for a copy of the source, and what must be said of each.
// Not in charge of: applying them (test/node/harness/simulation.test.ts). Nothing of this is ever part of what is shipped.
import { BUGS_OF_ATTEMPTS } from './planted/attempts.ts'
import { BUGS_OF_OUTPUTS } from './planted/outputs.ts'
import { BUGS_OF_STATEMENTS } from './planted/statements.ts'
import { BUGS_OF_DIVIDED_JOBS } from './planted/dividedJobs.ts'
import type { Planted } from './planted/planted.ts'

export const PLANTED: readonly Planted[] = [
  ...BUGS_OF_ATTEMPTS,
  ...BUGS_OF_OUTPUTS,
  ...BUGS_OF_STATEMENTS,
  ...BUGS_OF_DIVIDED_JOBS,
]
