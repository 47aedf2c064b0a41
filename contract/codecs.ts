// In charge of: the limits of each codec: names, bitrates, sizes, audio channels, and the outputs that can carry it.
// Not in charge of: encoding (transcoder/plan/codecs.ts), reading its streams (transcoder/formats/codecs.ts).

/**
 * The segment formats. cmaf: fragmented MP4 with an init segment (ISO/IEC 23000-19). ts: MPEG-2 transport streams.
 * smooth: fragments of [MS-SSTR]; its clients build the init segment themselves.
 */
export type SegmentForm = 'cmaf' | 'ts' | 'smooth'

/** The highest bitrate that a conforming stream of that size may have. */
export interface Level {
  /** Largest number of luma samples in a frame. */
  pixels: number
  /** Present where the level also limits width and height. */
  width?: number
  height?: number
  kbps: number
}

interface VideoCodecRules {
  /** The name in requests. */
  requestName: string
  /** The name for people. */
  title: string
  /** Bitrate for the same quality, relative to h.264. */
  bitrateFactor: number
  /** Ascending. */
  levels: readonly Level[]
  /** Segment formats that can carry it; empty = single files only. */
  segments: readonly SegmentForm[]
  /** Whether h264_quality has an effect. */
  hasQualities: boolean
  /** Whether it can keep the dynamic range of an HDR source. */
  hasHdr: boolean
}

interface AudioCodecRules {
  /** Allowed kbps by effective channel count, ascending; empty = the codec cannot carry that many channels. */
  bitrates: Record<2 | 6, readonly number[]>
  /** Below this bitrate, compression of 5.1 becomes audible; null = no such advice. */
  surroundAdvisedKbps: number | null
  segments: readonly SegmentForm[]
  /** Whether a transport stream segment can hold it without video. */
  isSegmentedAlone: boolean
  /** Whether it carries a dialogue level (dolby_digital_dialnorm). */
  hasDialnorm: boolean
  /** The audio-only file format. `container` is also its extension. */
  file: { container: string; contentType: string }
}

/** In the order in which documentation and messages list them. */
export const videoCodecs = {
  h264: {
    requestName: 'h.264',
    title: 'H.264',
    bitrateFactor: 1,
    // Rec. ITU-T H.264 table A-1, levels 5.2 and 6.2, MaxFS × 256 luma samples, MaxBR × 1250 bit/s (High profile).
    levels: [
      { pixels: 36_864 * 256, kbps: 300_000 },
      { pixels: 139_264 * 256, kbps: 1_000_000 },
    ],
    segments: ['cmaf', 'ts', 'smooth'],
    hasQualities: true,
    hasHdr: false,
  },
  mpeg2: {
    requestName: 'mpeg2',
    title: 'MPEG-2',
    bitrateFactor: 1.5,
    // Rec. ITU-T H.262 tables 8-11 and 8-13, Main profile at Main level and at High level.
    levels: [
      { pixels: 720 * 576, width: 720, height: 576, kbps: 15_000 },
      { pixels: 1920 * 1152, width: 1920, height: 1152, kbps: 80_000 },
    ],
    segments: [],
    hasQualities: false,
    hasHdr: false,
  },
  hevc: {
    requestName: 'hevc',
    title: 'HEVC',
    bitrateFactor: 0.6,
    // Rec. ITU-T H.265 tables A.8 and A.9, levels 5.2 and 6.2, Main tier, MaxBR × 1000 bit/s.
    levels: [
      { pixels: 8_912_896, kbps: 60_000 },
      { pixels: 35_651_584, kbps: 240_000 },
    ],
    // HLS allows it in fragmented MP4 only (Apple's authoring specification).
    segments: ['cmaf'],
    hasQualities: true,
    hasHdr: true,
  },
} as const satisfies Record<string, VideoCodecRules>

export const audioCodecs = {
  aac: {
    // A stereo AAC frame holds at most 576 kb/s at 48 kHz (ISO/IEC 14496-3: 6144 bits a channel a frame).
    bitrates: { 2: [32, 40, 64, 96, 128, 192, 256, 384, 448], 6: [64, 96, 128, 192, 256, 384, 448, 768] },
    surroundAdvisedKbps: null,
    segments: ['cmaf', 'ts', 'smooth'],
    isSegmentedAlone: true,
    hasDialnorm: false,
    file: { container: 'm4a', contentType: 'audio/mp4' },
  },
  ac3: {
    // 640 is the highest rate (ETSI TS 102 366 table 4.13); six channels do not fit in 32 or 40.
    bitrates: { 2: [32, 40, 64, 96, 128, 192, 256, 384, 448], 6: [64, 96, 128, 192, 256, 384, 448] },
    surroundAdvisedKbps: 224,
    segments: ['cmaf', 'ts'],
    isSegmentedAlone: false,
    hasDialnorm: true,
    file: { container: 'ac3', contentType: 'audio/ac3' },
  },
  mp2: {
    // Stereo from 64 to 384 (ISO/IEC 11172-3, Layer II), never six channels.
    bitrates: { 2: [64, 96, 128, 192, 256, 384], 6: [] },
    surroundAdvisedKbps: null,
    segments: [],
    isSegmentedAlone: false,
    hasDialnorm: false,
    file: { container: 'mp2', contentType: 'audio/mpeg' },
  },
} as const satisfies Record<string, AudioCodecRules>

export type VideoCodec = keyof typeof videoCodecs
export type AudioCodec = keyof typeof audioCodecs
export type WireVideoCodec = (typeof videoCodecs)[VideoCodec]['requestName']
export type AudioContainer = (typeof audioCodecs)[AudioCodec]['file']['container']

export const VIDEO_CODECS = Object.keys(videoCodecs) as VideoCodec[]
export const AUDIO_CODECS = Object.keys(audioCodecs) as AudioCodec[]
export const WIRE_VIDEO_CODECS: readonly WireVideoCodec[] = VIDEO_CODECS.map((codec) => videoCodecs[codec].requestName)
export const AUDIO_CONTAINERS: readonly AudioContainer[] = AUDIO_CODECS.map(
  (codec) => audioCodecs[codec].file.container,
)

export function codecOf(wire: WireVideoCodec): VideoCodec {
  return VIDEO_CODECS.find((codec) => videoCodecs[codec].requestName === wire)!
}

export function videoRules(codec: VideoCodec): VideoCodecRules {
  return videoCodecs[codec]
}

export function audioRules(codec: AudioCodec): AudioCodecRules {
  return audioCodecs[codec]
}
