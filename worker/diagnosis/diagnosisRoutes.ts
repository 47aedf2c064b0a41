// In charge of: `POST /api/v0/diagnosis`: an administrator has the service look at itself. POST, because it writes what it reads
// back and removes: no cache and no prefetch may ask it.
// Not in charge of: what is looked at (diagnose.ts).
import { Hono } from 'hono'
import { authenticate } from '../http/authenticate.ts'
import { diagnose } from './diagnose.ts'
import type { AppEnv } from '../http/context.ts'

export const diagnosisRoutes = new Hono<AppEnv>()
  .use(authenticate('admin'))
  .post('/', async (c) =>
    c.json(await diagnose(c.env, new URL(c.req.url).origin), 200, { 'cache-control': 'no-store' }),
  )
