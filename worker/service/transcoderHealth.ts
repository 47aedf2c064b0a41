// In charge of: counting the transcoders that do not answer, of TRANSCODER_URLS or registered, for /health.
// Not in charge of: containers (db/metrics.ts counts their failed starts), restarting a transcoder
// (scripts/local/processes/transcoderProbe.ts).
import { settings } from '../env.ts'
import { countRegistered } from '../transcoders/capacity.ts'
import { askHealth } from '../transcoders/transcoderRequest.ts'

/** Short: the caller of /health has its own timeout, and a transcoder answers from memory. */
const ANSWER_MS = 2_000

export interface Capacity {
  slots: number
  /** Registered transcoders that take no more tasks because they are stopping. */
  draining: number
  /** Transcoders that do not answer. */
  silent: number
}

export async function readCapacity(env: Env): Promise<Capacity> {
  const { maxSlots, dryRunSlots, transcoders } = settings(env)
  if (transcoders !== 'registered')
    return { slots: maxSlots - dryRunSlots, draining: 0, silent: await countUnresponsiveTranscoders(env) }
  const { ready, draining, away } = await countRegistered(env, Date.now())
  return { slots: ready, draining, silent: away }
}

/** Number of transcoders that do not answer. Any answer counts, whatever its status. */
async function countUnresponsiveTranscoders(env: Env): Promise<number> {
  const silent = await Promise.all(
    settings(env).transcoderUrls.map(async (base): Promise<number> => {
      try {
        const answer = await askHealth(env, base, ANSWER_MS)
        await answer.body?.cancel()
        // From the local egress proxy, which could not connect.
        return answer.headers.has('x-egress-failed') ? 1 : 0
      } catch {
        return 1
      }
    }),
  )
  return silent.reduce((sum, one) => sum + one, 0)
}
