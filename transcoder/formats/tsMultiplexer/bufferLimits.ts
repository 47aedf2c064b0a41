// In charge of: sizes and rates of the decoder buffers that a multiplex must not overflow (ISO/IEC 13818-1, 2.4.2 and
// 2.14; ETSI TS 101 154; ATSC A/53-3).
// Not in charge of: enforcing them (streamQueue.ts).
import { codecString } from '../video/annexB.ts'
import { videoStreams, type AudioCodec, type VideoCodec } from '../codecs.ts'

/** The buffers of one elementary stream. */
export interface BufferLimits {
  /** Size of the transport buffer, and its leak rate in bits per second. */
  transportBytes: number
  transportRate: number
  /** Size of the decoder's buffers after it. */
  bufferBytes: number
}

const TRANSPORT_BYTES = 512

/** MaxBR of ITU-T H.264, table A-1, by level_idc; 9 is level 1b. */
const AVC_RATES: Record<number, number> = {
  9: 128,
  10: 64,
  11: 192,
  12: 384,
  13: 768,
  20: 2000,
  21: 4000,
  22: 4000,
  30: 10_000,
  31: 14_000,
  32: 20_000,
  40: 20_000,
  41: 50_000,
  42: 50_000,
  50: 135_000,
  51: 240_000,
  52: 240_000,
  60: 240_000,
  61: 480_000,
  62: 800_000,
}
/** MaxBR of ITU-T H.265, table A.9, main tier, by general_level_idc. */
const HEVC_RATES: Record<number, number> = {
  30: 128,
  60: 1500,
  63: 3000,
  90: 6000,
  93: 10_000,
  120: 12_000,
  123: 20_000,
  150: 25_000,
  153: 40_000,
  156: 60_000,
  180: 60_000,
  183: 120_000,
  186: 240_000,
}
/** MaxCPB of the levels where it differs from MaxBR. */
const AVC_BUFFERS: Record<number, number> = {
  9: 350,
  10: 175,
  11: 500,
  12: 1000,
  13: 2000,
  40: 25_000,
  41: 62_500,
  42: 62_500,
}
const HEVC_BUFFERS: Record<number, number> = { 30: 350 }
/** Rmax of Main profile (ISO/IEC 13818-2, table 8-13), by level_identification, in Mb/s. */
const MPEG2_RATES: Record<number, number> = { 4: 80, 6: 60, 8: 15, 10: 4 }
/** 2.4.2.3: in High and High 1440, bytes pass from one buffer to the next at 1.05 × the rate of the stream. */
const MPEG2_TRANSFER = 1.05
/** The packet header is not passed to the next buffer. */
const PACKET_SHARE = 188 / 184
/** 2.14.3.1: a stream with HRD parameters leaks at 1.2 × their rate. */
const HRD_SHARE = 1.2
/** A PES header and, on average, half a packet of stuffing. */
const FRAME_OVERHEAD_BITS = 8 * 120
/** Used where a stream states no known level. */
const UNKNOWN_LEVEL_SHARE = 2

export interface VideoLimits {
  codec: VideoCodec
  /** The rate limit and buffer size of the encoder. */
  maxKbps: number
  bufferBits: number
  framesPerSecond: number
  /** The stream has HRD parameters. */
  hasHrd: boolean
}

/**
 * `level` as the stream states it; null = unknown. If bytes leave the second buffer faster than they arrive, it stays
 * empty.
 */
export function videoBufferLimits(
  { codec, maxKbps, bufferBits, framesPerSecond, hasHrd }: VideoLimits,
  level: number | null,
): BufferLimits {
  const stated = hasHrd ? maxKbps * 1000 * HRD_SHARE : Infinity
  const levelBitrate = Math.min(
    (level === null ? undefined : levels[codec].rate(level, maxKbps)) ?? maxKbps * 1000 * UNKNOWN_LEVEL_SHARE,
    stated,
  )
  return {
    transportBytes: TRANSPORT_BYTES,
    // The least rate that can deliver the video, whatever the level allows.
    transportRate: Math.max(levelBitrate, maxKbps * 1000 * PACKET_SHARE + framesPerSecond * FRAME_OVERHEAD_BITS),
    bufferBytes: Math.floor(
      Math.min(bufferBits, hasHrd || level === null ? Infinity : levels[codec].buffer(level)) / 8,
    ),
  }
}

