// In charge of: what an ffmpeg can do that not every accepted version can.
// Not in charge of: finding it out (ffmpeg/locate.ts).

export interface EngineFeatures {
  /** zscale, tonemap and colorspace: colours can be converted. */
  zscale: boolean
  /** libx265 has `-a53cc` (not in 5.1; its default differs between 7.0 and 7.1). */
  hevcCaptions: boolean
  /** libx265 has 10 bits: builds for one depth exist. */
  hevcMain10: boolean
  /** Captions survive a change to another broadcast rate: ffmpeg 7 and later. */
  captionsAcrossRates: boolean
  /** Caption bytes that come in several messages a frame are read whole: ffmpeg 7 and later. */
  severalCaptionMessages: boolean
  /** The clock of a transport stream begins with the streams that are used, not with all: ffmpeg 6 and later. */
  clockFromUsedStreams: boolean
}

/** Everything that changes outputs. The clock is that of ffmpeg 5: argv differs by it, and outputs do not. */
export const ALL_FEATURES: EngineFeatures = {
  zscale: true,
  hevcCaptions: true,
  hevcMain10: true,
  captionsAcrossRates: true,
  severalCaptionMessages: true,
  clockFromUsedStreams: false,
}
