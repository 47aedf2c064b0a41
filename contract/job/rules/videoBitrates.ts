// In charge of: how low and how high a video bitrate may be, by codec, size and mode.
// Not in charge of: where the size comes from (the request, or the probe when the request says 0).
import type { VideoCodec } from '../jobSpec.ts'

/** As the request spells them. */
export type WireVideoCodec = 'h.264' | 'mpeg2' | 'hevc'

type AnyCodec = VideoCodec | WireVideoCodec
type AnyMode = 'cbr' | 'vbr' | 'qvbr'

/** No video profile may ask for less than this, whatever its size; all that is known to hold when a dimension is 0. */
export const FLOOR_KBPS = 100

/** Specification 8: 2300 kbps for 1920x1080, h.264, cbr. Everything else is scaled from this one point. */
const REFERENCE = { kbps: 2300, pixels: 1920 * 1080 }
/** Larger pictures need less per pixel. */
const SIZE_EXPONENT = 0.75
const CODEC_FACTOR = { h264: 1, hevc: 0.6, mpeg2: 1.5 } as const
/** qvbr is capped by video_bitrate just as vbr is steered by it, so it shares vbr's factor. */
const MODE_FACTOR = { cbr: 1, vbr: 0.75, qvbr: 0.75 } as const

interface Level {
  /** Luma samples a picture may have at most. */
  pixels: number
  /** Where the level bounds the sides themselves. */
  width?: number
  height?: number
  kbps: number
}

/**
 * The highest bitrate a conforming stream of that size may have.
 * h264: Rec. ITU-T H.264 table A-1, levels 5.2 and 6.2, MaxFS × 256 luma samples, MaxBR × 1250 bit/s (High profile).
 * hevc: Rec. ITU-T H.265 tables A.8 and A.9, levels 5.2 and 6.2, Main tier, MaxBR × 1000 bit/s.
 * mpeg2: Rec. ITU-T H.262 tables 8-11 and 8-13, Main profile at Main level and at High level.
 */
const LEVELS: Record<VideoCodec, readonly Level[]> = {
  h264: [
    { pixels: 36_864 * 256, kbps: 300_000 },
    { pixels: 139_264 * 256, kbps: 1_000_000 },
  ],
  hevc: [
    { pixels: 8_912_896, kbps: 60_000 },
    { pixels: 35_651_584, kbps: 240_000 },
  ],
  mpeg2: [
    { pixels: 720 * 576, width: 720, height: 576, kbps: 15_000 },
    { pixels: 1920 * 1152, width: 1920, height: 1152, kbps: 80_000 },
  ],
}

export function codecOf(codec: AnyCodec): VideoCodec {
  return codec === 'h.264' ? 'h264' : codec
}

/** To a multiple of 50; exactly half way goes down (1920x1080 h.264 vbr: 1725 → 1700), since a floor should not overreach. */
function roundTo50(kbps: number): number {
  return Math.ceil(kbps / 50 - 0.5) * 50
}

/**
 * Specification 8, video_bitrate: the minimum in kbps for a picture of width × height pixels.
 * A dimension of 0 (the source's) leaves the floor; ask again after the probe.
 */
export function minimumBitrateKbps(codec: AnyCodec, width: number, height: number, mode: AnyMode): number {
  if (!(width > 0) || !(height > 0)) return FLOOR_KBPS
  const scale = ((width * height) / REFERENCE.pixels) ** SIZE_EXPONENT
  return Math.max(FLOOR_KBPS, roundTo50(REFERENCE.kbps * scale * CODEC_FACTOR[codecOf(codec)] * MODE_FACTOR[mode]))
}

/** The maximum in kbps. A dimension of 0 or a size beyond every level gives the codec's highest; `fitsCodec` tells the latter. */
export function maximumBitrateKbps(codec: AnyCodec, width: number, height: number): number {
  const levels = LEVELS[codecOf(codec)]
  const level = width > 0 && height > 0 ? levels.find((each) => fits(each, width, height)) : undefined
  return (level ?? levels.at(-1)!).kbps
}

/** Whether any level of the codec allows the size. A dimension of 0 is judged as small as it can be. */
export function fitsCodec(codec: AnyCodec, width: number, height: number): boolean {
  return LEVELS[codecOf(codec)].some((level) => fits(level, width, height))
}

function fits(level: Level, width: number, height: number): boolean {
  return (
    width * height <= level.pixels &&
    width <= (level.width ?? Number.POSITIVE_INFINITY) &&
    height <= (level.height ?? Number.POSITIVE_INFINITY)
  )
}

/** The codec's largest picture, for a message. */
export function largestSize(codec: AnyCodec): string {
  const { pixels, width, height } = LEVELS[codecOf(codec)].at(-1)!
  return width === undefined || height === undefined ? `${pixels} pixels, like 7680x4320` : `${width}x${height}`
}

/** Like the sentence of tooLowMessage. */
export function tooHighMessage(maximum: number): string {
  return `bitrate for this profile and codec should be at most ${maximum}`
}

/** The sentence that specification 7.1 shows. */
export function tooLowMessage(minimum: number): string {
  return `bitrate for this profile and codec should be at least ${minimum}`
}

/** Width and height as they will be coded: 4:2:0 needs even numbers. */
export function toEven(pixels: number): number {
  return pixels - (pixels % 2)
}
