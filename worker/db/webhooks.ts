// In charge of: the SQL of webhook deliveries. One statement per function.
// Not in charge of: sending them (webhooks/webhookDelivery.ts).
import type { Delivery } from '#contract/api/answers.ts'
import type { TaskLifecycle } from '#contract/task/lifecycle.ts'
import { Totals } from '../util/totals.ts'
import { addTotalsIfChanged } from './metricTotals.ts'
import { all, first } from './statement.ts'

/** One try. */
export interface DeliveryAttempt {
  at: number
  status: number | null
  error: string | null
  milliseconds: number
}

export interface WebhookRow {
  id: string
  job: number
  event: Delivery['event']
  state: 'pending' | 'delivered' | 'failed'
  tries: number
  next_at: number
  /** Its last tries. */
  log: DeliveryAttempt[]
  created_at: number
  updated_at: number
}

/** In one batch after the transition that ends the job: inserted once per end, also with concurrent writers. */
export function insertWebhook(
  db: D1Database,
  task: { id: string; job: number },
  next: TaskLifecycle,
  event: string,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO webhooks (id, job, event, state, next_at, created_at, updated_at)
       SELECT ?1, ?2, ?3, 'pending', ?4, ?4, ?4
       WHERE EXISTS (SELECT 1 FROM tasks WHERE id = ?5 AND state = ?6 AND attempt = ?7 AND lost = ?8)
       ON CONFLICT (job, event) DO NOTHING`,
    )
    .bind(`msg_${crypto.randomUUID()}`, task.job, event, now, task.id, next.state, next.attempt, next.lost)
}

export async function listWebhooks(db: D1Database, job: number): Promise<WebhookRow[]> {
  const results = await all<Omit<WebhookRow, 'log'> & { log: string }>(
    db,
    `SELECT * FROM webhooks WHERE job = ?1 ORDER BY created_at LIMIT 100`,
    [job],
  )
  return results.map((row) => ({ ...row, log: JSON.parse(row.log) as DeliveryAttempt[] }))
}

/** Stores the result of one try. Has no effect if another try, or a replay, was first. */
export async function recordDeliveryAttempt(
  db: D1Database,
  before: WebhookRow,
  after: { state: WebhookRow['state']; nextAt: number; log: DeliveryAttempt[]; now: number },
): Promise<void> {
  const update = db
    .prepare(
      `UPDATE webhooks SET state = ?2, tries = tries + 1, next_at = ?3, log = ?4, updated_at = ?5
       WHERE id = ?1 AND state = 'pending' AND tries = ?6 AND updated_at = ?7`,
    )
    .bind(before.id, after.state, after.nextAt, JSON.stringify(after.log), after.now, before.tries, before.updated_at)
  const result = after.state === 'pending' ? 'postponed' : after.state
  const { series } = new Totals().add('webhook_tries_total', { result })
  await db.batch([update, addTotalsIfChanged(db, 'webhooks', series)])
}

/** Makes a delivery due now; its log stays. @returns false if the job has no such delivery */
export async function replayWebhook(db: D1Database, job: number, id: string, now: number): Promise<boolean> {
  const row = await first(
    db,
    `UPDATE webhooks SET state = 'pending', tries = 0, next_at = ?3, updated_at = ?3 WHERE job = ?1 AND id = ?2
       RETURNING id`,
    [job, id, now],
  )
  return row !== null
}

/** Jobs whose deliveries are overdue: the alarm of their webhook scheduler may have been lost. */
export async function listOverdueWebhooks(db: D1Database, dueBefore: number, limit: number): Promise<string[]> {
  const results = await all<{ job_id: string }>(
    db,
    `SELECT DISTINCT jobs.job_id FROM webhooks JOIN jobs ON jobs.id = webhooks.job
       WHERE webhooks.state = 'pending' AND webhooks.next_at < ?1 LIMIT ?2`,
    [dueBefore, limit],
  )
  return results.map((row) => row.job_id)
}
