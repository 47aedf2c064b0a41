// In charge of: GET /metrics, in the text format of Prometheus 0.0.4, for holders of the admin key.
// Not in charge of: reading the values (db/metrics.ts).
import { Hono } from 'hono'
import { authenticate } from '../http/authenticate.ts'
import { settings } from '../env.ts'
import type { AppEnv } from '../http/context.ts'
import { readMetrics, type MetricValues } from '../db/metrics.ts'

const HOUR_MS = 3600_000

export const metricsRoutes = new Hono<AppEnv>().use(authenticate('admin')).get('/', async (c) => {
  const now = Date.now()
  const figures = await readMetrics(c.env.DB, now - HOUR_MS)
  return c.text(metricsText(figures, settings(c.env).maxSlots, now), 200, {
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
  })
})

function metricsText(figures: MetricValues, slots: number, now: number): string {
  const lines: string[] = []
  const gauge = (name: string, help: string, values: [labels: Record<string, string>, value: number][]) => {
    lines.push(`# HELP splicepoint_${name} ${help}`, `# TYPE splicepoint_${name} gauge`)
    for (const [labels, value] of values) {
      const text = Object.entries(labels).map(([label, of]) => `${label}="${of.replace(/[\\"\n]/g, '_')}"`)
      lines.push(`splicepoint_${name}${text.length > 0 ? `{${text.join(',')}}` : ''} ${value}`)
    }
  }
  const count = (list: { state: string; n: number }[], state: string) =>
    list.reduce((sum, row) => sum + (row.state === state ? row.n : 0), 0)
  const age = figures.oldest === null ? 0 : Math.max(0, (now - figures.oldest) / 1000)
  gauge(
    'jobs_active',
    'Jobs that have not ended, by state.',
    ['queued', 'running', 'committing'].map((state) => [{ state }, count(figures.active, state)]),
  )
  gauge(
    'jobs_ended_last_hour',
    'Jobs that ended within the last hour, by state.',
    ['completed', 'failed', 'cancelled'].map((state) => [{ state }, count(figures.ended, state)]),
  )
  gauge(
    'errors_last_hour',
    'Jobs that failed within the last hour, by error code.',
    figures.ended.flatMap((row) => (row.code === null ? [] : [[{ code: row.code }, row.n]])),
  )
  gauge('queue_age_seconds', 'Age of the oldest waiting job.', [[{}, age]])
  gauge('slots', 'Maximum number of transcoders that run at the same time.', [[{}, slots]])
  gauge('slots_busy', 'Transcoders that are running.', [[{}, figures.slots]])
  gauge('starts_failing', 'Waiting jobs whose start has failed three or more times in a row.', [
    [{}, figures.startsFailing],
  ])
  gauge('attempts_lost_last_hour', 'Attempts that ended without a result, of jobs that ended within the last hour.', [
    [{}, figures.lost],
  ])
  gauge('starts_failed_last_hour', 'Failed starts of transcoders, of jobs that ended within the last hour.', [
    [{}, figures.startsFailed],
  ])
  gauge('encode_speed', 'Mean speed of jobs completed within the last hour; 1 is real time.', [
    [{}, figures.speed.n > 0 ? figures.speed.total / figures.speed.n : 0],
  ])
  gauge('bytes_stored_last_hour', 'Bytes stored by jobs completed within the last hour.', [[{}, figures.bytes]])
  gauge(
    'webhooks',
    'Webhook deliveries that wait for their next try, or have failed for good.',
    ['pending', 'failed'].map((state) => [{ state }, count(figures.webhooks, state)]),
  )
  return `${lines.join('\n')}\n`
}
