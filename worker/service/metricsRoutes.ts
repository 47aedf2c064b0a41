// In charge of: GET /metrics, for holders of the admin key.
// Not in charge of: the text format (metrics/metricsText.ts), what is counted (contract/api/metricFamilies.ts).
import { Hono } from 'hono'
import { VERSION } from '#contract/version.ts'
import { listBusySlots, readGauges, WAITING_KINDS } from '../db/metrics.ts'
import { readTotals } from '../db/metricTotals.ts'
import { settings } from '../env.ts'
import { authenticate } from '../http/authenticate.ts'
import type { AppEnv } from '../http/context.ts'
import { flushCounts } from '../metrics/isolateCounts.ts'
import { metricsText, type Gauges } from '../metrics/metricsText.ts'
import { taskMonitor } from '../scheduler/applyEvent.ts'
import { listDryRunSlots, listFreeSlots } from '../transcoders/capacity.ts'
import { readCapacity } from './transcoderHealth.ts'

/** Requests to Durable Objects of one scrape. */
const MAX_DISKS = 200
/** A monitor that answers later is left out. */
const DISK_TIMEOUT_MS = 2000

export const metricsRoutes = new Hono<AppEnv>().use(authenticate('admin')).get('/', async (c) => {
  const { env } = c
  await flushCounts(env)
  const now = Date.now()
  const began = performance.now()
  const [values, totals, busy] = await Promise.all([
    readGauges(env.DB, now, listDryRunSlots(env)),
    readTotals(env.DB),
    listBusySlots(env.DB, MAX_DISKS),
  ])
  const readMs = performance.now() - began
  const [capacity, idle, disks] = await Promise.all([readCapacity(env), listFreeSlots(env, now), readDisks(env, busy)])
  const waiting = (kind: string) => values.waiting.find((row) => row.kind === kind)
  const count = (list: { state: string; n: number }[], state: string) =>
    list.reduce((sum, row) => sum + (row.state === state ? row.n : 0), 0)
  const { commit } = settings(env)
  const gauges: Gauges = {
    build_info: [[{ version: VERSION, commit: commit ?? '' }, 1]],
    jobs_active: ['queued', 'running', 'committing'].map((state) => [{ state }, count(values.active, state)]),
    tasks_waiting: WAITING_KINDS.map((kind) => [{ kind }, waiting(kind)?.n ?? 0]),
    queue_age_seconds: WAITING_KINDS.map((kind) => [{ kind }, Math.max(0, now - (waiting(kind)?.since ?? now)) / 1000]),
    work_waiting_seconds: [[{}, values.waiting.reduce((sum, { seconds }) => sum + (seconds ?? 0), 0)]],
    slots: [[{}, capacity.slots]],
    slots_busy: [[{}, values.slots]],
    starts_failing: [[{}, values.startsFailing]],
    transcoders_idle: [[{}, idle.all.free.length + idle.all.doubtful.length]],
    transcoders_draining: [[{}, capacity.draining]],
    transcoders_silent: [[{}, capacity.silent]],
    transcoder_disk_free_bytes: disks.map(({ k, free }) => [{ slot: String(k) }, free]),
    webhooks: ['pending', 'failed'].map((state) => [{ state }, count(values.webhooks, state)]),
    database_read_seconds: [[{}, readMs / 1000]],
  }
  return c.text(metricsText(gauges, totals), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
})

/** Free disk space as busy transcoders last reported it: heartbeats are not stored in D1. */
async function readDisks(env: Env, busy: { k: number; task: string }[]): Promise<{ k: number; free: number }[]> {
  const timeout = scheduler.wait(DISK_TIMEOUT_MS).then(() => null)
  const disks = await Promise.all(
    busy.map(async ({ k, task }) => {
      const progress = await Promise.race([
        taskMonitor(env, task)
          .latestProgress()
          .catch(() => null),
        timeout,
      ])
      return progress?.disk_free_bytes === undefined ? [] : [{ k, free: progress.disk_free_bytes }]
    }),
  )
  return disks.flat()
}
