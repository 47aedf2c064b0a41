// In charge of: start_seconds and end_seconds: the part of a source that a job uses, exact to the frame, and the source as
// it looks to every later decision: it begins and ends with that part.
// Not in charge of: the arguments (argv/cutArgs.ts), the cues of the part (formats/scte35/cutCues.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { Rational } from '../../formats/rational.ts'
import type { AudioStream, MediaInfo, VideoStream } from '../model/mediaInfo.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import type { PlanContext, Timeline } from '../planContext.ts'
import type { CopiedStretch } from '../copy/copiedStretch.ts'
import { videoVerdict, type VideoVerdict } from '../copy/videoVerdict.ts'
import { planCopiedSubtitles } from './copiedSubtitles.ts'
import { requestedPart, type WantedPart } from './requestedPart.ts'

/** Earlier, the copied video begins with its first frame. */
const SAME_SECONDS = 0.002

/** What a job takes of its source. Made once, from the source without a cut. */
export interface SourceUse {
  /** As the job says; null = all of the source. */
  wanted: WantedPart | null
  /** Whether its video is copied; null = the job asks for no copy. */
  verdict: VideoVerdict | null
  /** The source as every later decision sees it: it begins and ends with the part. */
  media: MediaInfo
}

/**
 * `timeline`: of the source without a cut. Copied video can begin with a key frame only. Throws cut_outside_source, or
 * unsupported_combination for a timecode.
 */
export function cutSource(spec: JobSpec, media: MediaInfo, timeline: Timeline): SourceUse {
  const whole = media.cut?.whole ?? media
  const wanted = requestedPart(spec, whole, timeline)
  const verdict = videoVerdict(spec, whole, wanted, timeline.rate)
  const cut = verdict?.copies === true ? copiedCut(verdict.part, wanted) : wanted
  return { wanted, verdict, media: media === whole ? applyCut(whole, timeline, cut) : media }
}

function copiedCut({ startSeconds, endSeconds }: CopiedStretch, wanted: WantedPart | null): WantedPart | null {
  if (wanted === null && startSeconds < SAME_SECONDS) return null
  return { startSeconds, endSeconds, endsAfterSource: wanted?.endsAfterSource ?? false }
}

/** The source as an earlier attempt planned it. `timeline`: without the cut. */
export function applyCut(
  media: MediaInfo,
  { startSeconds: base, seekOriginSeconds }: Pick<Timeline, 'startSeconds' | 'seekOriginSeconds'>,
  cut: WantedPart | null,
): MediaInfo {
  if (cut === null) return media
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
    cut: { ...cut, whole: media, seekOriginSeconds },
  }
}

/** `rate`: of the frames after detelecining, which are the frames that a cut counts; null = the source has no video. */
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
  // Copied streams have no filter that cuts them.
  return { startSeconds, endSeconds, frames, seekOriginSeconds, movesClock: hasCopies(context.spec, context.media) }
}

function hasCopies(spec: JobSpec, media: MediaInfo): boolean {
  return [...spec.video, ...spec.audio].some(({ copy }) => copy) || planCopiedSubtitles(spec, media).length > 0
}
