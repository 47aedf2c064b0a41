// In charge of: public information about the service: health and limits.
import { log } from '../log.ts'
import { Hono } from 'hono'
import type { Health } from '#contract/api/administration.ts'
import { VERSION } from '#contract/version.ts'
import { publishedLimits } from '#contract/api/publishedLimits.ts'
import { readCapacity, type Capacity } from './transcoderHealth.ts'
import { settings } from '../env.ts'
import { countFailingStarts } from '../db/metrics.ts'
import type { AppEnv } from '../http/context.ts'

/** Why D1 cannot be read. Its own message is only logged, because anyone may read /health. */
function unavailableReason(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error)
  if (/no such (table|column)/i.test(said)) {
    return 'the database lacks tables or columns; apply the migrations (npx wrangler d1 migrations apply DB --local; deployed: npm run cloudflare -- d1 migrations apply DB --remote)'
  }
  log.error('database unavailable', { error: said })
  return 'the database cannot be read or written now (is its disk full?); the error is in the log'
}

export const serviceRoutes = new Hono<AppEnv>()
  /**
   * 200 when jobs are accepted (`degraded`: but transcoders do not start or do not answer); else 503 with what is
   * missing. No authentication, because load balancers call it.
   */
  .get('/health', async (c) => {
    const missing: string[] = []
    for (const name of ['SERVICE_SECRET', 'VAULT_KEYS', 'ADMIN_KEY'] as const) {
      if (!c.env[name]) missing.push(`the secret ${name} is not set (npm run cloudflare -- secret put ${name})`)
    }
    const { commit, egress, maxSlots, dryRunSlots, problems, transcoders } = settings(c.env)
    let startsFailing = 0
    let capacity: Capacity = {
      slots: transcoders === 'registered' ? 0 : maxSlots - dryRunSlots,
      draining: 0,
      silent: 0,
    }
    try {
      startsFailing = await countFailingStarts(c.env.DB)
      capacity = await readCapacity(c.env)
    } catch (error) {
      missing.push(unavailableReason(error))
    }
    missing.push(...problems)
    const isShort = startsFailing > 0 || capacity.silent > 0 || capacity.slots === 0
    return c.json(
      {
        // In the state `degraded`, jobs are accepted and wait.
        status: missing.length > 0 ? 'not_ready' : isShort ? 'degraded' : 'ok',
        missing,
        version: VERSION,
        commit,
        slots: capacity.slots,
        starts_failing: startsFailing,
        transcoders_silent: capacity.silent,
        transcoders: transcoders === 'listed' ? 'local' : transcoders,
        egress,
      } satisfies Health,
      missing.length === 0 ? 200 : 503,
    )
  })
  .get('/api/v0/limits', (c) => c.json(publishedLimits(settings(c.env))))
