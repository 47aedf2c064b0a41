// In charge of: the mix of a source's channels into the output's, as plain values.
// Not in charge of: choosing the gains (downmix.ts), writing them as a filter (filters.ts).

export interface ChannelMix {
  /**
   * Linear gains by channel of the output (FL, FR; for six channels also FC, LFE, SL, SR), each by channel of the
   * source in ffmpeg's names. Names that a source lacks are ignored, so that a stream may change its channels. `c0` =
   * its first channel.
   */
  gains: Record<string, Record<string, number>>
  /** The mix adds channels, so a limiter for true peaks follows. */
  limited: boolean
}
