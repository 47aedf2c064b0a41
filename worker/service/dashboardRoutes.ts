// In charge of: the addresses inside of the dashboard (web/src/router.tsx), which are all one page, so that they can be
// reloaded and sent to others. Not in charge of: "/" and the files of the page, which are served without the Worker, nor
// the headers, which web/public/_headers gives to all of them.
import type { Context } from 'hono'
import { Hono } from 'hono'
import type { AppEnv } from '../http/context.ts'

const page = (c: Context<AppEnv>): Promise<Response> =>
  c.env.ASSETS.fetch(new Request(new URL('/', c.req.url), { headers: c.req.raw.headers }))

export const dashboardRoutes = new Hono<AppEnv>().on(
  ['GET'],
  ['/jobs/:id{[0-9]+}', '/new', '/files', '/keys', '/accounts', '/limits'],
  page,
)

/** Addresses of programs, which are answered in JSON whatever they accept. */
const API = /^\/(?:api|uploads|o|a|p|s|task|health|metrics|assets)(?:\/|$)/

/**
 * A person who typed an address wrongly: null for programs. Whole each time: asked under the condition that a browser sends with
 * a page that it keeps, the assets would answer without a body.
 */
export async function notFoundPage(c: Context<AppEnv>): Promise<Response | null> {
  const asked = c.req.header('accept') ?? ''
  if (c.req.method !== 'GET' || !asked.includes('text/html') || API.test(c.req.path)) return null
  const { body, headers } = await c.env.ASSETS.fetch(new Request(new URL('/', c.req.url)))
  const own = new Headers(headers)
  own.delete('etag')
  return new Response(body, { status: 404, headers: own })
}
