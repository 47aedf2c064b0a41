// In charge of: the SQL of what an attempt finds out about its source.
// Not in charge of: its form (contract/task/reportSchemas.ts), where a poster lies (objectKeys.ts).

/** The still picture of a source, as the job's row names it. */
export interface StoredPoster {
  /** That made it. */
  attempt: number
  width: number
  height: number
}

/** Only of the current attempt while it runs: what has ended never changes (I2). */
const currentAttempt = `id = (SELECT job FROM tasks WHERE tasks.id = ?1 AND attempt = ?2 AND state = 'running')`

/** @returns false for an attempt that is not the current one any more */
export async function saveSourceReport(
  db: D1Database,
  task: string,
  attempt: number,
  source: string,
): Promise<boolean> {
  const row = await db
    .prepare(`UPDATE jobs SET source = ?3 WHERE ${currentAttempt} RETURNING id`)
    .bind(task, attempt, source)
    .first()
  return row !== null
}

/** @returns false for an attempt that is not the current one any more */
export async function savePoster(db: D1Database, task: string, poster: StoredPoster): Promise<boolean> {
  const row = await db
    .prepare(`UPDATE jobs SET poster = ?3 WHERE ${currentAttempt} RETURNING id`)
    .bind(task, poster.attempt, JSON.stringify(poster))
    .first()
  return row !== null
}
