// In charge of: the addresses inside of the dashboard (web/src/router.tsx), which are all one page, so that they can be
// reloaded and sent to others. Not in charge of: "/" and the files of the page, which are served without the Worker, nor
// the headers, which web/public/_headers gives to all of them.
import { Hono } from 'hono'
import type { AppEnv } from '../http.ts'

export const dashboard = new Hono<AppEnv>().on(
  ['GET'],
  ['/jobs/:id{[0-9]+}', '/new', '/files', '/keys', '/limits'],
  (c) => c.env.ASSETS.fetch(new Request(new URL('/', c.req.url), { headers: c.req.raw.headers })),
)
