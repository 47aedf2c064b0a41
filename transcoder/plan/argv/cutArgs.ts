// In charge of: the arguments that decode only a part of the source: where ffmpeg starts to read, and the filters that cut
// exactly.
// Not in charge of: where the part begins and ends (streams/cut.ts).
import { rangeSeek, stampedSeek } from './rangeArgs.ts'
import { rangeFrames } from '../model/encodedRange.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import { toNumber, type Rational } from '../../formats/rational.ts'

/** Decoders and filters that look at their neighbours have settled after this time. */
const RUN_IN_SECONDS = 2
/** The memory of a caption decoder: a caption may have been loaded long before it is shown. */
const CAPTION_RUN_IN_SECONDS = 20
/** In steps of 100 frames the start is a whole number of audio samples at every usual rate. */
const STEP_FRAMES = 100
/** Streams that are copied end a little later than those that filters cut. */
const COPY_TAIL_SECONDS = 1

/** How a cut is read: `cut` counts from the place at which ffmpeg's clock is 0. */
export interface CutReading {
  /** Options of the input; null = decode from the beginning. */
  seek: readonly string[] | null
  cut: CutPlan | null
}

type CutReader = Pick<Plan, 'cut'> &
  Partial<Pick<Plan, 'packaging' | 'videoOffsetSeconds' | 'range'>> & { hasCaptions?: boolean }

/** `seekable`: the source can be read at any position. */
export function readCut(plan: CutReader, seekable: boolean): CutReading {
  const { skippedSeconds, offsetSeconds, cut } = moveClock(plan, readPart(plan, seekable))
  const video = plan.packaging?.renditions.find(({ kind }) => kind === 'video')?.video ?? null
  const range = video === null ? null : rangeFrames(plan, video.frameRate)
  const sought = plan.range?.seek
  const ofRange =
    range === null || video === null || !seekable || sought === null
      ? null
      : sought !== undefined
        ? stampedSeek(sought)
        : rangeSeek(range, video.frameRate, {
            skippedSeconds,
            offsetSeconds: offsetSeconds ?? (skippedSeconds === null ? -(plan.videoOffsetSeconds ?? 0) : 0),
            cut,
            runInSeconds: plan.range?.runInSeconds,
          })
  const seek = [
    // Accurate seeking would drop a frame that begins before that time and is shown at it.
    ...(skippedSeconds === null ? [] : ['-noaccurate_seek', '-ss', skippedSeconds.toFixed(6)]),
    ...(offsetSeconds === null ? [] : ['-itsoffset', offsetSeconds.toFixed(6)]),
  ]
  return { seek: ofRange ?? (seek.length === 0 ? null : seek), cut }
}

interface StretchReading {
  /** Place in the source; null = the beginning. */
  skippedSeconds: number | null
  cut: CutPlan | null
}

function moveClock(plan: CutReader, reading: StretchReading): StretchReading & { offsetSeconds: number | null } {
  if (reading.cut?.movesClock !== true) return { ...reading, offsetSeconds: null }
  const { startSeconds, endSeconds, frames } = reading.cut
  const offset = startSeconds + (reading.skippedSeconds === null ? (plan.videoOffsetSeconds ?? 0) : 0)
  return {
    skippedSeconds: reading.skippedSeconds,
    offsetSeconds: -offset,
    cut: {
      ...reading.cut,
      startSeconds: 0,
      endSeconds: endSeconds === null ? null : endSeconds - startSeconds,
      frames:
        frames === null ? null : { ...frames, start: 0, end: frames.end === null ? null : frames.end - frames.start },
    },
  }
}

function readPart(plan: CutReader, seekable: boolean): StretchReading {
  const { cut } = plan
  if (cut === null || !seekable || cut.seekOriginSeconds === null) return { skippedSeconds: null, cut }
  const { frames, startSeconds } = cut
  const hasCaptions = plan.hasCaptions ?? plan.packaging?.textTracks === true
  const runIn = hasCaptions ? CAPTION_RUN_IN_SECONDS : RUN_IN_SECONDS
  const skipped =
    frames === null
      ? Math.floor(startSeconds - runIn)
      : Math.floor((frames.start - runIn * toNumber(frames.rate)) / STEP_FRAMES) * STEP_FRAMES
  if (skipped <= 0) return { skippedSeconds: null, cut }
  const seconds = frames === null ? skipped : (skipped * frames.rate.den) / frames.rate.num
  return {
    skippedSeconds: cut.seekOriginSeconds + seconds,
    cut: {
      ...cut,
      startSeconds: startSeconds - seconds,
      endSeconds: cut.endSeconds === null ? null : cut.endSeconds - seconds,
      frames:
        frames === null
          ? null
          : { ...frames, start: frames.start - skipped, end: frames.end === null ? null : frames.end - skipped },
    },
  }
}

/**
 * Frames at the output's rate, from 0: a first frame that begins late is held. A part begins at a frame number of the source,
 * and ends at a frame number of the output. `perFrame`: frames that the deinterlacer makes of each; `atEnd`: more options of
 * `fps`.
 */
export function videoCutFilters(cut: CutPlan | null, perFrame: number, outputRate: Rational, atEnd: string): string[] {
  const toRate = `fps=${outputRate.num}/${outputRate.den}:start_time=0${atEnd}`
  if (cut?.frames == null) return [toRate]
  const { rate, start, end } = cut.frames
  const frames =
    end === null ? null : Math.ceil(((end - start) * outputRate.num * rate.den) / (outputRate.den * rate.num) - 1e-9)
  return [
    `fps=${rate.num * perFrame}/${rate.den}:start_time=0${atEnd}`,
    `trim=start_frame=${start * perFrame}`,
    'setpts=PTS-STARTPTS',
    toRate,
    // Last: the filter above would repeat its last frame up to the time at which its input is known to have ended.
    ...(frames === null ? [] : [`trim=end_frame=${frames}`]),
  ]
}

/** Samples by number. */
export function audioCutFilters(cut: CutPlan | null, sampleRate: number): string[] {
  if (cut === null) return []
  const sample = (seconds: number) => Math.round(seconds * sampleRate)
  const end = cut.endSeconds === null ? '' : `:end_sample=${sample(cut.endSeconds)}`
  return [`atrim=start_sample=${sample(cut.startSeconds)}${end}`, 'asetpts=PTS-STARTPTS']
}

/** Options of an output that copies a stream of the source. */
export function copyCutArgs(cut: CutPlan | null): string[] {
  return cut?.endSeconds == null ? [] : ['-t', (cut.endSeconds + COPY_TAIL_SECONDS).toFixed(6)]
}
