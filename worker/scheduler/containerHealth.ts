// In charge of: reading a transcoder's health (GET /health of transcoder/server/controlServer.ts), for containers and
// local transcoders.
import type { TranscoderFacts } from '#contract/api/diagnosis.ts'

/** What a slot's Durable Object reports about its container. */
export interface ContainerHealth {
  running: boolean
  transcoder: TranscoderFacts | null
}

/** @throws Error when the answer does not come from a transcoder */
export async function readTranscoderHealth(response: Response): Promise<TranscoderFacts> {
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`it answered ${response.status}`)
  }
  const { state, version, ffmpeg } = await response.json<Partial<TranscoderFacts>>()
  if (typeof state !== 'string' || typeof version !== 'string') throw new Error('it is not a transcoder')
  return { state, version, ffmpeg: ffmpeg ?? '' }
}
