// In charge of: start_seconds and end_seconds as places in a source: on the grid of its frames, timecodes converted.
// Not in charge of: the source with the cut (cut.ts).
import type { CutTime } from '#contract/job/cutTime.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import { toNumber, type Rational } from '../../formats/rational.ts'
import type { AudioStream, MediaInfo, SourceCut, VideoStream } from '../model/mediaInfo.ts'
import { sourceRate } from '../video/frameRate.ts'
import type { Timeline } from '../planContext.ts'
import { outputDuration, usedAudioStreams } from './outputTiming.ts'

/** The frame rates for which drop-frame timecodes exist (SMPTE ST 12-1), and the numbers dropped in a minute. */
const DROPPED_NUMBERS: readonly { rate: Rational; dropped: number }[] = [
  { rate: { num: 30_000, den: 1001 }, dropped: 2 },
  { rate: { num: 60_000, den: 1001 }, dropped: 4 },
]

/** A stretch of the source, as SourceCut has it. */
export type WantedPart = Pick<SourceCut, 'startSeconds' | 'endSeconds' | 'endsAfterSource'>

/** `media`: without a cut, with its timeline. null = all of the source. Throws cut_outside_source, or unsupported_combination for a timecode. */
export function requestedPart(
  spec: JobSpec,
  media: MediaInfo,
  { startSeconds: begin, rate: decided }: Pick<Timeline, 'startSeconds' | 'rate'>,
): WantedPart | null {
  if (spec.cut === null) return null
  const rate = decided?.value ?? null
  const timecodes = rate ?? (media.unusedVideo === undefined ? null : sourceRate(spec, media.unusedVideo).value)
  const place = (time: CutTime, field: string): number => {
    const wanted = time.kind === 'seconds' ? time.seconds : timecodeSeconds(time, timecodes, field)
    // On the grid of the source's frames; audio alone is cut between any two samples.
    return rate === null ? wanted : (Math.round(wanted * toNumber(rate)) * rate.den) / rate.num
  }
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
  return { startSeconds, endSeconds: isBeyond ? null : end, endsAfterSource: isBeyond }
}

/** The streams that limit a cut. */
function measuredStreams(spec: JobSpec, { video, unusedVideo, audio }: MediaInfo): (VideoStream | AudioStream)[] {
  if (video !== null) return [video]
  if (unusedVideo === undefined) return []
  const used = usedAudioStreams(spec)
  return audio.filter(({ number }) => used.includes(number))
}

export function timecodeSeconds(
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
