// In charge of: the SQL of what an attempt reports about its source.
// Not in charge of: the format of a report (contract/task/reportSchemas.ts), the key of a poster
// (storage/objectKeys.ts).
import { first } from './statement.ts'

/** The still image of a source, as stored in the job's row. */
export interface StoredPoster {
  /** The attempt that made it. */
  attempt: number
  width: number
  height: number
}

/** Matches only the current attempt while it runs: a final state never changes (I2). The parts of a job report no source. */
const currentAttempt = `id = (SELECT job FROM tasks WHERE tasks.id = ?1 AND attempt = ?2 AND state = 'running' AND main IS NULL)`

/** @returns false if the attempt is not the current one any more */
export async function saveSourceReport(
  db: D1Database,
  task: string,
  attempt: number,
  source: string,
): Promise<boolean> {
  const row = await first(db, `UPDATE jobs SET source = ?3 WHERE ${currentAttempt} RETURNING id`, [
    task,
    attempt,
    source,
  ])
  return row !== null
}

/** @returns false if the attempt is not the current one any more */
export async function savePoster(db: D1Database, task: string, poster: StoredPoster): Promise<boolean> {
  const row = await first(db, `UPDATE jobs SET poster = ?3 WHERE ${currentAttempt} RETURNING id`, [
    task,
    poster.attempt,
    JSON.stringify(poster),
  ])
  return row !== null
}
