// In charge of: the limits of each codec: names, bitrates, sizes, audio channels, and the outputs that can carry it.
// Not in charge of: encoding (transcoder/plan/codecs.ts), reading its streams (transcoder/formats/codecs.ts).

import type { FileContainer } from './containers.ts'

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

/** A file that contains audio alone. */
interface AudioFile {
  /** The value of audio_container. */
  container: AudioContainer
  extension: string
  contentType: string
}

/** The values of audio_container, in the order in which documentation and messages list them. */
export const AUDIO_CONTAINERS = ['m4a', 'ac3', 'mp2', 'mp3', 'ogg', 'webm', 'flac', 'eac3', 'wav'] as const
export type AudioContainer = (typeof AUDIO_CONTAINERS)[number]

interface AudioCodecRules {
  /** The name for people. */
  title: string
  /**
   * Allowed kbps by effective channel count, ascending; empty = the codec cannot carry that many channels. null = it
   * has no bitrate: lossless, or uncompressed.
   */
  bitrates: Record<2 | 6, readonly number[]> | null
  /** Bits of a sample (audio_bit_depth); empty = not a property of the codec. */
  bitDepths: readonly (16 | 24)[]
  /** Hz. */
  sampleRates: readonly number[]
  /** Below this bitrate, compression of 5.1 becomes audible; null = no such advice. */
  surroundAdvisedKbps: number | null
  /** Single files with video that can carry it. */
  videoFiles: readonly FileContainer[]
  segments: readonly SegmentForm[]
  /** Whether a transport stream segment can hold it without video. */
  isSegmentedAlone: boolean
  /** Whether it carries a dialogue level (dolby_digital_dialnorm). */
  hasDialnorm: boolean
  /** The files that contain it alone; the first is the default. */
  files: readonly [AudioFile, ...AudioFile[]]
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

const RATES = [44_100, 48_000] as const
const LOSSLESS_RATES = [44_100, 48_000, 96_000] as const

export const audioCodecs = {
  aac: {
    title: 'AAC',
    // A stereo AAC frame holds at most 576 kb/s at 48 kHz (ISO/IEC 14496-3: 6144 bits a channel a frame).
    bitrates: { 2: [32, 40, 64, 96, 128, 192, 256, 384, 448], 6: [64, 96, 128, 192, 256, 384, 448, 768] },
    bitDepths: [],
    sampleRates: RATES,
    surroundAdvisedKbps: null,
    videoFiles: ['ts', 'mp4'],
    segments: ['cmaf', 'ts', 'smooth'],
    isSegmentedAlone: true,
    hasDialnorm: false,
    files: [{ container: 'm4a', extension: 'm4a', contentType: 'audio/mp4' }],
  },
  ac3: {
    title: 'Dolby Digital (AC-3)',
    // 640 is the highest rate (ETSI TS 102 366 table 4.13); six channels do not fit in 32 or 40.
    bitrates: { 2: [32, 40, 64, 96, 128, 192, 256, 384, 448], 6: [64, 96, 128, 192, 256, 384, 448] },
    bitDepths: [],
    sampleRates: RATES,
    surroundAdvisedKbps: 224,
    videoFiles: ['ts', 'mp4'],
    segments: ['cmaf', 'ts'],
    isSegmentedAlone: false,
    hasDialnorm: true,
    files: [{ container: 'ac3', extension: 'ac3', contentType: 'audio/ac3' }],
  },
  mp2: {
    title: 'MPEG Layer II',
    // Stereo from 64 to 384 (ISO/IEC 11172-3, Layer II), never six channels.
    bitrates: { 2: [64, 96, 128, 192, 256, 384], 6: [] },
    bitDepths: [],
    sampleRates: RATES,
    surroundAdvisedKbps: null,
    videoFiles: ['ts', 'mp4'],
    segments: [],
    isSegmentedAlone: false,
    hasDialnorm: false,
    files: [{ container: 'mp2', extension: 'mp2', contentType: 'audio/mpeg' }],
  },
  mp3: {
    title: 'MP3',
    // Layer III (ISO/IEC 11172-3) ends at 320, and has two channels.
    bitrates: { 2: [32, 40, 64, 96, 128, 192, 256, 320], 6: [] },
    bitDepths: [],
    sampleRates: RATES,
    surroundAdvisedKbps: null,
    // With video, every player that has MP3 also has AAC, which needs half the rate.
    videoFiles: [],
    segments: [],
    isSegmentedAlone: false,
    hasDialnorm: false,
    files: [{ container: 'mp3', extension: 'mp3', contentType: 'audio/mpeg' }],
  },
  opus: {
    title: 'Opus',
    // At most 256 a channel (libopus); below 32 a channel pair of 5.1 is no longer music.
    bitrates: { 2: [32, 40, 64, 96, 128, 192, 256, 384, 448], 6: [96, 128, 192, 256, 384, 448, 768] },
    bitDepths: [],
    // RFC 6716: Opus is always decoded at 48 kHz.
    sampleRates: [48_000],
    surroundAdvisedKbps: null,
    // Chrome, Firefox and Safari 17 play it in MP4 and CMAF. Few receivers read it in a transport stream.
    videoFiles: ['mp4'],
    segments: ['cmaf'],
    isSegmentedAlone: false,
    hasDialnorm: false,
    files: [
      // RFC 7845, 9: the extension .opus, and the media type of all Ogg audio.
      { container: 'ogg', extension: 'opus', contentType: 'audio/ogg' },
      { container: 'webm', extension: 'webm', contentType: 'audio/webm' },
    ],
  },
  flac: {
    title: 'FLAC',
    bitrates: null,
    bitDepths: [16, 24],
    sampleRates: LOSSLESS_RATES,
    surroundAdvisedKbps: null,
    // Chrome, Firefox and Safari play it in MP4 and CMAF; there is no mapping to transport streams.
    videoFiles: ['mp4'],
    segments: ['cmaf'],
    isSegmentedAlone: false,
    hasDialnorm: false,
    files: [{ container: 'flac', extension: 'flac', contentType: 'audio/flac' }],
  },
  eac3: {
    title: 'Dolby Digital Plus (E-AC-3)',
    // The encoder's bit allocation fails on noise below 64 in stereo, and below 192 in 5.1.
    bitrates: { 2: [64, 96, 128, 192, 256, 384, 448, 768], 6: [192, 256, 384, 448, 768] },
    bitDepths: [],
    sampleRates: RATES,
    surroundAdvisedKbps: null,
    // In broadcast, ac3 is what every receiver decodes.
    videoFiles: ['mp4'],
    segments: ['cmaf'],
    isSegmentedAlone: false,
    hasDialnorm: true,
    files: [{ container: 'eac3', extension: 'eac3', contentType: 'audio/eac3' }],
  },
  pcm: {
    title: 'PCM',
    bitrates: null,
    bitDepths: [16, 24],
    sampleRates: LOSSLESS_RATES,
    surroundAdvisedKbps: null,
    // Players of MP4 do not agree on how it is stored there.
    videoFiles: [],
    segments: [],
    isSegmentedAlone: false,
    hasDialnorm: false,
    files: [{ container: 'wav', extension: 'wav', contentType: 'audio/wav' }],
  },
} as const satisfies Record<string, AudioCodecRules>

export type VideoCodec = keyof typeof videoCodecs
export type AudioCodec = keyof typeof audioCodecs
export type WireVideoCodec = (typeof videoCodecs)[VideoCodec]['requestName']

export const VIDEO_CODECS = Object.keys(videoCodecs) as VideoCodec[]
export const AUDIO_CODECS = Object.keys(audioCodecs) as AudioCodec[]
export const WIRE_VIDEO_CODECS: readonly WireVideoCodec[] = VIDEO_CODECS.map((codec) => videoCodecs[codec].requestName)
/** For "copy": the codec of an encode, where the stream cannot be copied. */
export function codecOf(wire: WireVideoCodec | 'copy'): VideoCodec {
  return VIDEO_CODECS.find((codec) => videoCodecs[codec].requestName === wire) ?? 'h264'
}

/** As `codecOf`. */
export function audioCodecOf(wire: AudioCodec | 'copy'): AudioCodec {
  return wire === 'copy' ? 'aac' : wire
}

export function videoRules(codec: VideoCodec): VideoCodecRules {
  return videoCodecs[codec]
}

export function audioRules(codec: AudioCodec): AudioCodecRules {
  return audioCodecs[codec]
}

/** The file that a profile's audio alone is stored in. `container`: '' or absent = the codec's default. */
export function audioFileOf(codec: AudioCodec, container: AudioContainer | null | undefined): AudioFile {
  const { files } = audioRules(codec)
  return files.find((file) => file.container === container) ?? files[0]
}

/** Kbps of uncompressed audio: what a codec without a bitrate needs at most. */
export function pcmKbps(format: { channels: number; sampleRate: number; bitDepth: number }): number {
  return Math.ceil((format.channels * format.sampleRate * format.bitDepth) / 1000)
}
