// In charge of: the mix of a source's channels into the output's, as plain values.
// Not in charge of: choosing the gains (downmix.ts), writing them as a filter (filters.ts).

import type { SourceChannel } from '#contract/job/jobSpec.ts'

/** Channels that a job names. They are mixed as mono, stereo or 5.1. */
export interface ChosenChannels {
  channels: SourceChannel[]
  /** The stream that ends last. The others are silent from their ends on. */
  longest: number
}

export interface ChannelMix {
  /** What is mixed; missing = all channels of the stream. */
  from?: ChosenChannels | undefined
  /**
   * Linear gains by channel of the output (FL, FR; for six channels also FC, LFE, SL, SR), each by channel of the
   * source in ffmpeg's names. Names that a source lacks are ignored, so that a stream may change its channels. `c0` =
   * its first channel.
   */
  gains: Record<string, Record<string, number>>
  /** The mix adds channels, so a limiter for true peaks follows. */
  limited: boolean
}

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
