// In charge of: choosing and reading one page of an account's jobs.
// Not in charge of: what of a job can be searched for (searchText.ts), single jobs (jobs.ts).
import type { JobState } from '#contract/task/lifecycle.ts'
import type { Job, JobWithTaskRow } from './jobs.ts'
import { decodeJob, selectJobWithTask } from './jobs.ts'

/** Characters of a job_id that mean it: fewer are in too many names, and in too many ids. */
const MIN_JOB_ID_PREFIX = 8

export interface JobFilter {
  states: JobState[]
  /** Only ids below this one: the cursor. */
  before: number | null
  createdFrom: number | null
  createdTo: number | null
  /** Folded (searchText.ts); null = all. */
  search: string | null
  /** Each name with exactly this value. */
  metadata: readonly { name: string; value: string }[]
  limit: number
}

/** A job is found by its number, the beginning of its job_id, and any part of its source's name, its address or its metadata's values. */
const matchesSearch = `(CAST(id AS TEXT) = ?7 OR instr(sought, ?7) > 0
      OR (length(?7) >= ${MIN_JOB_ID_PREFIX} AND substr(job_id, 1, length(?7)) = ?7))`

/** The page is chosen from the index `jobs_listed`, which has all that the conditions ask for; then its rows are read. */
export async function listJobs(db: D1Database, account: string, filter: JobFilter): Promise<Job[]> {
  // Looked up first, from an index of its own: few jobs have the value that is asked for.
  const exact = filter.metadata.map(
    (_, n) =>
      `AND id IN (SELECT job FROM job_metadata WHERE account = ?1 AND name = ?${8 + 2 * n} AND value = ?${9 + 2 * n})`,
  )
  const { results } = await db
    .prepare(
      `${selectJobWithTask}
       WHERE jobs.id IN (
         SELECT id FROM jobs INDEXED BY jobs_listed
         WHERE account = ?1 AND deleted_at IS NULL AND id < ?2
           AND (?3 IS NULL OR created_at >= ?3)
           AND (?4 IS NULL OR created_at < ?4)
           AND (?5 = '[]' OR state IN (SELECT value FROM json_each(?5)))
           AND (?7 IS NULL OR ${matchesSearch}) ${exact.join(' ')}
         ORDER BY id DESC LIMIT ?6)
       ORDER BY jobs.id DESC`,
    )
    .bind(
      account,
      filter.before ?? Number.MAX_SAFE_INTEGER,
      filter.createdFrom,
      filter.createdTo,
      JSON.stringify(filter.states),
      filter.limit,
      filter.search,
      ...filter.metadata.flatMap(({ name, value }) => [name, value]),
    )
    .all<JobWithTaskRow>()
  return results.map(decodeJob)
}
