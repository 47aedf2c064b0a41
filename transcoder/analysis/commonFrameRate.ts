// In charge of: the frame rate that the packets of a source have, where its container does not count frames or its rate
// varies.
// Not in charge of: the frame rate of an output (plan/video/frameRate.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { FfprobeError, runFfprobe, type FfmpegPrograms } from '../ffmpeg/run.ts'
import type { VideoStream } from '../plan/model/mediaInfo.ts'
import { standardRate } from '../plan/video/frameRate.ts'
import type { Rational } from '../formats/rational.ts'
import { distance, ratio, toNumber } from '../formats/rational.ts'

/** Enough to distinguish a rate from its exceptions, and quickly read. */
const PACKETS = 500
/** Relative tolerance: intervals of one rate vary with the rounding of the container and the jitter of the camera. */
const SAME_INTERVAL = 0.05
/** Pulldown alternates between two intervals: a rate counts only if most frames have it. */
const MIN_SHARE = 2 / 3
/** The same rate, measured and stated. */
const SAME_RATE = 0.01
/** Half of the distance between a rate of NTSC and a whole one. */
const NTSC = 0.0005
/** Share of frames that may be lost at the rate of the average. */
const MAX_LOST = 0.02
/** Neighbouring intervals of a camera or a browser compensate each other. */
const SMOOTHED = 4
/** The busiest part of a recording: this share of it. */
const BUSIEST = 0.1
const TIMEOUT_MS = 60_000

type Rates = Pick<VideoStream, 'frameRate' | 'variableFrameRate' | 'commonFrameRate'>

/** {} if its packets say nothing about it. Throws only if the signal aborts. */
export async function readFrameRates(
  engine: FfmpegPrograms,
  url: string,
  video: VideoStream,
  options: { signal?: AbortSignal; cwd: string },
): Promise<Partial<Rates>> {
  const args = [
    ...inputFlags(url),
    ...['-hide_banner', '-v', 'error', '-of', 'csv=p=0', '-select_streams', `${video.index}`],
    ...['-read_intervals', `%+#${PACKETS}`, '-show_entries', 'packet=pts_time', '-i', url],
  ]
  try {
    const text = await runFfprobe(engine, args, { ...options, purpose: 'read frame intervals', timeoutMs: TIMEOUT_MS })
    return ratesOf(text.split('\n').map(Number.parseFloat).filter(Number.isFinite), video)
  } catch (error) {
    options.signal?.throwIfAborted()
    if (error instanceof FfprobeError) return {}
    throw error
  }
}

/** `times`: presentation times in seconds, in any order. {} = the packets do not contradict what was stated. */
export function ratesOf(
  times: readonly number[],
  { frameRate, variableFrameRate, rateEvidence }: Pick<VideoStream, 'frameRate' | 'variableFrameRate' | 'rateEvidence'>,
): Partial<Rates> {
  const sorted = [...new Set(times)].toSorted((a, b) => a - b)
  if (sorted.length < 2) return {}
  const isStated = rateEvidence === undefined || (rateEvidence === 'header' && !variableFrameRate)
  const stated = isStated ? frameRate : null
  const average = stated ?? exactRate((sorted.length - 1) / (sorted.at(-1)! - sorted[0]!))
  const common = commonFrameRate(sorted, average)
  // Below the rate of a header, frames are missing; no frame is lost by that.
  if (rateEvidence === 'header' && isStated && (common === null || isBelow(common, average))) return {}
  if (common === null || distance(common, average) > SAME_RATE)
    return { frameRate: average, variableFrameRate: true, commonFrameRate: common }
  return { frameRate: stated ?? common, variableFrameRate: false, commonFrameRate: null }
}

function isBelow(rate: Rational, other: Rational): boolean {
  return toNumber(rate) <= toNumber(other) * (1 + SAME_RATE)
}

/**
 * `sorted`: presentation times in seconds. null if most frames do not share a rate, and none is lost at the standard
 * rate of the average.
 */
export function commonFrameRate(sorted: readonly number[], average: Rational): Rational | null {
  const inOrder = sorted.slice(1).map((time, index) => time - sorted[index]!)
  const intervals = inOrder.toSorted((a, b) => a - b)
  let best: number[] = []
  let end = 0
  for (const [begin, shortest] of intervals.entries()) {
    while (end < intervals.length && intervals[end]! <= shortest * (1 + 2 * SAME_INTERVAL)) end += 1
    if (end - begin > best.length) best = intervals.slice(begin, end)
  }
  if (best.length === 0) return null
  if (best.length >= intervals.length * MIN_SHARE) return exactRate(1 / mean(best))
  if (keepsFrames(sorted, standardRate(average))) return null
  const smoothed = inOrder.slice(SMOOTHED - 1).map((_, index) => mean(inOrder.slice(index, index + SMOOTHED)))
  const busiest = smoothed.toSorted((a, b) => a - b)[Math.floor(smoothed.length * BUSIEST)]
  if (busiest === undefined || 1 / busiest <= toNumber(average)) return null
  return exactRate(1 / busiest)
}

/** Whether a constant rate has a frame for (almost) each of these. */
function keepsFrames(sorted: readonly number[], rate: Rational): boolean {
  const places = new Set(sorted.map((time) => Math.round((time - sorted[0]!) * toNumber(rate))))
  return places.size >= sorted.length * (1 - MAX_LOST)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The rate that was meant, of whole frames or one of NTSC's: clocks of phones and browsers vary, and stamps are rounded. */
function exactRate(rate: number): Rational {
  const whole = Math.round(rate)
  const ntsc = whole * (1000 / 1001)
  if (Math.abs(rate / ntsc - 1) <= NTSC && Math.abs(rate - ntsc) < Math.abs(rate - whole))
    return ratio(whole * 1000, 1001)
  return Math.abs(rate / whole - 1) <= SAME_RATE ? ratio(whole, 1) : ratio(Math.max(1, Math.round(1000 * rate)), 1000)
}
