// In charge of: the most common interval between two frames of a source with a variable frame rate.
// Not in charge of: the frame rate of an output (plan/video/frameRate.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { FfprobeError, runFfprobe, type FfmpegPrograms } from '../ffmpeg/run.ts'
import type { VideoStream } from '../plan/model/mediaInfo.ts'
import type { Rational } from '../formats/rational.ts'
import { ratio } from '../formats/rational.ts'

/** Enough to distinguish a rate from its exceptions, and quickly read. */
const PACKETS = 500
/** Relative tolerance: intervals of one rate vary with the rounding of the container and the jitter of the camera. */
const SAME_INTERVAL = 0.05
/**
 * Pulldown alternates between two intervals, a screen recording between many: a rate counts only if most frames have
 * it.
 */
const MIN_SHARE = 2 / 3
const TIMEOUT_MS = 60_000

/** null if most frames do not share a rate, or if nothing could be read. Throws only if the signal aborts. */
export async function readCommonFrameRate(
  engine: FfmpegPrograms,
  url: string,
  video: VideoStream,
  options: { signal?: AbortSignal; cwd: string },
): Promise<Rational | null> {
  const args = [
    ...inputFlags(url),
    ...['-hide_banner', '-v', 'error', '-of', 'csv=p=0', '-select_streams', `${video.index}`],
    ...['-read_intervals', `%+#${PACKETS}`, '-show_entries', 'packet=pts_time', '-i', url],
  ]
  try {
    const text = await runFfprobe(engine, args, { ...options, purpose: 'read frame intervals', timeoutMs: TIMEOUT_MS })
    return commonFrameRate(text.split('\n').map(Number.parseFloat).filter(Number.isFinite))
  } catch (error) {
    options.signal?.throwIfAborted()
    if (error instanceof FfprobeError) return null
    throw error
  }
}

/** `times`: presentation times in seconds, in any order. */
export function commonFrameRate(times: readonly number[]): Rational | null {
  const sorted = times.toSorted((a, b) => a - b)
  const intervals = sorted
    .slice(1)
    .map((time, index) => time - sorted[index]!)
    .filter((interval) => interval > 0)
    .toSorted((a, b) => a - b)
  let best: number[] = []
  let end = 0
  for (const [begin, shortest] of intervals.entries()) {
    while (end < intervals.length && intervals[end]! <= shortest * (1 + 2 * SAME_INTERVAL)) end += 1
    if (end - begin > best.length) best = intervals.slice(begin, end)
  }
  if (best.length === 0 || best.length < intervals.length * MIN_SHARE) return null
  const mean = best.reduce((sum, interval) => sum + interval, 0) / best.length
  return ratio(Math.round(1000 / mean), 1000)
}
