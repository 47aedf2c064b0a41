// In charge of: selecting and reading one page of an account's jobs.
// Not in charge of: which text of a job is searched (searchText.ts), single jobs (jobs.ts).
import type { JobList } from '#contract/api/answers.ts'
import type { JobState } from '#contract/task/lifecycle.ts'
import { decodeJob, selectJobWithTask, type Job, type JobWithTaskRow } from './jobs.ts'
import { all } from './statement.ts'

/** A shorter prefix of a job_id is not searched: it occurs in too many names and ids. */
const MIN_JOB_ID_PREFIX = 8

export interface JobFilter {
  states: JobState[]
  /** Only ids below this one: the cursor. */
  before: number | null
  createdFrom: number | null
  createdTo: number | null
  /** Normalized (searchText.ts); null = no search. */
  search: string | null
  /** Each name must have exactly this value. */
  metadata: readonly { name: string; value: string }[]
  limit: number
}

/**
 * A job matches by its number, by a prefix of its job_id, and by any part of its source's name or address or of its
 * metadata values.
 */
const matchesSearch = `(CAST(id AS TEXT) = ?7 OR instr(sought, ?7) > 0
      OR (length(?7) >= ${MIN_JOB_ID_PREFIX} AND substr(job_id, 1, length(?7)) = ?7))`

/** Reads only the jobs that have not ended: how many an account has of the others would cost a read of each. */
export async function countUnfinished(db: D1Database, account: string): Promise<NonNullable<JobList['counts']>> {
  const rows = await all<{ queued: number; jobs: number }>(
    db,
    `SELECT state = 'queued' AS queued, COUNT(*) AS jobs FROM jobs INDEXED BY jobs_active
       WHERE account = ?1 AND finished_at IS NULL AND unlisted = 0 AND deleted_at IS NULL GROUP BY state = 'queued'`,
    [account],
  )
  const of = (queued: number): number => rows.find((row) => row.queued === queued)?.jobs ?? 0
  return { queued: of(1), running: of(0) }
}

/** The page is selected in the index `jobs_listed`, which covers all conditions. Only then are its rows read. */
export async function listJobs(db: D1Database, account: string, filter: JobFilter): Promise<Job[]> {
  // Selected first, from an index: few jobs have the given value.
  const exact = filter.metadata.map(
    (_, n) =>
      `AND id IN (SELECT job FROM job_metadata WHERE account = ?1 AND name = ?${8 + 2 * n} AND value = ?${9 + 2 * n})`,
  )
  const results = await all<JobWithTaskRow>(
    db,
    `${selectJobWithTask}
       WHERE jobs.id IN (
         SELECT id FROM jobs INDEXED BY jobs_listed
         WHERE account = ?1 AND unlisted = 0 AND deleted_at IS NULL AND id < ?2
           AND (?3 IS NULL OR created_at >= ?3)
           AND (?4 IS NULL OR created_at < ?4)
           AND (?5 = '[]' OR state IN (SELECT value FROM json_each(?5)))
           AND (?7 IS NULL OR ${matchesSearch}) ${exact.join(' ')}
         ORDER BY id DESC LIMIT ?6)
       ORDER BY jobs.id DESC`,
    [
      account,
      filter.before ?? Number.MAX_SAFE_INTEGER,
      filter.createdFrom,
      filter.createdTo,
      JSON.stringify(filter.states),
      filter.limit,
      filter.search,
      ...filter.metadata.flatMap(({ name, value }) => [name, value]),
    ],
  )
  return results.map(decodeJob)
}
