// In charge of: how each codec is encoded: ffmpeg's names, presets, delays, limits of the encoder, and the cost of an
// encode.
// Not in charge of: what jobs may request of a codec (contract/codecs.ts), its streams (formats/codecs.ts), its
// arguments (argv/encoderArgs.ts).
import type { AudioCodec, VideoCodec } from '#contract/codecs.ts'
import type { Quality } from '#contract/job/jobSpec.ts'
import type { EngineFeatures } from './model/engineFeatures.ts'

interface VideoEncoding {
  encoder: string
  /** ffprobe's name of this codec. */
  sourceCodec: string
  /** By h264_quality; null = the encoder has no presets. */
  presets: Readonly<Record<Quality, string>> | null
  /** qvbr: constant quality below the rate limit. */
  CONSTANT_QUALITY: readonly [flag: string, value: string]
  /** Sample entry in MP4 where ffmpeg's default is unsuitable. */
  mp4Tag: string | null
  /** The encoder silently shortens a longer GOP: it only logs a line. */
  longestGopFrames: number | null
  /** Frame rates and display aspects must come from a table (ISO/IEC 13818-2, tables 6-3 and 6-4). */
  hasCodedRates: boolean
  /** Decoder buffer sizes by the highest rate they allow, ascending; null = no limit besides the rate control. */
  decoderBuffers: readonly { kbps: number; bits: number }[] | null
  /** Outputs can be interlaced. */
  isInterlaced: boolean
  /** The engine feature that carrying captions requires; null = none. */
  captionsNeed: keyof EngineFeatures | null
  /** Bitrate of a rung of ladder "auto", relative to h.264. */
  ladderFactor: number
  /** CPU-seconds per million pixels (see estimate/costConstants.ts). */
  encodeSeconds: Readonly<Record<Quality, number>>
  decodeSeconds: number
}

export const videoEncodings: Readonly<Record<VideoCodec, VideoEncoding>> = {
  h264: {
    encoder: 'libx264',
    sourceCodec: 'h264',
    presets: { good: 'veryfast', better: 'medium', best: 'slow' },
    CONSTANT_QUALITY: ['-crf', '21'],
    mp4Tag: null,
    longestGopFrames: null,
    hasCodedRates: false,
    decoderBuffers: null,
    isInterlaced: true,
    captionsNeed: null,
    ladderFactor: 1,
    encodeSeconds: { good: 0.0135, better: 0.035, best: 0.052 },
    decodeSeconds: 0.0045,
  },
  hevc: {
    encoder: 'libx265',
    sourceCodec: 'hevc',
    presets: { good: 'veryfast', better: 'fast', best: 'slow' },
    // x265's CRF scale is slightly higher than x264's.
    CONSTANT_QUALITY: ['-crf', '23'],
    // Apple's players accept only hvc1; ffmpeg's default is hev1.
    mp4Tag: 'hvc1',
    longestGopFrames: null,
    hasCodedRates: false,
    decoderBuffers: null,
    isInterlaced: false,
    captionsNeed: 'hevcCaptions',
    ladderFactor: 0.6,
    encodeSeconds: { good: 0.045, better: 0.056, best: 0.15 },
    decodeSeconds: 0.0055,
  },
  mpeg2: {
    encoder: 'mpeg2video',
    sourceCodec: 'mpeg2video',
    presets: null,
    CONSTANT_QUALITY: ['-q:v', '4'],
    mp4Tag: null,
    longestGopFrames: 600,
    hasCodedRates: true,
    // Main@Main allows up to 15 Mb/s with this buffer; Main@High has the larger one (ISO/IEC 13818-2 table 8-14).
    decoderBuffers: [
      { kbps: 15_000, bits: 1_835_008 },
      { kbps: Infinity, bits: 9_781_248 },
    ],
    isInterlaced: true,
    captionsNeed: null,
    ladderFactor: 1.6,
    encodeSeconds: { good: 0.0064, better: 0.0064, best: 0.0064 },
    decodeSeconds: 0.0015,
  },
}

interface AudioEncoding {
  encoder: string
  /** The engine feature that the encoder requires; null = every accepted ffmpeg has it. */
  needs: keyof EngineFeatures | null
  /** Samples that the encoder adds at the beginning (measured on 5.1.9 and 7.0). */
  delaySamples: number
  /** The ffmpeg channels that serve as the surrounds of this encoder's 5.1. The audio is the same. */
  surrounds: 'side' | 'back'
  /** The least share of the requested rate that is used: aac writes almost nothing for silence. */
  leastShare: number
}

export const audioEncodings: Readonly<Record<AudioCodec, AudioEncoding>> = {
  aac: { encoder: 'aac', needs: null, delaySamples: 1024, surrounds: 'back', leastShare: 0.02 },
  ac3: { encoder: 'ac3', needs: null, delaySamples: 256, surrounds: 'side', leastShare: 0.95 },
  mp2: { encoder: 'mp2', needs: null, delaySamples: 481, surrounds: 'back', leastShare: 0.95 },
  mp3: { encoder: 'libmp3lame', needs: 'mp3', delaySamples: 1105, surrounds: 'back', leastShare: 0.95 },
  opus: { encoder: 'libopus', needs: 'opus', delaySamples: 312, surrounds: 'back', leastShare: 0.05 },
  flac: { encoder: 'flac', needs: 'flac', delaySamples: 0, surrounds: 'back', leastShare: 0.001 },
  eac3: { encoder: 'eac3', needs: 'eac3', delaySamples: 256, surrounds: 'side', leastShare: 0.95 },
  // The name for 16 bits (argv/encoderArgs.ts).
  pcm: { encoder: 'pcm_s16le', needs: null, delaySamples: 0, surrounds: 'back', leastShare: 1 },
}

/** The codec of that ffprobe name, if outputs can have it. Its frames can carry captions. */
export function videoCodecOfSource(name: string): VideoCodec | null {
  const found = Object.entries(videoEncodings).find(([, { sourceCodec }]) => sourceCodec === name)
  return found === undefined ? null : (found[0] as VideoCodec)
}

/** Sources whose decoder applies dynamic range control, and whose frames state dialogue and downmix levels. */
export function isDolbyDigital({ codec }: { codec: string }): boolean {
  return codec === 'ac3' || codec === 'eac3'
}
