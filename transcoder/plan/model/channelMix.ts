// In charge of: which of the source's audio a track is made of.
// Not in charge of: choosing it (downmix.ts).
import type { ChannelMix } from '#contract/task/plan/audioPlan.ts'

/** Streams of the source that a track is made of, each once. */
export function mixedStreams({ sourceStream, mix }: { sourceStream: number; mix?: ChannelMix | undefined }): number[] {
  return [...new Set([sourceStream, ...(mix?.from?.channels ?? []).map(({ stream }) => stream)])]
}

/** The same for tracks that are encodings of the same audio of the source. */
export function programmeOf({
  requestedStream,
  sourceStream,
  mix,
}: {
  requestedStream?: number | undefined
  sourceStream: number
  mix?: ChannelMix | undefined
}): string {
  const chosen = (mix?.from?.channels ?? []).map(({ stream, channel }) => `${stream}:${channel}`)
  return `stream ${requestedStream ?? sourceStream}${chosen.length === 0 ? '' : ` channels ${chosen.join()}`}`
}
