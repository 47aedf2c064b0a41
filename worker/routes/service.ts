// In charge of: what the service says about itself: health and published limits.
import { Hono } from 'hono'
import { publishedLimits } from '#contract/limits.ts'
import { settings } from '../env.ts'
import type { AppEnv } from '../http.ts'

export const service = new Hono<AppEnv>()
  /** 200 when jobs can be taken; 503 with what is missing otherwise. No authentication: load balancers ask. */
  .get('/health', async (c) => {
    const missing: string[] = []
    for (const name of ['SERVICE_SECRET', 'VAULT_KEYS', 'ADMIN_KEY'] as const) {
      if (!c.env[name]) missing.push(`the secret ${name} is not set (npx wrangler secret put ${name})`)
    }
    try {
      await c.env.DB.prepare('SELECT 1 FROM jobs LIMIT 1').first()
    } catch {
      missing.push(
        'the database has no tables (npm run migrate; deployed: npx wrangler d1 migrations apply DB --remote)',
      )
    }
    const { egress, maxSlots, problems, transcoderUrls } = settings(c.env)
    missing.push(...problems)
    return c.json(
      {
        status: missing.length === 0 ? 'ok' : 'not_ready',
        missing,
        slots: maxSlots,
        transcoders: transcoderUrls.length > 0 ? 'local' : 'containers',
        egress,
      },
      missing.length === 0 ? 200 : 503,
    )
  })
  .get('/api/v0/limits', (c) => c.json(publishedLimits(settings(c.env))))
