// In charge of: the properties of the outputs' codecs: frames, and in a transport stream stream types, service types,
// decoder delays.
// Not in charge of: what jobs may request (contract/codecs.ts), encoding (plan/codecs.ts).

export type VideoCodec = 'h264' | 'hevc' | 'mpeg2'
/** Audio codecs of transport streams. */
export type AudioCodec = 'aac' | 'ac3' | 'mp2'

interface VideoStreamRules {
  /** stream_type (ISO/IEC 13818-1, table 2-34). */
  streamType: number
  /** The longest time from sending an access unit to decoding it. 2.4.2.6 allows 1 s, and 10 s for H.264 and HEVC. */
  longestHoldMs: number
  /** HRD parameters signal a constant rate. */
  hasHrd: boolean
  /** Service types of standard and high definition television (EN 300 468, table 89). */
  serviceTypes: { sd: number; hd: number }
}

export const videoStreams: Readonly<Record<VideoCodec, VideoStreamRules>> = {
  h264: { streamType: 0x1b, longestHoldMs: 2000, hasHrd: true, serviceTypes: { sd: 0x16, hd: 0x19 } },
  hevc: { streamType: 0x24, longestHoldMs: 2000, hasHrd: true, serviceTypes: { sd: 0x1f, hd: 0x1f } },
  mpeg2: { streamType: 0x02, longestHoldMs: 950, hasHrd: false, serviceTypes: { sd: 0x01, hd: 0x11 } },
}

/** Samples per frame, as the encoders make them. */
export const frameSamples = {
  aac: 1024,
  ac3: 1536,
  mp2: 1152,
  mp3: 1152,
  opus: 960,
  flac: 4608,
  eac3: 1536,
  pcm: 1,
} as const

/** Whether transport streams carry the codec. */
export function isTsAudio<T extends { codec: string }>(track: T): track is T & { codec: AudioCodec } {
  return track.codec === 'aac' || track.codec === 'ac3' || track.codec === 'mp2'
}

/** null = the stream type of a codec that outputs cannot have. */
export function videoCodecOf(streamType: number): VideoCodec | null {
  const found = Object.entries(videoStreams).find(([, rules]) => rules.streamType === streamType)
  return found === undefined ? null : (found[0] as VideoCodec)
}