interface LevelLimits {
  /** The level in the stream's headers or in its RFC 6381 name; null = not found. */
  stated: (bytes: Uint8Array, name: string | null) => number | null
  /** In bits per second; undefined = no such level. */
  rate: (level: number, maxKbps: number) => number | undefined
  /** In bits, for streams without HRD parameters. */
  buffer: (level: number) => number
}

const levels: Record<VideoCodec, LevelLimits> = {
  h264: {
    stated: (_bytes, name) => (name === null ? null : Number.parseInt(name.slice(-2), 16)),
    rate: (level) => (AVC_RATES[level] === undefined ? undefined : AVC_RATES[level] * 1200),
    buffer: (level) => (AVC_BUFFERS[level] ?? AVC_RATES[level] ?? Infinity) * 1200,
  },
  hevc: {
    stated: (_bytes, name) => (name === null ? null : Number(/\.[LH](\d+)/.exec(name)?.[1] ?? NaN)),
    rate: (level) => (HEVC_RATES[level] === undefined ? undefined : HEVC_RATES[level] * 1000),
    buffer: (level) => (HEVC_BUFFERS[level] ?? HEVC_RATES[level] ?? Infinity) * 1100,
  },
  mpeg2: {
    stated: mpeg2Level,
    rate: (level, maxKbps) => {
      const highest = MPEG2_RATES[level]
      if (highest === undefined) return undefined
      return level > 6 ? highest * 1e6 : Math.min(highest * 1e6, maxKbps * 1000 * MPEG2_TRANSFER * PACKET_SHARE)
    },
    // MPEG-2 video always states its buffer size.
    buffer: () => Infinity,
  },
}

/** The level stated at the beginning of a stream. */
export function statedLevel(codec: VideoCodec, bytes: Uint8Array): number | null {
  return levels[codec].stated(bytes, codecString(videoStreams[codec].streamType, bytes))
}

/** The broadcast system that a stream is made for, if any. */
export type TsProfile = 'dvb' | 'atsc'

const AC3_DVB_BYTES = 5696
/** For up to 448 kbps, the highest rate that this service writes. */
const AC3_ATSC_BYTES = 2592

/** Without a profile, AC-3 is declared as in ATSC. */
export function audioBufferLimits(codec: AudioCodec, channels: number, profile: TsProfile | null): BufferLimits {
  const isWide = codec === 'aac' && channels > 2
  const sizes = { aac: isWide ? 8976 : 3584, mp2: 3584, ac3: profile === 'dvb' ? AC3_DVB_BYTES : AC3_ATSC_BYTES }
  // 2.4.2.3.
  return {
    transportBytes: TRANSPORT_BYTES,
    transportRate: isWide ? 5_529_600 : 2_000_000,
    bufferBytes: sizes[codec],
  }
}

/** Teletext: EN 300 472, clause 5. DVB subtitles: EN 300 743, clause 5.1. */
export function dataBufferLimits(kind: 'teletext' | 'subtitles'): BufferLimits {
  return kind === 'teletext'
    ? { transportBytes: 480, transportRate: 6_750_000, bufferBytes: 65_536 }
    : { transportBytes: TRANSPORT_BYTES, transportRate: 192_000, bufferBytes: 65_536 }
}

const EXTENSION = 0xb5
const SEQUENCE = 1

/** level_identification (table 8-3); null where no sequence extension was found. */
export function mpeg2Level(bytes: Uint8Array): number | null {
  for (let at = 0; at + 6 <= bytes.length; at++) {
    if (bytes[at] !== 0 || bytes[at + 1] !== 0 || bytes[at + 2] !== 1 || bytes[at + 3] !== EXTENSION) continue
    if (bytes[at + 4]! >> 4 === SEQUENCE) return bytes[at + 5]! >> 4
  }
  return null
}
