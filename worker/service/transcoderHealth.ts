// In charge of: whether the transcoders of TRANSCODER_URLS answer at all, for whoever asks how the service is.
// Not in charge of: containers (their starts are counted, db/metrics.ts), starting a silent one again (scripts/local/processes/transcoderProbe.ts).
import { settings } from '../env.ts'

/** Short: who asks has a limit of its own, and a transcoder answers this from memory. */
const ANSWER_MS = 2_000

/** How many do not answer. Whatever one answers, it is there. */
export async function countUnresponsiveTranscoders(env: Env): Promise<number> {
  const silent = await Promise.all(
    settings(env).transcoderUrls.map(async (base): Promise<number> => {
      try {
        const answer = await fetch(`${base}/health`, {
          headers: env.INTERNAL_TOKEN ? { 'x-splicepoint-internal': env.INTERNAL_TOKEN } : {},
          signal: AbortSignal.timeout(ANSWER_MS),
        })
        await answer.body?.cancel()
        // By the egress of local mode, which found nobody there.
        return answer.headers.has('x-egress-failed') ? 1 : 0
      } catch {
        return 1
      }
    }),
  )
  return silent.reduce((sum, one) => sum + one, 0)
}
