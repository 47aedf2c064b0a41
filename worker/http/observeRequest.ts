// In charge of: what is known of every request afterwards: its id (x-request-id), one line in the log, its count and
// duration in /metrics.
// Not in charge of: the log's format (log.ts), storing counts (metrics/isolateCounts.ts).
import { createMiddleware } from 'hono/factory'
import { matchedRoutes } from 'hono/route'
import type { Context } from 'hono'
import type { LogLevel } from '#contract/logLevels.ts'
import { settings } from '../env.ts'
import { log, noteInLog, withRequestLog } from '../log.ts'
import { countInIsolate } from '../metrics/isolateCounts.ts'
import type { AppEnv } from './context.ts'

export const REQUEST_ID_HEADER = 'x-request-id'
/** An id that a client may give: it can break neither a log line nor a header, and no credential fits its form. */
const HARMLESS_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Answered so often that a line for each would hide the others; written at the level debug. */
const FREQUENT = new Set([
  'GET /health',
  'GET /metrics',
  'POST /task/:id/progress',
  'GET /task/:id/input',
  'PUT /task/:id/uploads/:upload/:n',
  'PUT /task/:id/output/*',
  'GET /task/:id/input/hls/:digest/:track/:kind/:n',
])

export const observeRequest = createMiddleware<AppEnv>(async (c, next) => {
  const began = performance.now()
  const given = c.req.header(REQUEST_ID_HEADER) ?? ''
  const requestId = HARMLESS_ID.test(given) ? given : crypto.randomUUID()
  // Sets the level of the log, before the first line.
  settings(c.env)
  await withRequestLog(requestId, async () => {
    await next()
    setHeader(c, REQUEST_ID_HEADER, requestId)
    const seconds = (performance.now() - began) / 1000
    const { status } = c.res
    const method = METHODS.has(c.req.method) ? c.req.method : 'other'
    const route = routeOf(c)
    // Variables of the task API (taskApi/taskContext.ts); public routes name the job themselves.
    const { account, jobId, attempt } = c.var as { account?: string; jobId?: string; attempt?: number }
    if (account !== undefined) noteInLog({ account })
    if (jobId !== undefined) noteInLog({ job: jobId })
    const level: LogLevel = status >= 500 ? 'error' : FREQUENT.has(`${method} ${route}`) ? 'debug' : 'info'
    // Set by Cloudflare, or by the reverse proxy of a service on one's own server; a client's own is dropped by both.
    const client = c.req.header('cf-connecting-ip')
    log[level]('request', { method, route, status, ms: Math.round(seconds * 1000), client, attempt })
    countInIsolate(c.env, `${method} ${route}`, (totals) =>
      totals
        .add('http_requests_total', { method, route, status: `${Math.floor(status / 100)}xx` })
        .observe('http_request_duration_seconds', { method, route }, seconds),
    )
  })
})

/** The template of the route, without patterns: `/api/v0/job/:id`. `none` where no route answered. */
function routeOf(c: Context<AppEnv>): string {
  const route = matchedRoutes(c).findLast(({ method }) => method !== 'ALL')
  return route === undefined ? 'none' : route.path.replaceAll(/\{(?:[^{}]|\{[^{}]*\})*\}/g, '')
}

/** Headers of an answer that was fetched cannot be changed. */
function setHeader(c: Context<AppEnv>, name: string, value: string): void {
  try {
    c.res.headers.set(name, value)
  } catch {
    c.res = new Response(c.res.body, c.res)
    c.res.headers.set(name, value)
  }
}
