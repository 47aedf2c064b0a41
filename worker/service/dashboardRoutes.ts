// In charge of: addresses of the dashboard's pages (web/src/parts/router.tsx). All of them serve the same document, so that a
// page can be reloaded and its address shared.
// Not in charge of: "/" and static files, which are served without the Worker; their headers (web/public/_headers).
import { Hono, type Context } from 'hono'
import type { AppEnv } from '../http/context.ts'

const page = (c: Context<AppEnv>): Promise<Response> =>
  c.env.ASSETS.fetch(new Request(new URL('/', c.req.url), { headers: c.req.raw.headers }))

const PAGES = ['new', 'files', 'presets', 'webhooks', 'transcoders', 'keys', 'accounts', 'usage', 'limits'] as const

export const dashboardRoutes = new Hono<AppEnv>().on(
  ['GET'],
  ['/jobs/:id{[0-9]+}', ...PAGES.map((page) => `/${page}`)],
  page,
)

/** Addresses for programs, which are answered in JSON whatever their Accept header is. */
const API = /^\/(?:api|uploads|o|a|p|s|task|health|metrics|assets)(?:\/|$)/

/**
 * The 404 page for a person; null for programs. The request to the assets has no conditional headers, because a 304
 * would have no body.
 */
export async function notFoundPage(c: Context<AppEnv>): Promise<Response | null> {
  const asked = c.req.header('accept') ?? ''
  if (c.req.method !== 'GET' || !asked.includes('text/html') || API.test(c.req.path)) return null
  const { body, headers } = await c.env.ASSETS.fetch(new Request(new URL('/', c.req.url)))
  const own = new Headers(headers)
  own.delete('etag')
  return new Response(body, { status: 404, headers: own })
}
