// In charge of: what the codecs of outputs are in a transport stream: stream types, frames, service types, decoder delays.
// Not in charge of: what jobs may ask of them (contract/codecs.ts), how they are encoded (plan/codecs.ts).

export type VideoCodec = 'h264' | 'hevc' | 'mpeg2'
export type AudioCodec = 'aac' | 'ac3' | 'mp2'

interface VideoStreamRules {
  /** stream_type (ISO/IEC 13818-1, table 2-34). */
  streamType: number
  /** How long before its time an access unit is sent at most: 2.4.2.6 allows 1 s for all but H.264 and HEVC, which have 10 s. */
  longestHoldMs: number
  /** A constant rate is signalled by HRD parameters. */
  hasHrd: boolean
  /** Television of standard and of high definition (EN 300 468, table 89). */
  serviceTypes: { sd: number; hd: number }
}

export const videoStreams: Readonly<Record<VideoCodec, VideoStreamRules>> = {
  h264: { streamType: 0x1b, longestHoldMs: 2000, hasHrd: true, serviceTypes: { sd: 0x16, hd: 0x19 } },
  hevc: { streamType: 0x24, longestHoldMs: 2000, hasHrd: true, serviceTypes: { sd: 0x1f, hd: 0x1f } },
  mpeg2: { streamType: 0x02, longestHoldMs: 950, hasHrd: false, serviceTypes: { sd: 0x01, hd: 0x11 } },
}

/** Samples of one frame. */
export const frameSamples: Readonly<Record<AudioCodec, number>> = { aac: 1024, ac3: 1536, mp2: 1152 }

/** null = a stream type of no codec that outputs have. */
export function videoCodecOf(streamType: number): VideoCodec | null {
  const found = Object.entries(videoStreams).find(([, rules]) => rules.streamType === streamType)
  return found === undefined ? null : (found[0] as VideoCodec)
}
