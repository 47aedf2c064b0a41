// In charge of: ladder "auto": the rungs for a source, their sizes and bitrates.
// Not in charge of: planning a rung (planJob.ts, like any video profile), the names of its files
// (contract/job/paths/outputNames.ts).
import { fitsCodec, maximumBitrateKbps, minimumBitrateKbps } from '#contract/job/rules/videoBitrates.ts'
import { HEIGHT, WIDTH } from '#contract/limits.ts'
import type { VideoCodec } from '#contract/codecs.ts'
import type { JobSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import { videoEncodings } from '../codecs.ts'
import type { VideoStream } from '../model/mediaInfo.ts'
import { toNumber, type Rational } from '../../formats/rational.ts'
import { even } from './evenNumbers.ts'
import { displaySize, type Size } from './displaySize.ts'

/** Lines of a 16:9 frame. Other aspect ratios are fitted into its box. */
export const RUNG_LINES = [2160, 1080, 720, 540, 480, 360, 240] as const
/** A source that is slightly cropped still belongs to its class. The rung then has the source's own size. */
const FILLS = 0.95

/**
 * A source that would be scaled by at most this for its highest class gets a rung of its own size too: 900p is more
 * than 720p.
 */
const BETWEEN = 0.87

/** kbps of h.264 at 1920x1080 and up to 30 frames per second: films and sports have no visible blocks. */
const REFERENCE = { kbps: 4800, pixels: 1920 * 1080, framesPerSecond: 30 }
/**
 * Larger frames need fewer bits per pixel (as in contract/job/rules/videoBitrates.ts). Twice the frame rate needs 50 %
 * more bits.
 */
const SIZE_EXPONENT = 0.75
const RATE_EXPONENT = Math.log2(1.5)

interface Rung {
  lines: number
  /** 0 × 0 = the source's size. */
  size: Size
}

/**
 * The rungs of that source, largest first. None is larger than the source, and there is at least one. `any` is the
 * profile that all of them copy, `rate` that of the timeline.
 */
export function ladderRungs(spec: JobSpec, video: VideoStream, any: VideoProfile, rate: Rational): VideoProfile[] {
  const { frame: source } = displaySize(spec, video)
  const framesPerSecond = toNumber(rate)
  return chooseRungs(spec.videoCodec, source).map(({ lines, size }, index) => ({
    ...any,
    index,
    rung: lines,
    output: spec.packaging === null ? '' : `video_${lines}p`,
    ...size,
    mode: 'vbr',
    bitrateKbps: rungBitrateKbps(spec.videoCodec, size.width === 0 ? source : size, framesPerSecond),
    // A ladder is made for players, whose displays are progressive.
    progressive: true,
  }))
}

function chooseRungs(codec: VideoCodec, source: Size): Rung[] {
  const scaled = RUNG_LINES.map((lines) => ({ lines, scale: scaleTo(lines, source) }))
  const fitting = scaled.filter(({ scale }) => scale * FILLS <= 1)
  // One step between 720 and 360: 480 where the source has no 540.
  const other = fitting.some(({ lines }) => lines === 540) ? 480 : 540
  const rungs: Rung[] = fitting
    .filter(({ lines }) => lines !== other)
    .map(({ lines, scale }) => ({ lines, size: scaledSize(source, Math.min(1, scale)) }))
    .filter(({ size }) => isEncodable(codec, size))
  const nativeRung = sourceSizedRung(source)
  if (nativeRung !== null && isEncodable(codec, nativeRung.size) && (fitting[0]?.scale ?? 1) <= BETWEEN)
    rungs.unshift(nativeRung)
  if (rungs.length > 0) return rungs
  return [{ lines: Math.min(roundDown(source.width), roundDown(source.height)), size: { width: 0, height: 0 } }]
}

/** A rung of the source's size, named by its lines, such as 900p; null where it is above the largest class. */
function sourceSizedRung({ width, height }: Size): Rung | null {
  const lines = even(Math.max((Math.max(width, height) * 9) / 16, Math.min(width, height)))
  return lines > RUNG_LINES[0] ? null : { lines, size: { width: roundDown(width), height: roundDown(height) } }
}

function isEncodable(codec: VideoCodec, { width, height }: Size): boolean {
  return width >= WIDTH.minimum && height >= HEIGHT.minimum && fitsCodec(codec, width, height)
}

/** The factor by which the source is scaled to fill the box of that class. The box is upright for an upright source. */
function scaleTo(lines: number, { width, height }: Size): number {
  return Math.min((lines * 16) / 9 / Math.max(width, height), lines / Math.min(width, height))
}

function scaledSize({ width, height }: Size, scale: number): Size {
  const round = scale === 1 ? roundDown : even
  return { width: round(width * scale), height: round(height * scale) }
}

/** Average kbps for a width and a height in pixels. */
export function rungBitrateKbps(codec: VideoCodec, { width, height }: Size, framesPerSecond: number): number {
  const size = ((width * height) / REFERENCE.pixels) ** SIZE_EXPONENT
  const rate = Math.max(1, framesPerSecond / REFERENCE.framesPerSecond) ** RATE_EXPONENT
  const kbps = 50 * Math.round((REFERENCE.kbps * size * rate * videoEncodings[codec].ladderFactor) / 50)
  return Math.min(
    maximumBitrateKbps(codec, width, height),
    Math.max(minimumBitrateKbps(codec, width, height, 'vbr'), kbps),
  )
}

function roundDown(pixels: number): number {
  return Math.max(2, 2 * Math.floor(pixels / 2 + 1e-6))
}
