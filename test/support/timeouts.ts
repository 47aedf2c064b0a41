// In charge of: how long tests wait before they say that something will not come. Only a failure takes that long, so these are
// meant for a machine of two cores that others keep busy; they bound waiting, and no test measures time with them.

/** For one thing that a page, a process or a service is about to do. */
export const STEP_TIMEOUT_MS = 120_000

/** For a whole job, from its creation to its last file. */
export const JOB_TIMEOUT_MS = 360_000

/** For one test, or one hook. More than any single wait in it, so that the wait says what did not come. */
export const TEST_TIMEOUT_MS = 900_000
