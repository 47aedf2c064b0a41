// In charge of: the list of transcoders that registered themselves (`/api/v0/transcoders`), for holders of the admin key.
// Not in charge of: their registration (taskApi/registrationRoutes.ts).
import { Hono } from 'hono'
import type { TranscoderList } from '#contract/api/administration.ts'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import { SILENT_MS } from '#contract/task/registration.ts'
import { listTranscoders } from '../db/transcoders.ts'
import { settings } from '../env.ts'
import { authenticate } from '../http/authenticate.ts'
import type { AppEnv } from '../http/context.ts'

const MAX_LISTED = 1000

export const transcoderRoutes = new Hono<AppEnv>().use(authenticate('admin')).get('/', async (c) => {
  const since = Date.now() - SILENT_MS
  const isUsed = settings(c.env).transcoders === 'registered'
  const transcoders = (isUsed ? await listTranscoders(c.env.DB, MAX_LISTED) : []).map((row) => ({
    id: row.id,
    slot: row.slot,
    url: row.url,
    state: row.seen_at < since ? ('lost' as const) : row.state,
    problem: row.seen_at < since ? null : row.problem,
    version: row.version,
    protocol: row.protocol,
    ffmpeg: row.ffmpeg,
    registered_at: new Date(row.registered_at).toISOString(),
    seen_at: new Date(row.seen_at).toISOString(),
    job: row.job,
  }))
  return c.json({ transcoders, protocol: TASK_PROTOCOL } satisfies TranscoderList)
})
