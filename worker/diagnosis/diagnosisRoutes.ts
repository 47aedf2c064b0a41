// In charge of: `POST /api/v0/diagnosis`: the service checks itself for an administrator. POST, because the checks
// write and delete data: caches and prefetching must not trigger them.
// Not in charge of: the checks (diagnose.ts).
import { Hono } from 'hono'
import { authenticate } from '../http/authenticate.ts'
import { diagnose } from './diagnose.ts'
import type { AppEnv } from '../http/context.ts'

export const diagnosisRoutes = new Hono<AppEnv>()
  .use(authenticate('admin'))
  .post('/', async (c) =>
    c.json(await diagnose(c.env, new URL(c.req.url).origin), 200, { 'cache-control': 'no-store' }),
  )
