// In charge of: the shape of what was measured in a finished output.
// Not in charge of: measuring it (the transcoder), where it is shown (status.ts).

/** Measured in what was written, never copied from what was asked for. Bitrates count the media of the output, in kbps (1,000 bit/s). */
export interface MediaFacts {
  duration_seconds: number
  /** Of the whole output: its bytes over its duration. Of a master playlist or a manifest: of its highest rendition. */
  average_bitrate_kbps: number
  /** The most in one second of a file, or in one segment of segmented output (RFC 8216, 4.3.4.2 BANDWIDTH). */
  peak_bitrate_kbps: number
  video: VideoFacts | null
  audio: AudioFacts[]
  /** Captions inside of the video ("CC1", "SERVICE1") and text tracks beside it. */
  captions: { kind: 'embedded' | 'webvtt'; name: string; language: string | null }[]
  /** Of a master playlist or a manifest: one line for each rendition that a player chooses from. Else left out. */
  renditions?: {
    path: string
    width: number
    height: number
    average_bitrate_kbps: number
    peak_bitrate_kbps: number
  }[]
}

export interface VideoFacts {
  /** "h264", "hevc", "mpeg2video": ffprobe's names. */
  codec: string
  /** RFC 6381, as "avc1.64001f"; null where it has no such name (MPEG-2). */
  codec_string: string | null
  width: number
  height: number
  /** Of the picture as it is shown, "16:9". */
  display_aspect_ratio: string
  /** "30000/1001". */
  frame_rate: string
  frames_per_second: number
  scan: 'progressive' | 'interlaced'
  dynamic_range: 'sdr' | 'hdr10' | 'hlg'
  bitrate_kbps: number
}

export interface AudioFacts {
  /** "aac", "ac3", "mp2". */
  codec: string
  channels: number
  sample_rate: number
  bitrate_kbps: number
  language: string | null
}
