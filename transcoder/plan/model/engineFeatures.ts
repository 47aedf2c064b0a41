// In charge of: the features that only some of the accepted ffmpeg versions have.
// Not in charge of: detecting them (ffmpeg/locate.ts).

export interface EngineFeatures {
  /** The filters zscale, tonemap and colorspace exist: colours can be converted. */
  zscale: boolean
  /** libx265 has `-a53cc` (not in 5.1; its default differs between 7.0 and 7.1). */
  hevcCaptions: boolean
  /** libx265 encodes 10 bits: some builds support one bit depth only. */
  hevcMain10: boolean
  /** Captions survive a change to another broadcast frame rate, because the filter fps moves them: ffmpeg 7 and later. */
  captionsAcrossRates: boolean
  /** Caption bytes in several messages per frame are all read: ffmpeg 7 and later. */
  severalCaptionMessages: boolean
  /**
   * The clock of a transport stream begins with the streams that are used, not with all streams: ffmpeg 6 and later.
   */
  clockFromUsedStreams: boolean
  /** Frames of a transport stream have their own sample aspect, not that of the first one: until ffmpeg 6. */
  followsAspect: boolean
  /** All AMR frames of a packet are decoded, not only the first one (3GP has several in a packet): 7.0 does, 5.1 does not. */
  amrPackets: boolean
  /** libvpx decodes VP8 and VP9, with their transparency. */
  vpxAlpha: boolean
  /** The decoder libzvbi_teletextdec exists: subtitle pages of teletext can be read. */
  teletext: boolean
  /** The filter ass exists (libass): captions can be drawn. */
  ass: boolean
  /** libmp3lame exists. */
  mp3: boolean
  /** libopus exists. */
  opus: boolean
  flac: boolean
  eac3: boolean
  /** Encodes WebP images and animations. */
  webp: boolean
  /** Encodes AVIF images with libaom. */
  avif: boolean
  /** Encodes GIF with a palette of its own. */
  gif: boolean
}

/** Every feature that changes outputs. `clockFromUsedStreams` is as in ffmpeg 5: it changes the arguments, not the outputs. */
export const ALL_FEATURES: EngineFeatures = {
  zscale: true,
  hevcCaptions: true,
  hevcMain10: true,
  captionsAcrossRates: true,
  severalCaptionMessages: true,
  clockFromUsedStreams: false,
  followsAspect: true,
  amrPackets: true,
  vpxAlpha: true,
  teletext: true,
  ass: true,
  mp3: true,
  opus: true,
  flac: true,
  eac3: true,
  webp: true,
  avif: true,
  gif: true,
}
