// In charge of: the gauges of GET /metrics, read from indexes only: jobs that have not ended, slots, webhooks.
// Not in charge of: counters and histograms (metricTotals.ts), the names of metrics (contract/api/metricFamilies.ts).
import { all } from './statement.ts'

export interface GaugeValues {
  active: { state: string; n: number }[]
  oldest: number | null
  slots: number
  /** Tasks that wait because their last starts failed. */
  startsFailing: number
  webhooks: { state: string; n: number }[]
}

/** Three failures in a row are no accident. Served by the index tasks_by_failed_starts. */
const failingStarts = `starts_failed > 0 AND starts_failed >= 3 AND state IN ('queued', 'starting')`

/** Number of tasks for which no transcoder could be started three or more times in a row. */
export async function countFailingStarts(db: D1Database): Promise<number> {
  return (await db.prepare(`SELECT COUNT(*) AS n FROM tasks WHERE ${failingStarts}`).first<number>('n')) ?? 0
}

/** One round trip. */
export async function readGauges(db: D1Database): Promise<GaugeValues> {
  const [active, oldest, slots, failing, webhooks] = await db.batch<Record<string, number | string | null>>([
    db.prepare(`SELECT state, COUNT(*) AS n FROM jobs WHERE finished_at IS NULL GROUP BY state`),
    db.prepare(
      `SELECT MIN(jobs.created_at) AS at FROM tasks JOIN jobs ON jobs.id = tasks.job
         WHERE tasks.state = 'queued' AND tasks.main IS NULL AND tasks.parts = 0`,
    ),
    db.prepare(`SELECT COUNT(*) AS n FROM slots WHERE task IS NOT NULL`),
    db.prepare(`SELECT COUNT(*) AS n FROM tasks WHERE ${failingStarts}`),
    db.prepare(
      `SELECT 'pending' AS state, COUNT(*) AS n FROM webhooks WHERE state = 'pending'
       UNION ALL SELECT 'failed', COUNT(*) FROM webhooks WHERE state = 'failed'`,
    ),
  ])
  const number = (result: typeof oldest) => Number(result?.results[0]?.['n'] ?? 0)
  const states = (result: typeof oldest) =>
    (result?.results ?? []).map((row) => ({ state: String(row['state']), n: Number(row['n']) }))
  const at = oldest?.results[0]?.['at']
  return {
    active: states(active),
    oldest: at == null ? null : Number(at),
    slots: number(slots),
    startsFailing: number(failing),
    webhooks: states(webhooks),
  }
}

/** The slots whose transcoder is working, with the task and the job of each. */
export async function listBusySlots(
  db: D1Database,
  limit: number,
): Promise<{ k: number; task: string; job_id: string }[]> {
  return all<{ k: number; task: string; job_id: string }>(
    db,
    `SELECT slots.k, slots.task, jobs.job_id FROM slots JOIN tasks ON tasks.id = slots.task JOIN jobs ON jobs.id = tasks.job
       WHERE tasks.state = 'running' ORDER BY slots.k LIMIT ?1`,
    [limit],
  )
}
