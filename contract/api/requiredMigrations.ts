// In charge of: the migrations that this version needs. A test compares the list with migrations/
// (test/node/docs/pages.test.ts).

export const REQUIRED_MIGRATIONS = ['0001_init.sql'] as const
