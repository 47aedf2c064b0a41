// In charge of: how a source's channels become the output's, as plain values.
// Not in charge of: choosing the gains (downmix.ts), spelling them as a filter (filters.ts).

export interface ChannelMix {
  /**
   * Linear gains: by channel of the output (FL, FR; for six FC, LFE, SL, SR too), of channels of the source by ffmpeg's names.
   * Names that a source lacks count for nothing, so that a stream may change its channels on the way. `c0` = its first channel.
   */
  gains: Record<string, Record<string, number>>
  /** Channels are added up: a limiter of true peaks follows. */
  limited: boolean
}
