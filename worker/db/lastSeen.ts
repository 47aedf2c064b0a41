// In charge of: the SQL of the table `marks`: when an event was last seen. One statement per function.
// Not in charge of: what follows from a time (diagnosis/).
import { all, first, run } from './statement.ts'

/** A run of the reconciler (cron) ended without an error. */
export const CRON_RUN = 'sweep'
const PROBE = 'probe:'

export async function recordCronRun(db: D1Database, now: number): Promise<void> {
  await run(
    db,
    `INSERT INTO marks (name, made_at, seen_at) VALUES (?1, ?2, ?2)
       ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at`,
    [CRON_RUN, now],
  )
}

/** @returns when it was last seen, or null */
export async function lastSeenAt(db: D1Database, name: string): Promise<number | null> {
  const row = await first<{ seen_at: number | null }>(db, `SELECT seen_at FROM marks WHERE name = ?1`, [name])
  return row?.seen_at ?? null
}

/** @returns the probe's name. Also deletes old probes of diagnoses that died before they could delete them. */
export async function insertProbe(db: D1Database, id: string, now: number, olderThan: number): Promise<string> {
  await db.batch([
    db.prepare(`DELETE FROM marks WHERE name LIKE '${PROBE}%' AND made_at < ?1`).bind(olderThan),
    db.prepare(`INSERT INTO marks (name, made_at) VALUES (?1, ?2)`).bind(PROBE + id, now),
  ])
  return PROBE + id
}

/** Has no effect if the probe was deleted meanwhile. */
export async function markProbeSeen(db: D1Database, name: string, now: number): Promise<void> {
  await run(db, `UPDATE marks SET seen_at = ?2 WHERE name = ?1`, [name, now])
}

/** @returns whether there was one */
export async function deleteProbe(db: D1Database, name: string): Promise<boolean> {
  const { meta } = await db.prepare(`DELETE FROM marks WHERE name = ?1`).bind(name).run()
  return meta.changes > 0
}

/** Names of the migrations that wrangler has applied, in order. */
export async function listAppliedMigrations(db: D1Database): Promise<string[]> {
  const results = await all<{ name: string }>(db, `SELECT name FROM d1_migrations ORDER BY id`)
  return results.map(({ name }) => name)
}
