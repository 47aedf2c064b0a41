// In charge of: start_seconds and end_seconds: the part of a source that a job uses, exact to the frame, and the source as
// it looks to every later decision: it begins and ends with that part.
// Not in charge of: the arguments (argv/cutArgs.ts), the cues of the part (formats/scte35/cutCues.ts).
import type { CutTime } from '#contract/job/cutTime.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import { toNumber, type Rational } from '../../formats/rational.ts'
import type { AudioStream, MediaInfo, SourceCut, VideoStream } from '../model/mediaInfo.ts'
import type { CutPlan } from '../model/plan.ts'
import type { PlanContext } from '../planContext.ts'
import { sourceRate } from '../video/frameRate.ts'
import { fileStart, outputDuration, outputStartSeconds, usedAudioStreams } from './outputTiming.ts'

/** Containers with an index of their frames: ffmpeg finds the key frame before a time exactly. */
const INDEXED = new Set(['mov', 'mp4', 'matroska', 'webm'])
/** The frame rates for which drop-frame timecodes exist (SMPTE ST 12-1), and the numbers dropped in a minute. */
const DROPPED_NUMBERS: readonly { rate: Rational; dropped: number }[] = [
  { rate: { num: 30_000, den: 1001 }, dropped: 2 },
  { rate: { num: 60_000, den: 1001 }, dropped: 4 },
]

/** The source as the job uses it. Throws cut_outside_source, or unsupported_combination for a timecode. */
export function cutSource(spec: JobSpec, media: MediaInfo): MediaInfo {
  if (spec.cut === null || media.cut !== undefined) return media
  const rate = media.video === null ? null : sourceRate(spec, media.video).value
  const timecodes = rate ?? (media.unusedVideo === undefined ? null : sourceRate(spec, media.unusedVideo).value)
  const place = (time: CutTime, field: string): number => {
    const wanted = time.kind === 'seconds' ? time.seconds : timecodeSeconds(time, timecodes, field)
    // On the grid of the source's frames; audio alone is cut between any two samples.
    return rate === null ? wanted : (Math.round(wanted * toNumber(rate)) * rate.den) / rate.num
  }
  const begin = outputStartSeconds(spec, media)
  const length = outputDuration(media, measuredStreams(spec, media), begin)
  const frameSeconds = rate === null ? 0 : rate.den / rate.num
  const startSeconds = place(spec.cut.start, 'start_seconds')
  const end = spec.cut.end === null ? null : place(spec.cut.end, 'end_seconds')
  if (length !== null && startSeconds > length - frameSeconds / 2)
    throw new TaskError(
      'cut_outside_source',
      `start_seconds is ${shown(startSeconds)} s, but the source lasts only ${shown(length)} s.`,
      { field: 'start_seconds', details: { start_seconds: startSeconds, source_seconds: length } },
    )
  if (end !== null && end <= startSeconds)
    throw new TaskError(
      'cut_outside_source',
      'Between start_seconds and end_seconds there is no frame of the source.',
      {
        field: 'end_seconds',
        details: { start_seconds: startSeconds, end_seconds: end },
      },
    )
  const isBeyond = end !== null && length !== null && end > length + frameSeconds / 2
  return applyCut(spec, media, { startSeconds, endSeconds: isBeyond ? null : end, endsAfterSource: isBeyond })
}

/** The source as an earlier attempt planned it. */
export function applyCut(
  spec: JobSpec,
  media: MediaInfo,
  cut: Pick<SourceCut, 'startSeconds' | 'endSeconds' | 'endsAfterSource'> | null,
): MediaInfo {
  if (cut === null) return media
  const base = outputStartSeconds(spec, media)
  const begin = base + cut.startSeconds
  const end = cut.endSeconds === null ? Number.POSITIVE_INFINITY : base + cut.endSeconds
  const within = (start: number, seconds: number | null): { startSeconds: number; durationSeconds: number | null } => ({
    startSeconds: Math.max(start, begin),
    durationSeconds: seconds === null ? null : Math.max(0, Math.min(start + seconds, end) - Math.max(start, begin)),
  })
  const ofStream = <S extends VideoStream | AudioStream>(stream: S): S => ({
    ...stream,
    ...within(stream.startSeconds ?? media.startSeconds ?? 0, stream.durationSeconds),
  })
  return {
    ...media,
    ...(media.outputStart === undefined ? {} : { outputStart: begin }),
    ...within(media.startSeconds ?? 0, media.durationSeconds),
    program: media.program === null ? null : { ...media.program, fileStartSeconds: begin },
    video: media.video === null ? null : ofStream(media.video),
    audio: media.audio.map(ofStream),
    cut: {
      ...cut,
      whole: media,
      seekOriginSeconds: media.formats.some((format) => INDEXED.has(format)) ? base - (fileStart(media) ?? 0) : null,
    },
  }
}

/** `rate`: of the frames after detelecining, which are those that are counted; null = the source has no video. */
export function planCut(context: PlanContext, rate: Rational | null): CutPlan | null {
  const { cut } = context.media
  if (cut === undefined) return null
  const { startSeconds, endSeconds, endsAfterSource, seekOriginSeconds } = cut
  if (endsAfterSource)
    context.warn({
      code: 'end_after_source',
      field: 'end_seconds',
      message: 'end_seconds is after the end of the source: the outputs end with the source.',
    })
  const frame = (seconds: number, { num, den }: Rational) => Math.round((seconds * num) / den)
  const frames =
    rate === null
      ? null
      : { rate, start: frame(startSeconds, rate), end: endSeconds === null ? null : frame(endSeconds, rate) }
  return { startSeconds, endSeconds, frames, seekOriginSeconds }
}

/** The streams that limit a cut. */
function measuredStreams(spec: JobSpec, { video, unusedVideo, audio }: MediaInfo): (VideoStream | AudioStream)[] {
  if (video !== null) return [video]
  if (unusedVideo === undefined) return []
  const used = usedAudioStreams(spec)
  return audio.filter(({ number }) => used.includes(number))
}

function timecodeSeconds(
  { seconds, frame, dropFrame }: Extract<CutTime, { kind: 'timecode' }>,
  rate: Rational | null,
  field: string,
): number {
  const refuse = (why: string): TaskError =>
    new TaskError('unsupported_combination', `${field} is a timecode, but ${why}`, { field })
  if (rate === null) throw refuse('the source has no video; give it in seconds.')
  const nominal = Math.round(toNumber(rate))
  if (frame >= nominal) throw refuse(`a second of the source has the frames 0 to ${nominal - 1} only.`)
  if (!dropFrame) return ((seconds * nominal + frame) * rate.den) / rate.num
  const counted = DROPPED_NUMBERS.find((each) => each.rate.num * rate.den === rate.num * each.rate.den)
  if (counted === undefined)
    throw refuse('drop-frame timecodes (with ";") exist at 29.97 and 59.94 frames per second only.')
  const minutes = Math.floor(seconds / 60)
  if (seconds % 60 === 0 && minutes % 10 !== 0 && frame < counted.dropped)
    throw refuse(`drop-frame counting leaves out frame ${frame} at the beginning of this minute.`)
  const dropped = counted.dropped * (minutes - Math.floor(minutes / 10))
  return ((seconds * nominal + frame - dropped) * rate.den) / rate.num
}

function shown(seconds: number): string {
  return String(Number(seconds.toFixed(3)))
}
