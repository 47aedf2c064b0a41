// In charge of: counting the transcoders of TRANSCODER_URLS that do not answer, for /health.
// Not in charge of: containers (db/metrics.ts counts their failed starts), restarting a transcoder
// (scripts/local/processes/transcoderProbe.ts).
import { settings } from '../env.ts'

/** Short: the caller of /health has its own timeout, and a transcoder answers from memory. */
const ANSWER_MS = 2_000

/** Number of transcoders that do not answer. Any answer counts, whatever its status. */
export async function countUnresponsiveTranscoders(env: Env): Promise<number> {
  const silent = await Promise.all(
    settings(env).transcoderUrls.map(async (base): Promise<number> => {
      try {
        const answer = await fetch(`${base}/health`, {
          headers: env.INTERNAL_TOKEN ? { 'x-splicepoint-internal': env.INTERNAL_TOKEN } : {},
          signal: AbortSignal.timeout(ANSWER_MS),
        })
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
