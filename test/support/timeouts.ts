// In charge of: how long tests wait before they fail. Only a failure takes that long, so the values suit a busy machine
// with two cores; they bound waiting, and no test measures time with them.

/** For one step of a page, a process or a service. */
export const STEP_TIMEOUT_MS = 120_000

/** For a whole job, from its creation to its last file. */
export const JOB_TIMEOUT_MS = 360_000

/**
 * For one test or one hook. Longer than any single wait in it, so that the error names the step that did not happen.
 */
export const TEST_TIMEOUT_MS = 900_000
