// In charge of: the minimum and maximum video bitrate, by codec, size and mode.
// Not in charge of: the size (from the request, or from the probe if the request says 0).
import { codecOf, VIDEO_CODECS, videoRules, type Level, type VideoCodec, type WireVideoCodec } from '../../codecs.ts'

type AnyCodec = VideoCodec | WireVideoCodec
type AnyMode = 'cbr' | 'vbr' | 'qvbr'

/** The minimum of every video profile. It is the only known minimum if a dimension is 0. */
export const FLOOR_KBPS = 100

/** Specification 8: 2300 kbps for 1920x1080, h.264, cbr. All other minimums are scaled from this point. */
const REFERENCE_BITRATE = { kbps: 2300, width: 1920, height: 1080 }
/** Larger frames need fewer bits per pixel. */
const SIZE_EXPONENT = 0.75
/** video_bitrate limits qvbr in the same way as it steers vbr, so both have the same factor. */
const MODE_FACTOR = { cbr: 1, vbr: 0.75, qvbr: 0.75 } as const

function rulesOf(codec: AnyCodec) {
  return videoRules(VIDEO_CODECS.find((known) => known === codec) ?? codecOf(codec as WireVideoCodec))
}

/**
 * Rounds to a multiple of 50. Exactly half rounds down (1920x1080 h.264 vbr: 1725 → 1700), since a minimum should not
 * be too high.
 */
function roundTo50(kbps: number): number {
  return Math.ceil(kbps / 50 - 0.5) * 50
}

/**
 * Specification 8, video_bitrate: the minimum in kbps for a frame of width × height pixels. If a dimension is 0 (same
 * as the source), it is FLOOR_KBPS; call again after the probe.
 */
export function minimumBitrateKbps(codec: AnyCodec, width: number, height: number, mode: AnyMode): number {
  if (!(width > 0) || !(height > 0)) return FLOOR_KBPS
  const reference = scaledBitrateKbps(REFERENCE_BITRATE.kbps, REFERENCE_BITRATE, { width, height })
  return Math.max(FLOOR_KBPS, roundTo50(reference * rulesOf(codec).bitrateFactor * MODE_FACTOR[mode]))
}

/** The same quality at another size. */
export function scaledBitrateKbps(
  kbps: number,
  from: { width: number; height: number },
  to: { width: number; height: number },
): number {
  return kbps * ((to.width * to.height) / (from.width * from.height)) ** SIZE_EXPONENT
}

/**
 * The maximum in kbps. For a dimension of 0, or a size beyond every level, it is the codec's highest; `fitsCodec`
 * detects the latter.
 */
export function maximumBitrateKbps(codec: AnyCodec, width: number, height: number): number {
  const levels = rulesOf(codec).levels
  const level = width > 0 && height > 0 ? levels.find((each) => fits(each, width, height)) : undefined
  return (level ?? levels.at(-1)!).kbps
}

/** Whether any level of the codec allows the size. A dimension of 0 counts as the smallest possible. */
export function fitsCodec(codec: AnyCodec, width: number, height: number): boolean {
  return rulesOf(codec).levels.some((level) => fits(level, width, height))
}

function fits(level: Level, width: number, height: number): boolean {
  return (
    width * height <= level.pixels &&
    width <= (level.width ?? Number.POSITIVE_INFINITY) &&
    height <= (level.height ?? Number.POSITIVE_INFINITY)
  )
}

/** The codec's largest frame size, for a message. */
export function largestSizeText(codec: AnyCodec): string {
  const { pixels, width, height } = rulesOf(codec).levels.at(-1)!
  return width === undefined || height === undefined ? `${pixels} pixels, like 7680x4320` : `${width}x${height}`
}

/** Same form as tooLowMessage. */
export function tooHighMessage(maximum: number): string {
  return `bitrate for this profile and codec should be at most ${maximum}`
}

/** The sentence in specification 7.1. */
export function tooLowMessage(minimum: number): string {
  return `bitrate for this profile and codec should be at least ${minimum}`
}

/** Rounds down to an even number: 4:2:0 requires even width and height. */
export function toEven(pixels: number): number {
  return pixels - (pixels % 2)
}
