// In charge of: the SQL of transcoders that registered themselves. One statement per function.
// Not in charge of: whether a registration is accepted (taskApi/registerTranscoder.ts).
import type { RegistrationState } from '#contract/task/registration.ts'
import { all, first, run } from './statement.ts'

export interface TranscoderRow {
  slot: number
  id: string
  instance: string
  url: string
  protocol: number
  version: string
  ffmpeg: string | null
  state: RegistrationState
  problem: string | null
  registered_at: number
  seen_at: number
}

export function findTranscoder(db: D1Database, id: string): Promise<TranscoderRow | null> {
  return first<TranscoderRow>(db, `SELECT * FROM transcoders WHERE id = ?1`, [id])
}

/** With the job that each one has. */
export function listTranscoders(
  db: D1Database,
  limit: number,
): Promise<(TranscoderRow & { task: string | null; job: number | null })[]> {
  return all(
    db,
    `SELECT transcoders.*, slots.task, tasks.job FROM transcoders
       LEFT JOIN slots ON slots.k = transcoders.slot LEFT JOIN tasks ON tasks.id = slots.task
       ORDER BY transcoders.id LIMIT ?1`,
    [limit],
  )
}

/** A repeated registration of the same process at the same address. @returns whether the row was still its own */
export async function renewTranscoder(db: D1Database, row: Omit<TranscoderRow, 'slot' | 'registered_at'>) {
  const { meta } = await db
    .prepare(
      `UPDATE transcoders SET protocol = ?4, version = ?5, ffmpeg = ?6, state = ?7, problem = ?8, seen_at = ?9
       WHERE id = ?1 AND instance = ?2 AND url = ?3`,
    )
    .bind(row.id, row.instance, row.url, row.protocol, row.version, row.ffmpeg, row.state, row.problem, row.seen_at)
    .run()
  return meta.changes > 0
}

/**
 * A new one, or another process or address of a known id, which keeps its slot. A new one gets the lowest slot that
 * belongs to no other and that no attempt occupies. @returns its slot
 */
export async function saveTranscoder(db: D1Database, row: Omit<TranscoderRow, 'slot'>): Promise<number> {
  const saved = await first<{ slot: number }>(
    db,
    `INSERT INTO transcoders (slot, id, instance, url, protocol, version, ffmpeg, state, problem, registered_at, seen_at)
       SELECT MIN(k), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
         FROM (SELECT 0 AS k UNION SELECT slot + 1 FROM transcoders UNION SELECT k + 1 FROM slots)
         WHERE k NOT IN (SELECT slot FROM transcoders) AND k NOT IN (SELECT k FROM slots WHERE task IS NOT NULL)
       ON CONFLICT (id) DO UPDATE SET instance = excluded.instance, url = excluded.url, protocol = excluded.protocol,
         version = excluded.version, ffmpeg = excluded.ffmpeg, state = excluded.state, problem = excluded.problem,
         registered_at = CASE WHEN instance = excluded.instance THEN registered_at ELSE excluded.registered_at END,
         seen_at = excluded.seen_at
       RETURNING slot`,
    [
      row.id,
      row.instance,
      row.url,
      row.protocol,
      row.version,
      row.ffmpeg,
      row.state,
      row.problem,
      row.registered_at,
      row.seen_at,
    ],
  )
  if (saved === null) throw new Error('the transcoder was not saved')
  return saved.slot
}

/** @returns whether there was one */
export async function deleteTranscoder(db: D1Database, id: string, instance: string): Promise<boolean> {
  const { meta } = await db.prepare(`DELETE FROM transcoders WHERE id = ?1 AND instance = ?2`).bind(id, instance).run()
  return meta.changes > 0
}

/** One that has not registered since then is forgotten. @returns their ids */
export async function deleteSilentTranscoders(db: D1Database, since: number): Promise<string[]> {
  const rows = await all<{ id: string }>(db, `DELETE FROM transcoders WHERE seen_at < ?1 RETURNING id`, [since])
  return rows.map(({ id }) => id)
}

/** Until it registers again, a transcoder that did not answer gets no attempt. */
export async function markUnreachable(db: D1Database, slot: number, url: string, problem: string): Promise<void> {
  await run(
    db,
    `UPDATE transcoders SET state = 'unreachable', problem = ?3 WHERE slot = ?1 AND url = ?2 AND state = 'ready'`,
    [slot, url, problem],
  )
}

/** Slots whose transcoder accepts attempts of this protocol, and registered since then. */
export async function listReadySlots(db: D1Database, protocol: number, since: number): Promise<number[]> {
  const rows = await all<{ slot: number }>(
    db,
    `SELECT slot FROM transcoders WHERE state = 'ready' AND protocol = ?1 AND seen_at >= ?2 ORDER BY slot`,
    [protocol, since],
  )
  return rows.map(({ slot }) => slot)
}

/** Those that can take attempts, those that drain, and those that should take attempts and cannot. */
export async function countTranscoders(
  db: D1Database,
  protocol: number,
  since: number,
): Promise<{ ready: number; draining: number; away: number }> {
  const isReady = `state = 'ready' AND protocol = ?1 AND seen_at >= ?2`
  const row = await first<{ ready: number; draining: number; away: number }>(
    db,
    `SELECT COALESCE(SUM(${isReady}), 0) AS ready, COALESCE(SUM(state = 'draining' AND seen_at >= ?2), 0) AS draining,
         COALESCE(SUM(state <> 'draining' AND NOT (${isReady})), 0) AS away
       FROM transcoders`,
    [protocol, since],
  )
  return row ?? { ready: 0, draining: 0, away: 0 }
}

export async function findTranscoderUrl(db: D1Database, slot: number): Promise<string | null> {
  return (await first<{ url: string }>(db, `SELECT url FROM transcoders WHERE slot = ?1`, [slot]))?.url ?? null
}
