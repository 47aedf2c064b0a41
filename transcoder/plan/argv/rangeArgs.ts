// In charge of: the arguments of a range of the video: where ffmpeg starts to read, and the filters that give exactly the frames that
// one run over the whole source would give at these numbers.
// Not in charge of: where it begins, start_seconds and end_seconds (cutArgs.ts).
//
// ffmpeg's clock is the clock of a run over the whole source. So each choice between two frames, each time of a caption and of
// an image is the same in every range; only the encoder counts from 0.
import { toNumber, type Rational } from '../../formats/rational.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import { rangeFrames, type FrameRange } from '../model/encodedRange.ts'
import type { Plan, StampedSeek } from '#contract/task/plan/plan.ts'

/** Decoders and filters that look at their neighbours have settled after this time. */
const RUN_IN_SECONDS = 2
const MICRO = 1e6
/** `overlay` may lose its last frame where another filter ended its input. */
const SPARE_FRAMES = 4

/** How ffmpeg's clock follows from the clock of the file, without a range. */
export interface WholeReading {
  /** -ss; null = from the beginning. */
  skippedSeconds: number | null
  /** -itsoffset. */
  offsetSeconds: number
  cut: CutPlan | null
  /** As in EncodedRange. */
  runInSeconds?: number | undefined
}

/** On ffmpeg's clock: the frame that is shown then must be decoded exactly, and all after it. */
function runIn({ first }: FrameRange, rate: Rational, cut: CutPlan | null, exact?: number): number {
  const begin = (first * rate.den) / rate.num + (cut?.frames == null ? 0 : startOf(cut.frames))
  return exact === undefined ? Math.floor(begin - RUN_IN_SECONDS) : Math.round((begin - exact) * MICRO) / MICRO
}

/** Options of the input; null = the range is near the beginning: as without it. */
export function rangeSeek(
  range: FrameRange,
  rate: Rational,
  { skippedSeconds, offsetSeconds, cut, runInSeconds }: WholeReading,
): string[] | null {
  const clock = runIn(range, rate, cut, runInSeconds)
  if (clock <= 0) return null
  // In whole microseconds, as ffmpeg adds them: every frame has exactly the time that it has in a run over all.
  const place = clock - Math.round(offsetSeconds * MICRO) / MICRO + Math.round((skippedSeconds ?? 0) * MICRO) / MICRO
  return ['-noaccurate_seek', '-ss', place.toFixed(6), '-itsoffset', `${clock}`]
}

/**
 * The same of a source without an index, by its time stamps. -copyts: versions of ffmpeg count differently from the place
 * that was sought in a transport stream, unless they keep the time stamps.
 */
export function stampedSeek({ fromSeconds, originSeconds }: StampedSeek): string[] {
  const seek = ['-copyts', '-seek_timestamp', '1', '-noaccurate_seek', '-ss', fromSeconds.toFixed(6)]
  return [...seek, '-itsoffset', (-originSeconds).toFixed(6)]
}

/**
 * Seconds on ffmpeg's clock up to which a plan's range may begin to decode; null = it is decoded from the beginning. `cut`: as the run reads it.
 */
export function rangeRunIn(plan: PlanOfRange, cut: CutPlan | null): number | null {
  const video = plan.packaging?.renditions.find(({ kind }) => kind === 'video')?.video ?? null
  const range = video === null ? null : rangeFrames(plan, video.frameRate)
  if (video === null || range === null) return null
  const clock = runIn(range, video.frameRate, cut)
  return clock <= 0 ? null : clock
}

type PlanOfRange = Partial<Pick<Plan, 'range' | 'packaging'>>

function startOf({ rate, start }: NonNullable<CutPlan['frames']>): number {
  return (start * rate.den) / rate.num
}

/**
 * The frames at `rate` from number `first` on. `fps` makes them, with the same times as in a run over the whole source. Where
 * the video begins after frame `first`, `fps` repeats its first frame. Elsewhere it repeats none before the frames that are
 * used: after a repeated frame, it moves captions to other frames (ffmpeg 7).
 */
function framesFrom(rate: Rational, first: number, end: number | null, atEnd: string): string[] {
  const toRate = `fps=${rate.num}/${rate.den}${atEnd}`
  const until = end === null ? [] : [`trim=end_frame=${end - first}`]
  if (first === 0) return [`${toRate}:start_time=0`, ...until]
  // After `fps`, the time of a frame is its number.
  return [
    toRate,
    `trim=start_pts=${first}`,
    `${toRate}:start_time=${((first * rate.den) / rate.num).toFixed(6)}`,
    ...until,
  ]
}

/** The frames of this plan's range and `more` after it, up to the end of a cut; null = it has no range. */
export function rangeInCut(
  plan: Pick<Plan, 'cut'> & Partial<Pick<Plan, 'range' | 'packaging'>>,
  rate: Rational,
  more = 0,
): FrameRange | null {
  const own = rangeFrames(plan, rate)
  const range = own === null || own.end === null ? own : { ...own, end: own.end + more }
  const cut = plan.cut?.frames
  if (range === null || cut == null || cut.end === null) return range
  const frames = Math.ceil(((cut.end - cut.start) * rate.num * cut.rate.den) / (rate.den * cut.rate.num) - 1e-9)
  return { ...range, end: range.end === null ? frames : Math.min(range.end, frames) }
}

/** As videoCutFilters (cutArgs.ts). `range`: at `outputRate`; `atEnd`: more options of `fps`. */
export function rangeFilters(
  { first, end }: FrameRange,
  cut: CutPlan | null | undefined,
  perFrame: number,
  outputRate: Rational,
  atEnd: string,
): string[] {
  if (cut?.frames == null) return framesFrom(outputRate, first, withSpare(end), atEnd)
  const { rate, start } = cut.frames
  const sourceRate = { num: rate.num * perFrame, den: rate.den }
  // One second more than needed: the frame that is shown when the range begins.
  const before = Math.max(0, Math.floor((toNumber(sourceRate) * first) / toNumber(outputRate) - toNumber(sourceRate)))
  return [
    ...framesFrom(sourceRate, start * perFrame + before, null, atEnd),
    // In units of one frame, as the filter above leaves them.
    `setpts=PTS-${start * perFrame}`,
    ...framesFrom(outputRate, first, withSpare(end), atEnd),
  ]
}

/** `encoderClock` ends the range exactly. */
function withSpare(end: number | null): number | null {
  return end === null ? null : end + SPARE_FRAMES
}

/**
 * Last, after every filter that reads the time: the encoder counts from 0. `overlaid`: the filter before it is `overlay`.
 */
export function encoderClock(range: FrameRange | null, { num, den }: Rational, overlaid: boolean): string[] {
  if (range === null) return []
  const { first, end } = range
  return [
    // overlay does not say when its last frame ends, and fps would drop it: now it drops the copy.
    ...(overlaid ? ['tpad=stop=1:stop_mode=clone'] : []),
    'setpts=PTS-STARTPTS',
    // setpts forgets the frame rate (ffmpeg 7), which the encoder would then guess.
    `fps=${num}/${den}:start_time=0`,
    ...(end === null ? [] : [`trim=end_frame=${end - first}`]),
  ]
}
