// In charge of: how low and how high a video bitrate may be, by codec, size and mode.
// Not in charge of: where the size comes from (the request, or the probe when the request says 0).
import { codecOf, VIDEO_CODECS, videoRules, type Level, type VideoCodec, type WireVideoCodec } from '../../codecs.ts'

type AnyCodec = VideoCodec | WireVideoCodec
type AnyMode = 'cbr' | 'vbr' | 'qvbr'

/** No video profile may ask for less than this, whatever its size; all that is known to hold when a dimension is 0. */
export const FLOOR_KBPS = 100

/** Specification 8: 2300 kbps for 1920x1080, h.264, cbr. Everything else is scaled from this one point. */
const REFERENCE_BITRATE = { kbps: 2300, pixels: 1920 * 1080 }
/** Larger pictures need less per pixel. */
const SIZE_EXPONENT = 0.75
/** qvbr is capped by video_bitrate just as vbr is steered by it, so it shares vbr's factor. */
const MODE_FACTOR = { cbr: 1, vbr: 0.75, qvbr: 0.75 } as const

function rulesOf(codec: AnyCodec) {
  return videoRules(VIDEO_CODECS.find((known) => known === codec) ?? codecOf(codec as WireVideoCodec))
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
  const scale = ((width * height) / REFERENCE_BITRATE.pixels) ** SIZE_EXPONENT
  return Math.max(
    FLOOR_KBPS,
    roundTo50(REFERENCE_BITRATE.kbps * scale * rulesOf(codec).bitrateFactor * MODE_FACTOR[mode]),
  )
}

/** The maximum in kbps. A dimension of 0 or a size beyond every level gives the codec's highest; `fitsCodec` tells the latter. */
export function maximumBitrateKbps(codec: AnyCodec, width: number, height: number): number {
  const levels = rulesOf(codec).levels
  const level = width > 0 && height > 0 ? levels.find((each) => fits(each, width, height)) : undefined
  return (level ?? levels.at(-1)!).kbps
}

/** Whether any level of the codec allows the size. A dimension of 0 is judged as small as it can be. */
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

/** The codec's largest picture, for a message. */
export function largestSizeText(codec: AnyCodec): string {
  const { pixels, width, height } = rulesOf(codec).levels.at(-1)!
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
