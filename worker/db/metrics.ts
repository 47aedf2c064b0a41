// In charge of: the gauges of GET /metrics, read from indexes only: jobs that have not ended, slots, webhooks.
// Not in charge of: counters and histograms (metricTotals.ts), the names of metrics (contract/api/metricFamilies.ts).
import { isHeldBack } from './parts.ts'
import { all } from './statement.ts'

/** What a waiting task does: `assembly` goes on with a job after its parts. */
export const WAITING_KINDS = ['job', 'dry_run', 'survey', 'part', 'assembly'] as const

/** The tasks of one kind that a free slot could begin now. */
interface WaitingTasks {
  kind: (typeof WAITING_KINDS)[number]
  n: number
  /** Since when the oldest waits. */
  since: number
  /** That one transcoder is predicted to take for those whose source is known; null = none of them has a prediction. */
  seconds: number | null
}

export interface GaugeValues {
  active: { state: string; n: number }[]
  waiting: WaitingTasks[]
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

/**
 * Of each account no more than it may run besides what runs. A task that never ran waits since its job was created, or
 * divided; every other one since it was returned to the queue.
 */
const startable = `SELECT kind, COUNT(*) AS n, MIN(since) AS since, SUM(seconds) AS seconds FROM (
     SELECT CASE WHEN tasks.kind = 'plan' THEN 'dry_run' WHEN tasks.parts > 0 THEN 'assembly' WHEN whole.id IS NULL THEN 'job'
         WHEN tasks.part < whole.survey_parts THEN 'survey' ELSE 'part' END AS kind,
       CASE WHEN tasks.attempt > tasks.starts_failed OR tasks.parts > 0 THEN tasks.updated_at
         ELSE COALESCE(whole.updated_at, jobs.created_at) END AS since,
       tasks.predicted_seconds AS seconds, accounts.max_running,
       (SELECT COUNT(*) FROM slots WHERE slots.account = tasks.account) AS busy,
       ROW_NUMBER() OVER (PARTITION BY tasks.account ORDER BY tasks.job, tasks.part) AS nth
     FROM tasks JOIN jobs ON jobs.id = tasks.job LEFT JOIN tasks AS whole ON whole.id = tasks.main
       LEFT JOIN accounts ON accounts.account = tasks.account
     WHERE tasks.state = 'queued' AND tasks.not_before <= ?1 AND (whole.id IS NULL OR whole.state = 'divided')
       AND NOT ${isHeldBack('tasks')}
   ) WHERE max_running IS NULL OR busy + nth <= max_running GROUP BY kind`

/** One round trip. `dryRunSlots`: they take dry runs alone, and are not counted. */
export async function readGauges(db: D1Database, now: number, dryRunSlots: number[] = []): Promise<GaugeValues> {
  const [active, waiting, slots, failing, webhooks] = await db.batch<Record<string, number | string | null>>([
    db.prepare(`SELECT state, COUNT(*) AS n FROM jobs WHERE finished_at IS NULL GROUP BY state`),
    db.prepare(startable).bind(now),
    db
      .prepare(`SELECT COUNT(*) AS n FROM slots WHERE task IS NOT NULL AND k NOT IN (SELECT value FROM json_each(?1))`)
      .bind(JSON.stringify(dryRunSlots)),
    db.prepare(`SELECT COUNT(*) AS n FROM tasks WHERE ${failingStarts}`),
    db.prepare(
      `SELECT 'pending' AS state, COUNT(*) AS n FROM webhooks WHERE state = 'pending'
       UNION ALL SELECT 'failed', COUNT(*) FROM webhooks WHERE state = 'failed'`,
    ),
  ])
  const number = (result: typeof active) => Number(result?.results[0]?.['n'] ?? 0)
  const states = (result: typeof active) =>
    (result?.results ?? []).map((row) => ({ state: String(row['state']), n: Number(row['n']) }))
  return {
    active: states(active),
    waiting: (waiting?.results ?? []) as unknown as WaitingTasks[],
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
