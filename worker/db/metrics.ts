// In charge of: the values of GET /metrics, read from indexes only: active jobs, and jobs that ended within the last
// hour.
// Not in charge of: the names of metrics (service/metricsRoutes.ts).

export interface MetricValues {
  active: { state: string; n: number }[]
  ended: { state: string; code: string | null; n: number }[]
  oldest: number | null
  slots: number
  /** Tasks that wait because their last starts failed. */
  startsFailing: number
  lost: number
  startsFailed: number
  speed: { total: number; n: number }
  bytes: number
  webhooks: { state: string; n: number }[]
}

/** Three failures in a row are no accident. Served by the index tasks_by_failed_starts. */
const failingStarts = `starts_failed > 0 AND starts_failed >= 3 AND state IN ('queued', 'starting')`

/** Number of tasks for which no transcoder could be started three or more times in a row. */
export async function countFailingStarts(db: D1Database): Promise<number> {
  return (await db.prepare(`SELECT COUNT(*) AS n FROM tasks WHERE ${failingStarts}`).first<number>('n')) ?? 0
}

/** One round trip. `since`: the beginning of the last hour. */
export async function readMetrics(db: D1Database, since: number): Promise<MetricValues> {
  const [active, ended, oldest, slots, failing, lost, work, webhooks] = await db.batch<
    Record<string, number | string | null>
  >([
    db.prepare(`SELECT state, COUNT(*) AS n FROM jobs WHERE finished_at IS NULL GROUP BY state`),
    db
      .prepare(
        `SELECT state, json_extract(error, '$.code') AS code, COUNT(*) AS n FROM jobs WHERE finished_at >= ?1 GROUP BY 1, 2`,
      )
      .bind(since),
    db.prepare(
      `SELECT MIN(jobs.created_at) AS at FROM tasks JOIN jobs ON jobs.id = tasks.job WHERE tasks.state = 'queued'`,
    ),
    db.prepare(`SELECT COUNT(*) AS n FROM slots WHERE task IS NOT NULL`),
    db.prepare(`SELECT COUNT(*) AS n FROM tasks WHERE ${failingStarts}`),
    db
      .prepare(
        `SELECT COALESCE(SUM(tasks.lost), 0) AS n, COALESCE(SUM(tasks.starts_failed_total), 0) AS starts FROM jobs JOIN tasks ON tasks.job = jobs.id WHERE jobs.finished_at >= ?1`,
      )
      .bind(since),
    db
      .prepare(
        `SELECT COALESCE(SUM(json_extract(progress, '$.speed')), 0) AS speed, COUNT(json_extract(progress, '$.speed')) AS n,
           COALESCE(SUM(json_extract(progress, '$.bytes_stored')), 0) AS bytes
         FROM jobs WHERE finished_at >= ?1 AND state = 'completed'`,
      )
      .bind(since),
    db.prepare(
      `SELECT 'pending' AS state, COUNT(*) AS n FROM webhooks WHERE state = 'pending'
       UNION ALL SELECT 'failed', COUNT(*) FROM webhooks WHERE state = 'failed'`,
    ),
  ])
  const number = (result: typeof oldest, name = 'n') => Number(result?.results[0]?.[name] ?? 0)
  const states = (result: typeof oldest) =>
    (result?.results ?? []).map((row) => ({ state: String(row['state']), n: Number(row['n']) }))
  const at = oldest?.results[0]?.['at']
  return {
    active: states(active),
    ended: (ended?.results ?? []).map((row) => ({
      state: String(row['state']),
      code: row['code'] == null ? null : String(row['code']),
      n: Number(row['n']),
    })),
    oldest: at == null ? null : Number(at),
    slots: number(slots),
    startsFailing: number(failing),
    lost: number(lost),
    startsFailed: number(lost, 'starts'),
    speed: { total: number(work, 'speed'), n: number(work) },
    bytes: number(work, 'bytes'),
    webhooks: states(webhooks),
  }
}
